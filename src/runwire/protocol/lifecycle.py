"""The checker: what must hold in every log, live or finished, whole or pruned. It reports; it never repairs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from msgspec import UnsetType

from runwire.protocol.catalogue import CATALOGUE, TERMINAL, decode_payload, may_follow_terminal
from runwire.protocol.envelope import Envelope, MalformedEnvelope, decode_envelope
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.experimental import AssistantThinkingComplete, AssistantThinkingDelta
from runwire.protocol.events.gap import GapEventsPruned
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished, RunResumedFromEvent
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolEvent,
    ToolFailed,
    ToolInvoked,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.holes import Holes
from runwire.protocol.payload import MalformedPayload, Opaque, Payload, is_type_name
from runwire.protocol.stream import TEXT, THINKING, StreamKey


@dataclass(frozen=True, slots=True)
class Breach:
    """A requirement of spec/PROTOCOL.md that a log breaks, and where."""

    sequence: int
    rule: str
    message: str


def check(events: Iterable[Envelope | bytes], *, live: bool = False) -> Iterator[Breach]:
    """Yield every breach in a log, in order; a `live` one may still have things open and no terminal event."""
    checker, queue = Checker(live=live), InOrder()
    for event in events:
        try:
            found = checker.feed(event if isinstance(event, Envelope) else decode_envelope(event))
        except MalformedEnvelope as wrong:
            found = [Breach(checker.expected, wrong.rule, str(wrong))]
        yield from queue.put(found, certain=not checker.unexplained)
    yield from queue.put(checker.close(), certain=True)


class InOrder:
    """Puts breaches into the order of their sequences: while a hole may still be covered, later ones wait for it."""

    def __init__(self) -> None:
        self._held: list[Breach] = []

    def put(self, found: list[Breach], *, certain: bool) -> list[Breach]:
        """Add breaches and return those that nothing earlier can precede any more."""
        if not certain:
            self._held += found
            return []
        if self._held:
            found, self._held = sorted(self._held + found, key=lambda breach: breach.sequence), []
        return found


class Checker:
    """Holds a log against the rules, one event at a time. Holes are told at the end, for a marker may yet cover them."""

    def __init__(self, *, live: bool = False, after: int = -1) -> None:
        """Begin with the event after `after`; `live` says that the log may go on."""
        self._live = live
        self._holes = Holes(after=after)
        self._belongs: tuple[str | UnsetType, ...] = ()
        self._event_ids: set[str] = set()
        self._terminal: str | None = None
        self._turns: dict[int, int] = {}
        self._turn_starts: dict[int, int] = {}
        self._tools: dict[str, int] = {}
        self._blocked: set[str] = set()
        self._approvals: dict[str, int] = {}
        self._text: dict[StreamKey, list[str]] = {}
        self._complete: set[StreamKey] = set()

    @property
    def expected(self) -> int:
        """The sequence that would leave no hole."""
        return self._holes.expected

    @property
    def unexplained(self) -> list[tuple[int, int]]:
        """The missing ranges that no marker has covered yet, both ends included."""
        return self._holes.unexplained

    def feed(self, event: Envelope) -> list[Breach]:
        """Take the next event and return what is wrong with it."""
        return [Breach(event.sequence, rule, message) for rule, message in self._breaches(event)]

    def close(self) -> list[Breach]:
        """End the log and return what is left open or unexplained."""
        found = [
            Breach(start, "SEQ-2" if start else "SEQ-1", f"{_range(start, end)} missing and no gap marker says why")
            for start, end in self._holes.unexplained
        ]
        if self._live:
            return found
        last = max(0, self._holes.expected - 1)
        if self._terminal is None:
            found.append(Breach(last, "LIF-1", "the log ends without run.finished, run.failed or run.cancelled"))
            found += [Breach(last, rule, message) for rule, message in self._left_open()]
        return found + [
            Breach(last, "LIF-5", f"approval {approval}, requested at {at}, was never settled")
            for approval, at in self._approvals.items()
        ]

    def _breaches(self, event: Envelope) -> Iterator[tuple[str, str]]:
        yield from self._identity(event)
        if not self._holes.arrive(event.sequence):
            yield "SEQ-2", f"sequence {event.sequence} comes again; expected {self._holes.expected}"
            return
        if event.type not in CATALOGUE and not is_type_name(event.type):
            yield "TYP-1", f"{event.type[:64]!r} is not a dotted, lowercase, snake_case type"
        if self._terminal is not None and not may_follow_terminal(event.type):
            yield from self._after_end(event)
            return
        try:
            payload = decode_payload(event.type, event.data)
        except MalformedPayload as wrong:
            yield "TYP-2", str(wrong)
            return
        rule = _RULES.get(type(payload))
        if rule is not None:
            yield from rule(self, payload, event.sequence)

    def _identity(self, event: Envelope) -> Iterator[tuple[str, str]]:
        belongs = (event.run_id, event.task_id, event.session_id)
        began = self._belongs = self._belongs or belongs
        if belongs != began:
            yield "ENV-8", f"the event belongs to {_shown(belongs)}, the log to {_shown(began)}"
        if event.event_id in self._event_ids:
            yield "ENV-5", f"event_id {event.event_id} comes again"
        self._event_ids.add(event.event_id)

    def _after_end(self, event: Envelope) -> Iterator[tuple[str, str]]:
        if event.type in TERMINAL:
            yield "LIF-1", f"{event.type} follows {self._terminal}; a run ends once"
        else:
            yield "LIF-8", f"{event.type} follows {self._terminal}"

    def _left_open(self) -> Iterator[tuple[str, str]]:
        for turn, at in self._turns.items():
            yield "LIF-2", f"turn {turn}, started at {at}, neither completed nor failed"
        for call, at in self._tools.items():
            yield "LIF-3", f"tool call {call}, invoked at {at}, never ended"

    def _pruned(self, payload: GapEventsPruned, at: int) -> Iterator[tuple[str, str]]:
        if payload.last_pruned_sequence != at or payload.first_pruned_sequence > at:
            yield "GAP-1", f"the marker at {at} names {payload.first_pruned_sequence} to {payload.last_pruned_sequence}"
            return
        self._holes.cover(payload.first_pruned_sequence, payload.last_pruned_sequence)
        # The marker's own place was an event once, so it is a hole in what can be known.
        self._holes.last_end = max(self._holes.last_end, at)

    def _orphan(self, rule: str, message: str) -> Iterator[tuple[str, str]]:
        # In a log with holes the beginning may be what is missing.
        if self._holes.last_end < 0:
            yield rule, message

    def _resumed(self, _: RunResumedFromEvent, at: int) -> Iterator[tuple[str, str]]:
        if at != 0:
            yield "LIF-9", "run.resumed_from_event is not the first event"

    def _turn_started(self, payload: TurnStarted, at: int) -> Iterator[tuple[str, str]]:
        turn = payload.turn_index
        if turn in self._turns:
            yield "LIF-2", f"turn {turn}, started at {self._turns[turn]}, is started again before it ended"
        self._turns[turn] = self._turn_starts[turn] = at
        # A turn that is tried again streams its blocks anew.
        for key in [key for key in self._text if key[1] == turn]:
            del self._text[key]
        self._complete = {key for key in self._complete if key[1] != turn}

    def _turn_ended(self, payload: TurnCompleted | TurnFailed, _: int) -> Iterator[tuple[str, str]]:
        if self._turns.pop(payload.turn_index, None) is None:
            yield from self._orphan("LIF-10", f"{payload.type} of turn {payload.turn_index}, which is not open")

    def _tool_invoked(self, payload: ToolInvoked, at: int) -> Iterator[tuple[str, str]]:
        call = payload.tool_call_id
        if call in self._tools:
            yield "LIF-3", f"tool call {call}, invoked at {self._tools[call]}, is invoked again before it ended"
        if call in self._blocked:
            yield "LIF-4", f"tool call {call} was blocked by policy and is invoked"
        self._tools[call] = at

    def _tool_ended(self, payload: ToolEvent, _: int) -> Iterator[tuple[str, str]]:
        if self._tools.pop(payload.tool_call_id, None) is None:
            yield from self._orphan("LIF-10", f"{payload.type} of call {payload.tool_call_id}, which is not open")

    def _tool_blocked(self, payload: PolicyToolBlocked, _: int) -> Iterator[tuple[str, str]]:
        call = payload.tool_call_id
        if call in self._tools:
            yield "LIF-4", f"tool call {call}, invoked at {self._tools[call]}, is blocked by policy"
        self._blocked.add(call)

    def _asked(self, payload: ApprovalRequested, at: int) -> Iterator[tuple[str, str]]:
        approval = payload.approval_id
        if approval in self._approvals:
            yield "LIF-5", f"approval {approval}, requested at {self._approvals[approval]}, is requested again"
        self._approvals[approval] = at

    def _settled(self, payload: ApprovalResolved | ApprovalTimedOut, _: int) -> Iterator[tuple[str, str]]:
        if self._approvals.pop(payload.approval_id, None) is None:
            # Approvals are never pruned, so a hole excuses nothing here.
            yield "LIF-10", f"{payload.type} of approval {payload.approval_id}, which is not pending"
        if self._terminal is not None and isinstance(payload, ApprovalResolved) and payload.decision == "denied":
            caused = payload.stop is True or self._terminal == RunCancelled.type
            if caused:
                yield "LIF-7", f"{self._terminal} precedes the denial of {payload.approval_id} that caused it"

    def _delta(self, payload: AssistantTextDelta | AssistantThinkingDelta, _: int) -> Iterator[tuple[str, str]]:
        key = (payload.type, payload.turn_index, payload.block_index)
        if key in self._complete:
            yield "LIF-6", f"block {payload.block_index} of turn {payload.turn_index} grows after it was complete"
        self._text.setdefault(key, []).append(payload.delta)

    def _completed(
        self, payload: AssistantTextComplete | AssistantThinkingComplete, _: int
    ) -> Iterator[tuple[str, str]]:
        kind = TEXT if isinstance(payload, AssistantTextComplete) else THINKING
        key = (kind, payload.turn_index, payload.block_index)
        deltas = self._text.pop(key, None)
        self._complete.add(key)
        # A hole since the turn began may have held deltas; a block without any was never streamed.
        whole = self._holes.last_end < self._turn_starts.get(payload.turn_index, 0)
        if whole and deltas is not None and "".join(deltas) != payload.text:
            yield (
                "LIF-6",
                f"{payload.type} of block {payload.block_index}, turn {payload.turn_index}: not its deltas joined",
            )

    def _ended(self, payload: RunFinished | RunFailed | RunCancelled, _: int) -> Iterator[tuple[str, str]]:
        self._terminal = payload.type
        yield from self._left_open()


def _range(start: int, end: int) -> str:
    return f"sequence {start} is" if start == end else f"sequences {start} to {end} are"


def _shown(belongs: tuple[str | UnsetType, ...]) -> str:
    return ", ".join("none" if isinstance(one, UnsetType) else one for one in belongs)


_RULES: dict[type[Payload] | type[Opaque], Callable[..., Iterator[tuple[str, str]]]] = {
    GapEventsPruned: Checker._pruned,
    RunResumedFromEvent: Checker._resumed,
    RunFinished: Checker._ended,
    RunFailed: Checker._ended,
    RunCancelled: Checker._ended,
    TurnStarted: Checker._turn_started,
    TurnCompleted: Checker._turn_ended,
    TurnFailed: Checker._turn_ended,
    ToolInvoked: Checker._tool_invoked,
    ToolCompleted: Checker._tool_ended,
    ToolFailed: Checker._tool_ended,
    ToolCancelled: Checker._tool_ended,
    ToolTimedOut: Checker._tool_ended,
    PolicyToolBlocked: Checker._tool_blocked,
    ApprovalRequested: Checker._asked,
    ApprovalResolved: Checker._settled,
    ApprovalTimedOut: Checker._settled,
    AssistantTextDelta: Checker._delta,
    AssistantThinkingDelta: Checker._delta,
    AssistantTextComplete: Checker._completed,
    AssistantThinkingComplete: Checker._completed,
}
