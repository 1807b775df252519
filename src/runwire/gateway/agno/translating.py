"""Our events become Agno's: a fold over the stored envelopes of one run. Pure; what it is fed decides all that it says.

| ours                                   | Agno's                                                       |
|----------------------------------------|--------------------------------------------------------------|
| the first event                        | RunStarted                                                   |
| assistant.text_delta, thinking_delta   | RunContent                                                   |
| turn.completed                         | RunContent, empty and with citations                         |
| tool.started                           | ToolCallStarted                                              |
| tool.completed, failed and so on       | ToolCallCompleted                                            |
| approval.requested, then nothing more  | RunContentCompleted, RunPaused (see `Translation.rest`)      |
| approval.resolved, approval.timed_out  | RunContinued                                                 |
| policy.tool_blocked                    | nothing: a call that was refused is not told of              |
| run.finished                           | RunContentCompleted, RunCompleted                            |
| run.failed, run.cancelled              | RunError, RunCancelled; nothing follows                      |
| gap.events_pruned                      | CustomEvent                                                  |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from runwire.gateway.agno.frames import Fields, Frame
from runwire.gateway.agno.metering import Meter
from runwire.gateway.agno.tools import Question, ToolCall, ToolEnded
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta, AssistantToolCallProposed
from runwire.protocol.events.experimental import AssistantThinkingComplete, AssistantThinkingDelta
from runwire.protocol.events.gap import GapEventsPruned
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished, RunQueued, RunResumedFromEvent
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolInvoked,
    ToolStarted,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.moment import nanoseconds
from runwire.protocol.payload import MalformedPayload, Opaque, Payload

_NS = 1_000_000_000
_NOTHING: Mapping[str, object] = {}
_PLAIN: Mapping[str, object] = {"content_type": "str", "workflow_agent": False}
_UNCITED: Mapping[str, object] = {"raw": [], "urls": [], "documents": []}
_PAUSED = "I have tools to execute, but I need confirmation."


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What every frame of a run carries."""

    run_id: str
    agent_id: str
    agent_name: str
    session_id: str | None
    user_id: str | None = None


class Translation:
    """One run in Agno's words, as far as it has been fed."""

    def __init__(self, about: About, *, continues_at: int | None = None) -> None:
        """Begin at the first event; at the sequence `continues_at` a client's decision let the run go on."""
        self._about = about
        self._continues_at = continues_at
        self._count = 0
        self._sequence, self._now_ns, self._asked_at = -1, 0, -1
        self._prompt, self._model, self._provider = "", "", ""
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._said: dict[tuple[type[Payload], int], int] = {}
        self._calls: dict[str, ToolCall] = {}
        self._running: set[str] = set()
        self._questions: dict[str, Question] = {}
        self._paused = self._closed = self._moved = False
        self._meter = Meter()
        self._status = "PENDING"
        self._failure: Fields = {}

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self._status in {"COMPLETED", "CANCELLED", "ERROR"}

    @property
    def waiting(self) -> bool:
        """Whether the run waits for a decision and has not said so yet."""
        return bool(self._questions) and not (self._paused or self.over)

    @property
    def busy(self) -> bool:
        """Whether a call runs that nobody is asked about."""
        return bool(self._running - {question.call.tool_call_id for question in self._questions.values()})

    @property
    def asked_at(self) -> int:
        """The sequence of the last question."""
        return self._asked_at

    @property
    def text(self) -> str:
        """All that was said."""
        return "".join(self._text)

    def feed(self, envelope: bytes) -> list[Frame]:
        """Take in the next event of the run; return what is told of it."""
        event = decode_envelope(envelope)
        if self.over or event.type == RunResumedFromEvent.type:
            return []
        self._sequence, self._now_ns = event.sequence, nanoseconds(event.occurred_at)
        if event.type not in _TYPES:
            return self._begin()
        try:
            payload = decode_payload(event.type, event.data)
        except MalformedPayload:
            # Nobody is served by a stream that breaks at one event that a stranger has made.
            return []
        if isinstance(payload, RunQueued):
            self._model, self._provider = payload.model or "", payload.provider or ""
        frames = self._begin()
        telling = None if isinstance(payload, Opaque) else _TELLING.get(type(payload))
        return frames if telling is None else [*frames, *telling(self, payload)]

    def rest(self) -> list[Frame]:
        """Say that the run has paused, if it is `waiting`. Who follows a run calls this when nothing more comes."""
        return self._pause() if self.waiting else []

    def output(self) -> Fields:
        """The run as it stands, in one piece."""
        about = self._about
        status = "PAUSED" if self._questions and not self.over else self._status
        shown: Fields = {
            "run_id": about.run_id,
            "agent_id": about.agent_id,
            "agent_name": about.agent_name,
            "session_id": about.session_id,
            "user_id": about.user_id,
            "content": self._failure.get("content", self.text),
            "content_type": "str",
            "reasoning_content": "".join(self._thoughts) or None,
            "model": self._model or None,
            "model_provider": self._provider or None,
            "session_state": {},
            "created_at": self._meter.began_ns // _NS,
            "status": status,
            "metrics": self._meter.shown(),
            "tools": [call.shown() for call in self._calls.values()] or None,
            "requirements": [question.shown() for question in self._in_order()] or None,
            "input": {"input_content": self._prompt},
        }
        return {name: value for name, value in shown.items() if value is not None}

    def _begin(self) -> list[Frame]:
        if self._status != "PENDING":
            return []
        self._status, self._meter.began_ns = "RUNNING", self._now_ns
        return [self._frame("RunStarted", {"model": self._model or None, "model_provider": self._provider or None})]

    def _pause(self, *, aside: bool = False) -> list[Frame]:
        frames = self._close(aside=aside)
        self._paused, self._moved = True, False
        waiting = self._in_order()
        for question in waiting:
            question.announced = True
        told: Fields = {
            "content": _PAUSED,
            "tools": [question.call.shown() for question in waiting],
            "requirements": [question.shown() for question in waiting],
        }
        return [*frames, self._frame("RunPaused", told, aside=aside)]

    def _close(self, *, aside: bool = False) -> list[Frame]:
        """Say once, in each stretch between two pauses, that no more text comes."""
        if self._closed:
            return []
        self._closed = True
        return [self._frame("RunContentCompleted", aside=aside)]

    def _frame(self, event: str, own: Mapping[str, object] = _NOTHING, *, aside: bool = False) -> Frame:
        about = self._about
        data: Fields = {
            "created_at": self._now_ns // _NS,
            "event": event,
            "agent_id": about.agent_id,
            "agent_name": about.agent_name,
            "run_id": about.run_id,
            "session_id": about.session_id,
            **own,
        }
        self._count += 1
        return Frame(self._count - 1, {name: value for name, value in data.items() if value is not None}, aside)

    def _content(self, text: str) -> list[Frame]:
        if not text:
            return []
        self._first_token()
        self._text.append(text)
        return [self._frame("RunContent", {"content": text, "reasoning_content": "", **_PLAIN})]

    def _thought(self, text: str) -> list[Frame]:
        if not text:
            return []
        self._first_token()
        self._thoughts.append(text)
        return [self._frame("RunContent", {"reasoning_content": text, **_PLAIN})]

    def _first_token(self) -> None:
        self._moved = True
        self._meter.first_token(self._now_ns)

    def _call(self, tool_call_id: str, tool_name: str) -> ToolCall:
        call = self._calls.get(tool_call_id)
        if call is None:
            call = ToolCall(tool_call_id=tool_call_id, tool_name=tool_name, created_at=self._now_ns // _NS)
            self._calls[tool_call_id] = call
        return call

    def _in_order(self) -> list[Question]:
        """What is asked, in the order in which the model wanted it."""
        places = {tool_call_id: place for place, tool_call_id in enumerate(self._calls)}
        return sorted(self._questions.values(), key=lambda question: places[question.call.tool_call_id])

    # What each type of event tells.

    def _on_user(self, said: UserMessage) -> list[Frame]:
        self._prompt = self._prompt or said.text
        return []

    def _on_turn(self, _: TurnStarted) -> list[Frame]:
        # A turn that is tried again begins its blocks anew.
        self._said.clear()
        self._moved = True
        return []

    def _on_piece(self, piece: AssistantTextDelta | AssistantThinkingDelta) -> list[Frame]:
        is_text = isinstance(piece, AssistantTextDelta)
        block = (AssistantTextComplete if is_text else AssistantThinkingComplete, piece.block_index)
        self._said[block] = self._said.get(block, 0) + len(piece.delta)
        return self._content(piece.delta) if is_text else self._thought(piece.delta)

    def _on_whole(self, whole: AssistantTextComplete | AssistantThinkingComplete) -> list[Frame]:
        # Its pieces may be pruned, or never have been told.
        left = whole.text[self._said.pop((type(whole), whole.block_index), 0) :]
        return self._content(left) if isinstance(whole, AssistantTextComplete) else self._thought(left)

    def _on_proposed(self, proposed: AssistantToolCallProposed) -> list[Frame]:
        self._first_token()
        self._call(proposed.tool_call_id, proposed.tool_name).arguments = proposed.input
        return []

    def _on_turn_end(self, ended: TurnCompleted) -> list[Frame]:
        self._meter.count(ended.input_tokens, ended.output_tokens, ended.cached_input_tokens)
        empty: Fields = {"content": "", "reasoning_content": "", **_PLAIN, "citations": _UNCITED}
        return [self._frame("RunContent", empty)]

    def _on_turn_failed(self, failed: TurnFailed) -> list[Frame]:
        self._meter.count(failed.input_tokens or 0, failed.output_tokens or 0, 0)
        return []

    def _on_invoked(self, invoked: ToolInvoked) -> list[Frame]:
        self._call(invoked.tool_call_id, invoked.tool_name)
        self._running.add(invoked.tool_call_id)
        self._moved = True
        return []

    def _on_started(self, started: ToolStarted) -> list[Frame]:
        call = self._call(started.tool_call_id, started.tool_name)
        if started.input is not UNSET:
            call.arguments = started.input
        if call.started:
            return []
        call.started = True
        return [self._frame("ToolCallStarted", {"tool": call.shown()})]

    def _on_tool_end(self, ended: ToolEnded) -> list[Frame]:
        call = self._call(ended.tool_call_id, ended.tool_name)
        # One that was refused before it began is told from its beginning all the same.
        begun = [] if call.started else [self._frame("ToolCallStarted", {"tool": call.shown()})]
        call.started = True
        call.end(ended)
        self._running.discard(ended.tool_call_id)
        return [*begun, self._frame("ToolCallCompleted", {"content": call.sentence(), "tool": call.shown()})]

    def _on_blocked(self, _: PolicyToolBlocked) -> list[Frame]:
        self._moved = True
        return []

    def _on_asked(self, asked: ApprovalRequested) -> list[Frame]:
        call = self._call(asked.tool_call_id or asked.approval_id, asked.kind)
        if asked.input is not UNSET:
            call.arguments = asked.input
        call.requires_confirmation = True
        self._asked_at = self._sequence
        self._questions[asked.approval_id] = Question(asked.approval_id, call, self._now_ns)
        return []

    def _on_settled(self, settled: ApprovalResolved | ApprovalTimedOut) -> list[Frame]:
        question = self._questions.get(settled.approval_id)
        if question is None:
            return []
        frames: list[Frame] = []
        if not self._paused and (self._moved or not question.announced):
            frames = self._pause(aside=True)
        del self._questions[settled.approval_id]
        question.call.confirmed = isinstance(settled, ApprovalResolved) and settled.decision == "approved"
        if isinstance(settled, ApprovalResolved):
            question.call.note = settled.comment or None
        ours = self._sequence == self._continues_at
        if self._paused or ours:
            self._paused = self._closed = False
            frames.append(self._frame("RunContinued", aside=not ours))
        return frames

    def _on_finished(self, finished: RunFinished) -> list[Frame]:
        self._meter.end(self._now_ns, finished.duration_ms)
        frames = self._close()
        self._status = "COMPLETED"
        told: Fields = {
            "content": self.text,
            "content_type": "str",
            "reasoning_content": "".join(self._thoughts) or None,
            "citations": _UNCITED,
            "session_state": {},
            "metrics": self._meter.shown(),
        }
        return [*frames, self._frame("RunCompleted", told)]

    def _on_failed(self, failed: RunFailed) -> list[Frame]:
        self._meter.end(self._now_ns, failed.duration_ms)
        self._status = "ERROR"
        self._failure = {"content": failed.message, "error_type": failed.code}
        return [self._frame("RunError", self._failure)]

    def _on_cancelled(self, cancelled: RunCancelled) -> list[Frame]:
        self._meter.end(self._now_ns, cancelled.duration_ms)
        self._status = "CANCELLED"
        reason = cancelled.reason or f"Run {self._about.run_id} was cancelled"
        return [self._frame("RunCancelled", {"reason": reason, "content": self.text})]

    def _on_gap(self, gap: GapEventsPruned) -> list[Frame]:
        told: Fields = {
            "name": gap.type,
            "first_pruned_sequence": gap.first_pruned_sequence,
            "last_pruned_sequence": gap.last_pruned_sequence,
        }
        return [self._frame("CustomEvent", told)]


# Every function takes the class that it stands beside.
_TELLING: Mapping[type[Payload], Callable[[Translation, Any], list[Frame]]] = {
    UserMessage: Translation._on_user,
    TurnStarted: Translation._on_turn,
    TurnCompleted: Translation._on_turn_end,
    TurnFailed: Translation._on_turn_failed,
    AssistantTextDelta: Translation._on_piece,
    AssistantThinkingDelta: Translation._on_piece,
    AssistantTextComplete: Translation._on_whole,
    AssistantThinkingComplete: Translation._on_whole,
    AssistantToolCallProposed: Translation._on_proposed,
    ToolInvoked: Translation._on_invoked,
    ToolStarted: Translation._on_started,
    ToolCompleted: Translation._on_tool_end,
    ToolFailed: Translation._on_tool_end,
    ToolCancelled: Translation._on_tool_end,
    ToolTimedOut: Translation._on_tool_end,
    PolicyToolBlocked: Translation._on_blocked,
    ApprovalRequested: Translation._on_asked,
    ApprovalResolved: Translation._on_settled,
    ApprovalTimedOut: Translation._on_settled,
    RunFinished: Translation._on_finished,
    RunFailed: Translation._on_failed,
    RunCancelled: Translation._on_cancelled,
    GapEventsPruned: Translation._on_gap,
}
_TYPES = frozenset({RunQueued.type, *(kind.type for kind in _TELLING)})
