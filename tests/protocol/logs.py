"""Logs written by hand: payloads in, stored bytes out."""

from collections.abc import Iterable, Sequence

from runwire.clock import rfc3339
from runwire.protocol import chain
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.gap import Anchor, GapEventsPruned
from runwire.protocol.events.run import RunFinished, RunQueued, RunStarted
from runwire.protocol.events.tool import ToolCompleted, ToolInvoked
from runwire.protocol.events.turn import TurnCompleted, TurnStarted
from runwire.protocol.payload import Opaque, Payload, encode_payload
from runwire.protocol.state import pane, run

RUN_ID = "run_01JXMZH3Q7P1V2D4S5X6J7N8Z9"
START_NS = 1_777_804_425_000_000_000
SECOND_NS = 1_000_000_000

WRITER = EnvelopeWriter(run_id=RUN_ID, task_id="task_01JXMZH2P6N0T1C3R4W5H6M7Y8")


def stored(sequence: int, payload: Payload | Opaque, *, event_id: str | None = None) -> bytes:
    """Return the bytes of one event."""
    return WRITER.write(
        event_id=event_id or f"evt_{sequence:026d}",
        sequence=sequence,
        occurred_at=rfc3339(START_NS + sequence * SECOND_NS),
        event_type=payload.type,
        data=encode_payload(payload),
    )


def log(payloads: Iterable[Payload | Opaque]) -> list[bytes]:
    """Return the bytes of a whole log, numbered from 0."""
    return [stored(sequence, payload) for sequence, payload in enumerate(payloads)]


def head(events: Iterable[bytes]) -> bytes:
    """Return the chain value after the last event of a log without holes."""
    link = chain.GENESIS
    for event in events:
        link = chain.link(link, event)
    return link


def prune(events: Sequence[bytes], gone: set[int]) -> list[bytes]:
    """Remove these sequences and put a marker, with its anchors, in the place of the last one."""
    link, anchors = chain.GENESIS, []
    for sequence, event in enumerate(events):
        link = chain.link(link, event)
        if sequence in gone and sequence + 1 not in gone:
            anchors.append(Anchor(sequence=sequence, hash=chain.show(link)))
    marker = GapEventsPruned(
        first_pruned_sequence=min(gone),
        last_pruned_sequence=max(gone),
        pruned_at=rfc3339(START_NS),
        reason="operator",
        anchors=anchors,
    )
    kept = {sequence: event for sequence, event in enumerate(events) if sequence not in gone}
    kept[max(gone)] = stored(max(gone), marker, event_id=f"evt_marker{max(gone):020d}")
    return [event for _, event in sorted(kept.items())]


def fold_run(payloads: Iterable[Payload | Opaque], state: run.RunState | None = None) -> run.RunState:
    """Fold payloads that happen a second apart into a run's state."""
    state = state or run.RunState()
    for second, payload in enumerate(payloads):
        state = run.fold(state, payload, START_NS + second * SECOND_NS)
    return state


def fold_pane(payloads: Iterable[Payload | Opaque]) -> pane.PaneState:
    """Fold payloads that happen a second apart into a pane."""
    state = pane.PaneState()
    for second, payload in enumerate(payloads):
        state = pane.fold(state, payload, START_NS + second * SECOND_NS)
    return state


QUEUED = RunQueued(
    kind="agent_loop",
    model="claude-sonnet-4-5",
    provider="anthropic",
    workspace_path="/srv/w",
    workspace_mode="clone",
    prior_run_id=None,
)
STARTED = RunStarted(worker_id="worker-3")
FINISHED = RunFinished(turns=1, cost_micros_usd=4_120, duration_ms=9_000)


def turn_started(turn: int = 0) -> TurnStarted:
    """A turn begins."""
    return TurnStarted(turn_index=turn, model="claude-sonnet-4-5", provider="anthropic")


def turn_completed(turn: int = 0, *, stop_reason: str = "end_turn") -> TurnCompleted:
    """A turn ends."""
    return TurnCompleted(
        turn_index=turn,
        input_tokens=4_201,
        output_tokens=312,
        cached_input_tokens=200,
        cost_micros_usd=4_120,
        duration_ms=6_540,
        tool_calls=1,
        stop_reason=stop_reason,
    )


def delta(text: str, *, turn: int = 0, block: int = 0) -> AssistantTextDelta:
    """A piece of text."""
    return AssistantTextDelta(turn_index=turn, block_index=block, delta=text)


def complete(text: str, *, turn: int = 0, block: int = 0) -> AssistantTextComplete:
    """A whole block of text."""
    return AssistantTextComplete(turn_index=turn, block_index=block, text=text)


def invoked(call: str = "call_a") -> ToolInvoked:
    """A tool call begins."""
    return ToolInvoked(tool_call_id=call, tool_name="shell_exec", kind="shell", turn_index=0)


def tool_completed(call: str = "call_a") -> ToolCompleted:
    """A tool call ends well."""
    return ToolCompleted(tool_call_id=call, tool_name="shell_exec", kind="shell", duration_ms=312)


def asked(approval: str = "appr_a") -> ApprovalRequested:
    """A decision is needed."""
    return ApprovalRequested(
        approval_id=approval,
        tool_call_id="call_a",
        kind="shell_exec",
        summary="rm -rf node_modules",
        policy_reason="all_tools",
    )


def approved(approval: str = "appr_a") -> ApprovalResolved:
    """A decision is taken."""
    return ApprovalResolved(approval_id=approval, decision="approved", by="operator")


WHOLE_RUN: list[Payload | Opaque] = [
    QUEUED,
    STARTED,
    turn_started(),
    delta("Hel"),
    delta("lo"),
    complete("Hello"),
    asked(),
    approved(),
    invoked(),
    tool_completed(),
    turn_completed(),
    FINISHED,
]
