"""What an agent is doing, at a glance: the pane that stands for one run, folded from its events.

| event                                              | state                                                  |
|----------------------------------------------------|--------------------------------------------------------|
| run.queued, gap.run_disconnected                   | idle                                                   |
| run.started, turn.started, user.message,           | working (blocked while an approval is pending)         |
| assistant.*, tool.*                                |                                                        |
| approval.requested                                 | blocked                                                |
| approval.resolved, approval.timed_out              | working, once none is pending                          |
| turn.failed that will not be retried               | error                                                  |
| run.finished, run.cancelled                        | done, for good                                         |
| run.failed                                         | error, for good                                        |
| agent.state_changed                                | what it says (blocked while an approval is pending)    |
| agent.unparsed                                     | unchanged; counted, unless it only came late           |
| any other                                          | unchanged                                              |

`stalled` and `attention` depend on the present moment, so they are not folded: `glance` derives them.
"""

from collections.abc import Callable

from msgspec import UNSET
from msgspec.structs import replace

from runwire.protocol.events.agent import LATE, AgentState, AgentStateChanged, AgentUnparsed
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.assistant import (
    AssistantFinalAnswer,
    AssistantTextComplete,
    AssistantTextDelta,
    AssistantToolCallProposed,
)
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.experimental import (
    AssistantThinkingComplete,
    AssistantThinkingDelta,
    AssistantToolInputDelta,
)
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished, RunQueued, RunStarted
from runwire.protocol.events.shell import ShellCommand, ShellOutputChunk
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolEvent,
    ToolFailed,
    ToolInvoked,
    ToolStarted,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque, Payload, Record

STALL_WINDOW_NS = 4 * 3600 * 1_000_000_000
"""How long a run may be silent before it counts as stalled, unless configured otherwise."""

DOING_MAX = 120


class Running(Record):
    """A tool that is at work."""

    tool_call_id: str
    deadline_ns: int | None
    """When its own timeout strikes; None when it has none."""


class PaneState(Record):
    """One run at a glance, apart from what the clock adds. Moments are UTC nanoseconds."""

    state: AgentState = "idle"
    since_ns: int = 0
    """When the state was entered."""
    doing: str = ""
    """What it does now, in one line."""
    reason: str = ""
    """Why it is blocked or in error."""
    pending: tuple[str, ...] = ()
    """The approvals it waits for."""
    tools: tuple[Running, ...] = ()
    cost_micros_usd: int = 0
    malformed: int = 0
    """How many lines of the agent nothing understood."""
    over: bool = False
    """Whether the run has ended, after which nothing changes."""


class Glance(Record):
    """The pane as a person sees it at one moment."""

    state: AgentState
    stalled: bool
    attention: bool
    reason: str
    doing: str
    since_ns: int
    last_event_type: str
    last_event_ns: int
    cost_micros_usd: int
    malformed: int


def fold(pane: PaneState, payload: Payload | Opaque, occurred_ns: int) -> PaneState:
    """Return the pane after the event; the very same object when the event changes nothing."""
    change = _CHANGES.get(type(payload))
    if change is None or pane.over:
        return pane
    return change(pane, payload, occurred_ns)


def concerns(event_type: str) -> bool:
    """Say whether events of this type can change a pane; others need not even be decoded."""
    return event_type in _CONCERNS


def stalls_at(pane: PaneState, *, last_event_ns: int, window_ns: int = STALL_WINDOW_NS) -> int | None:
    """Say from when on a run counts as stalled if it stays silent; a tool within its own timeout has until then."""
    deadlines = [tool.deadline_ns for tool in pane.tools if tool.deadline_ns is not None]
    return None if pane.over else max([last_event_ns + window_ns, *deadlines])


def stalled(pane: PaneState, *, last_event_ns: int, now_ns: int, window_ns: int = STALL_WINDOW_NS) -> bool:
    """Say whether a live run has been silent for the whole window, other than inside a tool's own timeout."""
    from_ns = stalls_at(pane, last_event_ns=last_event_ns, window_ns=window_ns)
    return from_ns is not None and now_ns >= from_ns


def glance(
    pane: PaneState, *, last_event_type: str, last_event_ns: int, now_ns: int, window_ns: int = STALL_WINDOW_NS
) -> Glance:
    """Show the pane as it is now, with what the clock adds and the reason a person should look, if there is one."""
    is_stalled = stalled(pane, last_event_ns=last_event_ns, now_ns=now_ns, window_ns=window_ns)
    reason = pane.reason if pane.state in ("error", "blocked") else ""
    if is_stalled and not reason:
        reason = f"no event for {(now_ns - last_event_ns) // 1_000_000_000} s"
    return Glance(
        state=pane.state,
        stalled=is_stalled,
        attention=is_stalled or pane.state in ("error", "blocked"),
        reason=reason,
        doing=pane.doing,
        since_ns=pane.since_ns,
        last_event_type=last_event_type,
        last_event_ns=last_event_ns,
        cost_micros_usd=pane.cost_micros_usd,
        malformed=pane.malformed,
    )


def _line(text: str) -> str:
    # Only the head is looked at: a command or a message may be very long.
    short = " ".join(text[: 4 * DOING_MAX].split())
    return short if len(short) <= DOING_MAX else f"{short[: DOING_MAX - 1]}…"


def _enter(pane: PaneState, state: AgentState, at_ns: int, doing: str, reason: str = "") -> PaneState:
    if pane.state == state and pane.doing == doing and pane.reason == reason:
        return pane
    since = pane.since_ns if pane.state == state else at_ns
    return replace(pane, state=state, since_ns=since, doing=doing, reason=reason)


def _work(pane: PaneState, at_ns: int, doing: str) -> PaneState:
    # While a person is asked, whatever else goes on does not hide the question.
    return pane if pane.pending else _enter(pane, "working", at_ns, doing)


def _queued(pane: PaneState, _: RunQueued | GapRunDisconnected, at_ns: int) -> PaneState:
    return pane if pane.pending else _enter(pane, "idle", at_ns, "waiting for a worker")


def _started(pane: PaneState, _: Payload, at_ns: int) -> PaneState:
    return _work(pane, at_ns, "starting")


def _turn_started(pane: PaneState, payload: TurnStarted, at_ns: int) -> PaneState:
    return _work(pane, at_ns, f"waiting for {payload.model or 'the model'}")


def _reading(pane: PaneState, _: Payload, at_ns: int) -> PaneState:
    return _work(pane, at_ns, "reading a message")


def _thinking(pane: PaneState, _: Payload, at_ns: int) -> PaneState:
    return _work(pane, at_ns, "thinking")


def _writing(pane: PaneState, _: Payload, at_ns: int) -> PaneState:
    # Text is most of what happens, and most of it changes nothing.
    if pane.doing == "writing" and pane.state == "working":
        return pane
    return _work(pane, at_ns, "writing")


def _answered(pane: PaneState, payload: AssistantFinalAnswer, at_ns: int) -> PaneState:
    return _work(pane, at_ns, _line(payload.summary) or "finishing")


def _calling(pane: PaneState, payload: AssistantToolCallProposed, at_ns: int) -> PaneState:
    return _work(pane, at_ns, _line(f"wants {payload.tool_name}"))


def _tool_input(pane: PaneState, _: AssistantToolInputDelta, at_ns: int) -> PaneState:
    return _work(pane, at_ns, "writing a tool call")


def _tool_begun(pane: PaneState, payload: ToolInvoked | ToolStarted, at_ns: int) -> PaneState:
    known = next((tool for tool in pane.tools if tool.tool_call_id == payload.tool_call_id), None)
    deadline = known.deadline_ns if known else None
    if payload.timeout_ms is not UNSET:
        deadline = at_ns + payload.timeout_ms * 1_000_000
    running = Running(tool_call_id=payload.tool_call_id, deadline_ns=deadline)
    if running != known:
        others = tuple(tool for tool in pane.tools if tool.tool_call_id != payload.tool_call_id)
        pane = replace(pane, tools=(*others, running))
    return _work(pane, at_ns, _line(payload.tool_name))


def _tool_ended(pane: PaneState, payload: ToolEvent, at_ns: int) -> PaneState:
    left = tuple(tool for tool in pane.tools if tool.tool_call_id != payload.tool_call_id)
    if len(left) != len(pane.tools):
        pane = replace(pane, tools=left)
    return _work(pane, at_ns, _line(f"{payload.tool_name} {payload.type.removeprefix('tool.').replace('_', ' ')}"))


def _command(pane: PaneState, payload: ShellCommand, at_ns: int) -> PaneState:
    return _work(pane, at_ns, _line(f"$ {' '.join(payload.argv)}"))


def _output(pane: PaneState, _: ShellOutputChunk, at_ns: int) -> PaneState:
    return _work(pane, at_ns, pane.doing)


def _asked(pane: PaneState, payload: ApprovalRequested, at_ns: int) -> PaneState:
    pane = replace(pane, pending=(*pane.pending, payload.approval_id))
    return _enter(pane, "blocked", at_ns, "waiting for a decision", _line(payload.summary))


def _settled(pane: PaneState, payload: ApprovalResolved | ApprovalTimedOut, at_ns: int) -> PaneState:
    left = tuple(approval for approval in pane.pending if approval != payload.approval_id)
    if len(left) == len(pane.pending):
        return pane
    pane = replace(pane, pending=left)
    return pane if left else _enter(pane, "working", at_ns, "going on")


def _turn_completed(pane: PaneState, payload: TurnCompleted, _: int) -> PaneState:
    if not payload.cost_micros_usd:
        return pane
    return replace(pane, cost_micros_usd=pane.cost_micros_usd + payload.cost_micros_usd)


def _turn_failed(pane: PaneState, payload: TurnFailed, at_ns: int) -> PaneState:
    if payload.will_retry:
        return _work(pane, at_ns, "trying again")
    return pane if pane.pending else _enter(pane, "error", at_ns, "stopped", _line(payload.message) or payload.code)


def _cost(pane: PaneState, payload: CostTick, _: int) -> PaneState:
    if payload.cumulative_cost_micros_usd <= pane.cost_micros_usd:
        return pane
    return replace(pane, cost_micros_usd=payload.cumulative_cost_micros_usd)


def _changed(pane: PaneState, payload: AgentStateChanged, at_ns: int) -> PaneState:
    if pane.pending and payload.to != "error":
        return pane
    return _enter(pane, payload.to, at_ns, _line(payload.reason) or payload.to, _line(payload.reason))


def _unparsed(pane: PaneState, payload: AgentUnparsed, _: int) -> PaneState:
    return pane if payload.error.startswith(LATE) else replace(pane, malformed=pane.malformed + 1)


def _ended(pane: PaneState, payload: RunFinished | RunFailed | RunCancelled, at_ns: int) -> PaneState:
    match payload:
        case RunFailed():
            pane = _enter(pane, "error", at_ns, "failed", _line(payload.message) or payload.code)
        case RunFinished():
            pane = _enter(pane, "done", at_ns, "finished")
        case RunCancelled():
            pane = _enter(pane, "done", at_ns, _line(f"cancelled by {payload.by}"))
    cost = max(pane.cost_micros_usd, payload.cost_micros_usd or 0)
    return replace(pane, over=True, pending=(), tools=(), cost_micros_usd=cost)


_CHANGES: dict[type, Callable[..., PaneState]] = {
    RunQueued: _queued,
    RunStarted: _started,
    RunFinished: _ended,
    RunFailed: _ended,
    RunCancelled: _ended,
    GapRunDisconnected: _queued,
    TurnStarted: _turn_started,
    TurnCompleted: _turn_completed,
    TurnFailed: _turn_failed,
    UserMessage: _reading,
    AssistantTextDelta: _writing,
    AssistantTextComplete: _writing,
    AssistantThinkingDelta: _thinking,
    AssistantThinkingComplete: _thinking,
    AssistantToolInputDelta: _tool_input,
    AssistantToolCallProposed: _calling,
    AssistantFinalAnswer: _answered,
    ToolInvoked: _tool_begun,
    ToolStarted: _tool_begun,
    ToolCompleted: _tool_ended,
    ToolFailed: _tool_ended,
    ToolCancelled: _tool_ended,
    ToolTimedOut: _tool_ended,
    ShellCommand: _command,
    ShellOutputChunk: _output,
    ApprovalRequested: _asked,
    ApprovalResolved: _settled,
    ApprovalTimedOut: _settled,
    CostTick: _cost,
    AgentStateChanged: _changed,
    AgentUnparsed: _unparsed,
}
_CONCERNS = frozenset(change.type for change in _CHANGES if issubclass(change, Payload))
