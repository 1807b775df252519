"""The state, rebuilt from events alone. What the machine knew while it ran is what its log tells."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import UnsetType
from msgspec.structs import replace

from runwire.host import Failed, Finished, Past
from runwire.native.loop import compact, simulated, told
from runwire.native.loop.state import Call, Image, Rules, State, Text, Thinking, Told, Usage, User
from runwire.native.loop.step import (
    MALFORMED,
    answer_of,
    counted,
    counted_failed,
    given_up,
    nudged,
    over_budget,
    used_model,
)
from runwire.native.loop.told import ToolOver
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.approval import ApprovalResolved
from runwire.protocol.events.artifact import ArtifactCreated
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantTextComplete, AssistantToolCallProposed
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning
from runwire.protocol.events.error import ErrorModelCapabilityMissing, ErrorUpstream
from runwire.protocol.events.experimental import AssistantMedia, AssistantThinkingComplete
from runwire.protocol.events.policy import PolicyModelRewrote, PolicyToolBlocked
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished, RunResumedFromEvent
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolInvoked,
    ToolStarted,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserAttachment, UserMessage
from runwire.protocol.payload import Opaque, Payload

# A turn that somebody stopped did not fail: whoever takes the run up again may try it again.
_STOPPED = frozenset({"cancelled", "worker_closed", "worker_lost"})
_SIGNS = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


def recover(past: Sequence[Past], rules: Rules, bodies: Mapping[str, bytes]) -> State:
    """Fold a run's events, and those of the runs before it, into the state from which it goes on."""
    fold = _Fold(rules, bodies)
    for event in _counting(past):
        fold.take(event)
    return fold.result()


def wanted(past: Sequence[Past]) -> frozenset[str]:
    """The artifacts whose bodies `recover` needs: results that are too long for their events, and pictures."""
    found: set[str] = set()
    pictures: list[str] = []
    for event in past:
        payload = event.payload
        if isinstance(payload, ArtifactCreated):
            pictures += [payload.artifact_id] if payload.kind == "image" else []
            continue
        if isinstance(payload, ToolOver):
            artifact = told.wants_body(told.of_event(payload))
            found |= {*pictures, *([artifact] if artifact else [])}
        pictures = []
    return frozenset(found)


def unsettled(past: Sequence[Past], run_id: str) -> tuple[ToolFailed, ...]:
    """Ends for calls of this run that were invoked and never ended: whether they took effect, nobody knows."""
    left: dict[str, ToolInvoked] = {}
    for event in past:
        if event.run_id != run_id:
            continue
        if isinstance(event.payload, ToolInvoked):
            left[event.payload.tool_call_id] = event.payload
        elif isinstance(event.payload, ToolOver):
            left.pop(event.payload.tool_call_id, None)
    return tuple(
        ToolFailed(
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            kind=call.kind,
            mcp_server=call.mcp_server,
            mcp_tool=call.mcp_tool,
            duration_ms=0,
            code="interrupted",
            message="its effect may have happened; look before you repeat it",
        )
        for call in left.values()
    )


def mime_of(body: bytes) -> str | None:
    """What kind of picture these bytes are, by how they begin; None when they are none that a model can be shown."""
    return next((mime for sign, mime in _SIGNS if body.startswith(sign)), None)


def _counting(past: Sequence[Past]) -> Iterator[Past]:
    """The events that still count: a run that another was resumed from ends where the other took it up."""
    ends = {
        event.payload.from_run_id: event.payload.from_sequence
        for event in past
        if isinstance(event.payload, RunResumedFromEvent)
    }
    for event in past:
        if event.sequence <= ends.get(event.run_id, event.sequence):
            yield event


class _Fold:
    """A state under construction, and what only matters until the next event or two."""

    def __init__(self, rules: Rules, bodies: Mapping[str, bytes]) -> None:
        self._state = State(model=used_model(rules))
        self._bodies = bodies
        self._run_id: str | None = None
        self._answer: list[Text | Thinking | Call] = []
        self._turn_open = False
        self._upstream = False
        self._invoked: set[str] = set()
        self._changed: dict[str, str] = {}
        self._pictures: list[str] = []

    def take(self, event: Past) -> None:
        """Go on by one event."""
        if self._run_id not in {None, event.run_id}:
            self._boundary()
        self._run_id = event.run_id
        payload = event.payload
        rule = _RULES.get(type(payload))
        if rule is not None:
            rule(self, payload)
        if not isinstance(payload, ArtifactCreated):
            self._pictures = []

    def result(self) -> State:
        """The state after all of it."""
        state = self._state
        if state.phase == "over":
            return state
        if self._turn_open:
            return replace(state, phase="calling")
        if state.calls:
            return replace(state, phase="acting")
        return state

    def _boundary(self) -> None:
        """Another run takes over: what was open is over, what is counted by run begins at nothing."""
        state = self._state
        left = [
            Told(
                call.call_id,
                (Text(told.MAY_HAVE_HAPPENED if call.call_id in self._invoked else told.NOT_RUN),),
                is_error=True,
            )
            for call in state.calls
        ]
        self._answer, self._turn_open, self._upstream = [], False, False
        self._state = State(
            model=state.model,
            answered=state.answered,
            messages=told.with_told(state.messages, left),
            last_input_tokens=state.last_input_tokens,
            compacted=state.compacted,
        )

    def _user(self, payload: UserMessage) -> None:
        ended = self._state.ended if isinstance(self._state.ended, Failed) else None
        self._state = replace(self._state, messages=(*self._state.messages, User((Text(payload.text),))), ended=ended)

    def _attachment(self, payload: UserAttachment) -> None:
        shown: Text | Image = Image(payload.artifact_id, payload.mime)
        if payload.kind != "image":
            shown = Text(f"[attached file {payload.artifact_id}, {payload.mime}; artifact_read shows it]")
        messages = self._state.messages
        if messages and isinstance(messages[-1], User):
            messages = (*messages[:-1], User((*messages[-1].parts, shown)))
        else:
            messages = (*messages, User((shown,)))
        self._state = replace(self._state, messages=messages)

    def _turn_started(self, payload: TurnStarted) -> None:
        self._answer, self._turn_open, self._upstream = [], True, False
        self._state = replace(self._state, turn=payload.turn_index, messages=nudged(self._state.messages), ended=None)

    def _text(self, payload: AssistantTextComplete) -> None:
        self._answer.append(Text(payload.text))

    def _thinking(self, payload: AssistantThinkingComplete) -> None:
        signature = None if isinstance(payload.signature, UnsetType) else payload.signature
        self._answer.append(Thinking(payload.text, signature))

    def _media(self, payload: AssistantMedia) -> None:
        self._answer.append(Text(media_text(payload.mime, payload.artifact_id)))

    def _proposed(self, payload: AssistantToolCallProposed) -> None:
        raw = payload.input.get(MALFORMED) if len(payload.input) == 1 else None
        malformed = raw if isinstance(raw, str) else None
        given = {} if malformed is not None else payload.input
        self._answer.append(Call(payload.tool_call_id, payload.tool_name, given, malformed))

    def _final(self, payload: AssistantFinalAnswer) -> None:
        self._state = replace(self._state, ended=Finished(payload.summary))

    def _turn_completed(self, payload: TurnCompleted) -> None:
        usage = Usage(
            input_tokens=payload.input_tokens,
            output_tokens=payload.output_tokens,
            cache_read_tokens=payload.cached_input_tokens,
        )
        state = counted(self._state, usage, payload.cost_micros_usd)
        state = replace(state, phase="ready", answered=state.answered + 1, turn=payload.turn_index + 1, attempt=1)
        answer = tuple(self._answer)
        if payload.stop_reason == compact.STOP_REASON:
            summary = "\n".join(part.text for part in answer if isinstance(part, Text))
            self._state = replace(
                state, messages=compact.compacted(state.messages, summary), last_input_tokens=0, compacted=True
            )
        else:
            self._state = replace(
                state,
                messages=state.messages + answer_of(answer),
                calls=tuple(part for part in answer if isinstance(part, Call)),
                last_input_tokens=payload.input_tokens,
                compacted=False,
            )
        self._answer, self._turn_open = [], False

    def _turn_failed(self, payload: TurnFailed) -> None:
        usage = None
        if not isinstance(payload.input_tokens, UnsetType):
            output = 0 if isinstance(payload.output_tokens, UnsetType) else payload.output_tokens
            usage = Usage(input_tokens=payload.input_tokens, output_tokens=output)
        cost = 0 if isinstance(payload.cost_micros_usd, UnsetType) else payload.cost_micros_usd
        state = replace(counted_failed(self._state, usage, cost), turn=payload.turn_index)
        if payload.will_retry and self._upstream:
            state = replace(state, attempt=state.attempt + 1)
        if payload.will_retry and payload.code == "context_overflow":
            state = replace(state, phase="compacting")
        if not payload.will_retry and payload.code not in _STOPPED:
            state = replace(state, ended=given_up(payload.code, payload.message))
        self._state = state
        self._answer, self._turn_open, self._upstream = [], False, False

    def _invoke(self, payload: ToolInvoked) -> None:
        self._invoked.add(payload.tool_call_id)

    def _started(self, payload: ToolStarted) -> None:
        if not isinstance(payload.changed_by, UnsetType) and not isinstance(payload.input, UnsetType):
            self._changed[payload.tool_call_id] = told.changed(payload.changed_by, payload.input)

    def _tool_over(self, payload: ToolOver) -> None:
        outcome = told.of_event(payload)
        body = self._bodies.get(told.wants_body(outcome) or "")
        text = self._changed.pop(payload.tool_call_id, "") + told.text_of(outcome, body)
        images = []
        for artifact_id in self._pictures:
            mime = mime_of(self._bodies.get(artifact_id, b""))
            images += [Image(artifact_id, mime)] if mime else []
        self._tell(Told(payload.tool_call_id, told.parts_of(text, images), told.is_error(outcome)))

    def _blocked(self, payload: PolicyToolBlocked) -> None:
        self._tell(told.of_block(payload))

    def _tell(self, one: Told) -> None:
        calls = self._state.calls
        if any(call.call_id == one.call_id for call in calls):
            self._state = replace(
                self._state,
                messages=told.with_told(self._state.messages, [one]),
                calls=tuple(call for call in calls if call.call_id != one.call_id),
            )

    def _created(self, payload: ArtifactCreated) -> None:
        if payload.kind == "image":
            self._pictures.append(payload.artifact_id)

    def _resolved(self, payload: ApprovalResolved) -> None:
        if payload.decision == "denied" and payload.stop is True:
            self._state = replace(self._state, ended=Failed("approval_denied", told.STOPPED_BY_DENIAL))

    def _unparsed(self, payload: AgentUnparsed) -> None:
        self._state = replace(
            self._state, messages=(*self._state.messages, simulated.correction(payload.error)), ended=None
        )

    def _warned(self, _: CostBudgetWarning) -> None:
        self._state = replace(self._state, warned=True)

    def _exceeded(self, payload: CostBudgetExceeded) -> None:
        self._state = replace(self._state, ended=over_budget(payload))

    def _lacking(self, payload: ErrorModelCapabilityMissing) -> None:
        if payload.missing_capability == "tool_use":
            self._state = replace(self._state, simulated=True)
        elif payload.missing_capability == "images":
            self._state = replace(self._state, blind=True)

    def _upstream_failed(self, _: ErrorUpstream) -> None:
        self._upstream = self._turn_open

    def _rewrote(self, _: PolicyModelRewrote) -> None:
        self._state = replace(self._state, rewritten=True)

    def _run_over(self, payload: RunFinished | RunFailed | RunCancelled) -> None:
        ended = self._state.ended
        if isinstance(payload, RunFailed):
            ended = Failed(payload.code, payload.message, payload.retriable)
        elif isinstance(payload, RunFinished):
            ended = ended or Finished()
        self._state = replace(self._state, phase="over", ended=ended)


def media_text(mime: str, artifact_id: str) -> str:
    """The words that stand in the conversation for something else than words that the model made."""
    return f"[{mime}: {artifact_id}]"


_RULES: dict[type[Payload] | type[Opaque], Callable[..., None]] = {
    UserMessage: _Fold._user,
    UserAttachment: _Fold._attachment,
    TurnStarted: _Fold._turn_started,
    TurnCompleted: _Fold._turn_completed,
    TurnFailed: _Fold._turn_failed,
    AssistantTextComplete: _Fold._text,
    AssistantThinkingComplete: _Fold._thinking,
    AssistantMedia: _Fold._media,
    AssistantToolCallProposed: _Fold._proposed,
    AssistantFinalAnswer: _Fold._final,
    AgentUnparsed: _Fold._unparsed,
    ToolInvoked: _Fold._invoke,
    ToolStarted: _Fold._started,
    ToolCompleted: _Fold._tool_over,
    ToolFailed: _Fold._tool_over,
    ToolCancelled: _Fold._tool_over,
    ToolTimedOut: _Fold._tool_over,
    PolicyToolBlocked: _Fold._blocked,
    PolicyModelRewrote: _Fold._rewrote,
    ApprovalResolved: _Fold._resolved,
    ArtifactCreated: _Fold._created,
    CostBudgetWarning: _Fold._warned,
    CostBudgetExceeded: _Fold._exceeded,
    ErrorModelCapabilityMissing: _Fold._lacking,
    ErrorUpstream: _Fold._upstream_failed,
    RunFinished: _Fold._run_over,
    RunFailed: _Fold._run_over,
    RunCancelled: _Fold._run_over,
}
