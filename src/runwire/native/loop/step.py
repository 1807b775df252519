"""The machine: a state and something that happened in, the next state and what to do about it out. It does nothing itself."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from runwire.host import Ended, Failed, Finished, ModelRewrite
from runwire.native.errors import ModelFault
from runwire.native.loop import compact, simulated, spending, told
from runwire.native.loop.effects import (
    CallModel,
    Checkpoint,
    Effect,
    Emit,
    Finish,
    InvokeTools,
    Listen,
    Pause,
    Purpose,
)
from runwire.native.loop.inputs import Acted, Answered, Began, Heard, Input, ModelFailed
from runwire.native.loop.state import Assistant, Call, Image, Message, Phase, Rules, State, Text, Thinking, Usage, User
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantToolCallProposed
from runwire.protocol.events.cost import CostBudgetExceeded
from runwire.protocol.events.error import ErrorModelCapabilityMissing, ErrorUpstream
from runwire.protocol.events.policy import PolicyModelRewrote, PolicyToolBlocked
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.payload import Payload

Stepped = tuple[State, tuple[Effect, ...]]

MALFORMED = "_malformed_arguments"
"""The one key of a proposed call's input when the model wrote no JSON object: its value is what the model wrote."""
WORKER_LOST = "worker_lost"
GO_ON = User((Text("Go on."),))

_SUMMARY_MAX = 500
_RETRY_BASE_S, _RETRY_MAX_S, _RETRY_AFTER_MAX_S = 1.0, 30.0, 120.0
_RETRIABLE = frozenset({"model_unreachable", "model_timeout", "rate_limited", "malformed_stream"})
# What is no failure of a provider's service, or is mended without another try.
_NOT_UPSTREAM = frozenset({"script_exhausted", "capability_missing", "context_overflow"})


def step(state: State, event: Input, rules: Rules) -> Stepped:
    """Say what follows from something that happened."""
    match event:
        case Began():
            return _began(state, rules)
        case Heard():
            return _heard(state, event, rules)
        case Answered():
            return _compacted(state, event, rules) if state.phase == "compacting" else _answered(state, event, rules)
        case ModelFailed():
            return _failed(state, event, rules)
        case Acted():
            return _acted(state, event)
        case _:
            assert_never(event)


def rewrite_of(asked: str, rewrites: Sequence[ModelRewrite]) -> ModelRewrite | None:
    """The first rule that replaces this `provider:name`; None when none does."""
    return next((rule for rule in rewrites if fnmatchcase(asked, rule.from_) and rule.to != asked), None)


def used_model(rules: Rules) -> str:
    """The `provider:name` that is called in the end."""
    rule = rewrite_of(rules.asked, rules.rewrites)
    return rules.asked if rule is None else rule.to


def nudged(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """A conversation that the model can answer: one that ends with its own words is followed by a word of ours."""
    return (*messages, GO_ON) if messages and isinstance(messages[-1], Assistant) else messages


def given_up(code: str, message: str) -> Failed:
    """How a run ends when its model could not be made to answer."""
    return Failed(code, message, retriable=code in _RETRIABLE)


def counted(state: State, usage: Usage, cost_micros_usd: int) -> State:
    """The state with tokens and money added. What was written to caches is left out: events do not tell it."""
    seen = Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
    )
    return replace(state, usage=state.usage + seen, cost_micros_usd=state.cost_micros_usd + cost_micros_usd)


def counted_failed(state: State, usage: Usage | None, cost_micros_usd: int) -> State:
    """The state with what a failed turn cost, as far as its event tells that."""
    if usage is None:
        return state
    told_of = Usage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    return counted(state, told_of, cost_micros_usd)


def answer_of(parts: tuple[Text | Thinking | Call, ...]) -> tuple[Message, ...]:
    """The answer as a message; none when the model said nothing."""
    return (Assistant(parts),) if parts else ()


def proposed_input(call: Call) -> dict[str, object]:
    """The arguments as the log keeps them, also when they are no JSON object."""
    return dict(call.input) if call.malformed is None else {MALFORMED: call.malformed}


def _began(state: State, rules: Rules) -> Stepped:
    payloads: list[Payload] = []
    state = replace(state, model=used_model(rules))
    if state.phase == "calling":
        # Nobody closed the turn that a lost worker had open.
        payloads.append(
            TurnFailed(turn_index=state.turn, code=WORKER_LOST, message="the worker was lost", will_retry=True)
        )
        state = replace(state, phase="ready")
    rule = rewrite_of(rules.asked, rules.rewrites)
    if rule is not None and not state.rewritten:
        payloads.append(PolicyModelRewrote(from_model=rules.asked, to_model=rule.to, reason=rule.reason))
        state = replace(state, rewritten=True)
    if rules.tools and not rules.has_tools and not state.simulated:
        payloads.append(_lacking(state, "tool_use", simulated.STRATEGY))
        state = replace(state, simulated=True)
    before: tuple[Effect, ...] = (Emit(tuple(payloads)),) if payloads else ()
    state, effects = _onward(state, rules)
    return state, before + effects


def _onward(state: State, rules: Rules) -> Stepped:
    if state.phase == "over" or isinstance(state.ended, Failed):
        ended = state.ended or Failed("cancelled", "the run was cancelled")
        return replace(state, phase="over", ended=ended), (Finish(ended),)
    if state.calls:
        return _act(state, rules, 0)
    return state, (Listen(),)


def _act(state: State, rules: Rules, spent: int) -> Stepped:
    """Run the calls that are not over yet, unless there is no money for the turn after them."""
    if not spending.exceeded(state, rules, spent):
        return replace(state, phase="acting"), (InvokeTools(state.calls),)
    reason = "the budget is spent"
    blocks = tuple(
        PolicyToolBlocked(tool_call_id=call.call_id, tool_name=call.name, reason=reason, policy_id="budget")
        for call in state.calls
    )
    state = replace(
        state, messages=told.with_told(state.messages, [told.of_block(block) for block in blocks]), calls=()
    )
    return _halt(state, rules, spent, blocks)


def _halt(state: State, rules: Rules, spent: int, before: tuple[Payload, ...] = ()) -> Stepped:
    halted = spending.halted(state, rules, spent)
    return _over(state, over_budget(halted), Emit((*before, halted)))


def over_budget(halted: CostBudgetExceeded) -> Failed:
    """How a run ends that has no money left."""
    spent, budget = halted.cumulative_cost_micros_usd, halted.task_budget_micros_usd
    return Failed("budget_exceeded", f"{spent} of {budget} micro-dollars are spent")


def _over(state: State, ended: Ended, *before: Effect) -> Stepped:
    return replace(state, phase="over", ended=ended), (*before, Finish(ended))


def _heard(state: State, event: Heard, rules: Rules) -> Stepped:
    if event.said:
        users = tuple(User((Text(said.text),)) for said in event.said)
        state = replace(state, messages=state.messages + users, ended=None)
    if state.ended is not None:
        return _over(state, state.ended)
    if spending.exceeded(state, rules, event.task_spent_micros_usd):
        return _halt(state, rules, event.task_spent_micros_usd)
    if state.turn >= rules.max_turns:
        return _over(state, Failed("max_turns", f"the run took {state.turn} turns without coming to an end"))
    compacting = state.phase == "compacting" or compact.due(state, rules)
    return _call(state, rules, "compaction" if compacting else "turn")


def _call(state: State, rules: Rules, purpose: Purpose) -> Stepped:
    payloads: list[Payload] = []
    state = replace(
        state, phase="calling" if purpose == "turn" else "compacting", messages=nudged(state.messages), ended=None
    )
    if not rules.sees_images and not state.blind and _has_images(state.messages):
        payloads.append(_lacking(state, "images", "left_out"))
        state = replace(state, blind=True)
    payloads.append(
        TurnStarted(
            turn_index=state.turn,
            model=rules.model,
            provider=rules.provider,
            input_tokens_estimate=compact.expected(state),
        )
    )
    messages, tools = state.messages, tuple(rules.tools)
    if purpose == "compaction":
        messages, tools = compact.request(messages, rules.window_tokens), ()
    asks_in_text = state.simulated and bool(rules.tools)
    call = CallModel(
        turn=state.turn,
        attempt=state.attempt,
        messages=simulated.plain(messages) if asks_in_text else messages,
        tools=tools,
        simulated=asks_in_text,
        purpose=purpose,
    )
    return state, (Emit(tuple(payloads)), call)


def _answered(state: State, event: Answered, rules: Rules) -> Stepped:
    calls = tuple(part for part in event.parts if isinstance(part, Call))
    final = not calls and not event.unparsed
    summary = _words(event.parts)[:_SUMMARY_MAX]
    payloads: list[Payload] = [
        AssistantToolCallProposed(
            turn_index=state.turn, tool_call_id=call.call_id, tool_name=call.name, input=proposed_input(call)
        )
        for call in calls
    ]
    if final:
        payloads.append(AssistantFinalAnswer(turn_index=state.turn, summary=summary))
    payloads.append(_turn_completed(state, event, len(calls), "tool_use" if calls else event.stop_reason))
    if event.unparsed:
        payloads.append(AgentUnparsed(raw=_words(event.parts), error=event.unparsed))
    state = replace(
        counted(state, event.usage, event.cost_micros_usd),
        phase="acting" if calls else "ready",
        answered=state.answered + 1,
        turn=state.turn + 1,
        attempt=1,
        messages=state.messages
        + answer_of(event.parts)
        + ((simulated.correction(event.unparsed),) if event.unparsed else ()),
        calls=calls,
        last_input_tokens=event.usage.input_tokens,
        compacted=False,
        ended=Finished(summary) if final else None,
    )
    return _paid(state, rules, payloads, event.task_spent_micros_usd)


def _compacted(state: State, event: Answered, rules: Rules) -> Stepped:
    messages = compact.compacted(state.messages, _words(event.parts))
    payload = _turn_completed(state, event, 0, compact.STOP_REASON)
    state = replace(
        counted(state, event.usage, event.cost_micros_usd),
        phase="ready",
        answered=state.answered + 1,
        turn=state.turn + 1,
        attempt=1,
        messages=messages,
        last_input_tokens=0,
        compacted=True,
    )
    return _paid(state, rules, [payload], event.task_spent_micros_usd)


def _paid(state: State, rules: Rules, payloads: list[Payload], spent: int) -> Stepped:
    """Tell of a completed turn and its cost, then go on to what it asked for."""
    payloads.append(spending.tick(state, rules, spent))
    warning = spending.warning(state, rules, spent)
    if warning is not None:
        payloads.append(warning)
        state = replace(state, warned=True)
    told_of: tuple[Effect, ...] = (Emit(tuple(payloads)), Checkpoint())
    if state.calls:
        state, effects = _act(state, rules, spent)
        return state, told_of + effects
    return state, (*told_of, Listen())


def _failed(state: State, event: ModelFailed, rules: Rules) -> Stepped:
    fault = event.error
    state = counted_failed(state, fault.usage, event.cost_micros_usd)
    compacting = state.phase == "compacting"
    payloads: list[Payload] = []
    if fault.code not in _NOT_UPSTREAM:
        payloads.append(_upstream(state, fault, rules))
    if fault.code == "capability_missing" and rules.tools and not state.simulated:
        payloads.append(_lacking(state, "tool_use", simulated.STRATEGY))
        next_state, pause = replace(state, simulated=True, phase="compacting" if compacting else "ready"), None
    elif fault.code == "context_overflow" and not compacting and compact.possible(state):
        next_state, pause = replace(state, phase="compacting"), None
    elif fault.retriable and state.attempt < rules.max_attempts:
        phase: Phase = "compacting" if compacting else "ready"
        next_state, pause = replace(state, attempt=state.attempt + 1, phase=phase), _pause(state.attempt, fault)
    else:
        payloads.append(_turn_failed(state, event, will_retry=False))
        return _over(state, given_up(fault.code, fault.message), Emit(tuple(payloads)))
    payloads.append(_turn_failed(state, event, will_retry=True))
    waiting = () if pause is None else (pause,)
    return next_state, (Emit(tuple(payloads)), *waiting, Listen())


def _acted(state: State, event: Acted) -> Stepped:
    over = {one.call_id for one in event.told}
    state = replace(
        state,
        messages=told.with_told(state.messages, event.told),
        calls=tuple(call for call in state.calls if call.call_id not in over),
    )
    if event.stop:
        return _over(state, Failed("approval_denied", told.STOPPED_BY_DENIAL))
    return replace(state, phase="ready", calls=()), (Listen(),)


def _turn_completed(state: State, event: Answered, calls: int, stop_reason: str) -> TurnCompleted:
    return TurnCompleted(
        turn_index=state.turn,
        input_tokens=event.usage.input_tokens,
        output_tokens=event.usage.output_tokens,
        cached_input_tokens=event.usage.cache_read_tokens,
        cost_micros_usd=event.cost_micros_usd,
        duration_ms=event.duration_ms,
        tool_calls=calls,
        stop_reason=stop_reason,
    )


def _turn_failed(state: State, event: ModelFailed, *, will_retry: bool) -> TurnFailed:
    fault = event.error
    used = fault.usage
    return TurnFailed(
        turn_index=state.turn,
        code=fault.code,
        message=fault.message,
        will_retry=will_retry,
        input_tokens=UNSET if used is None else used.input_tokens,
        output_tokens=UNSET if used is None else used.output_tokens,
        cost_micros_usd=UNSET if used is None else event.cost_micros_usd,
    )


def _upstream(state: State, fault: ModelFault, rules: Rules) -> ErrorUpstream:
    return ErrorUpstream(
        provider=rules.provider,
        status=fault.status,
        message=fault.message,
        retriable=fault.retriable,
        attempt=state.attempt,
        max_attempts=rules.max_attempts,
    )


def _lacking(state: State, capability: str, strategy: str) -> ErrorModelCapabilityMissing:
    return ErrorModelCapabilityMissing(model=state.model, missing_capability=capability, fallback_strategy=strategy)


def _pause(attempt: int, fault: ModelFault) -> Pause:
    if fault.retry_after_s is not None:
        return Pause(min(max(fault.retry_after_s, 0.0), _RETRY_AFTER_MAX_S), jitter=False)
    return Pause(min(_RETRY_BASE_S * 2 ** (attempt - 1), _RETRY_MAX_S))


def _words(parts: tuple[Text | Thinking | Call, ...]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _has_images(messages: tuple[Message, ...]) -> bool:
    return any(isinstance(part, Image) for message in messages for part in message.parts)
