"""The machine by itself: one state and one input at a time."""

import pytest
from msgspec.structs import replace

from runwire.host import Failed, Finished, ModelRewrite, Said, ToolSpec
from runwire.native.errors import ModelFault
from runwire.native.loop.effects import CallModel, Checkpoint, Effect, Emit, Finish, InvokeTools, Listen, Pause
from runwire.native.loop.inputs import Acted, Answered, Began, Heard, ModelFailed
from runwire.native.loop.state import Assistant, Call, Rules, State, Text, Told, Usage, User
from runwire.native.loop.step import GO_ON, rewrite_of, step
from runwire.protocol.events.turn import TurnFailed, TurnStarted

RULES = Rules(
    provider="scripted",
    model="test",
    asked="scripted:test",
    tools=(ToolSpec("echo", "say", {"type": "object"}),),
    window_tokens=1_000,
    max_turns=5,
    may_emit=lambda _: True,
)
ASKED = State(messages=(User((Text("do it"),)),), model="scripted:test")
CALL = Call("call_1", "echo", {"word": "ho"})


def types(effects: tuple[Effect, ...]) -> list[str]:
    """Effects as words: the types of events, and the names of everything else."""
    words: list[str] = []
    for effect in effects:
        words += [one.type for one in effect.payloads] if isinstance(effect, Emit) else [type(effect).__name__]
    return words


def answered(*parts: Text | Call, cost: int = 0, stop: str = "end_turn") -> Answered:
    usage = Usage(input_tokens=10, output_tokens=2)
    return Answered(parts=parts, usage=usage, cost_micros_usd=cost, duration_ms=1, stop_reason=stop)


def fault(code: str, *, retriable: bool = False, after: float | None = None) -> ModelFailed:
    return ModelFailed(error=ModelFault(code, "no", status=500, retriable=retriable, retry_after_s=after))


def calling(state: State = ASKED, rules: Rules = RULES) -> State:
    """The state with a call of the model under way."""
    return step(state, Heard(), rules)[0]


def test_a_run_listens_before_it_calls_the_model() -> None:
    state, effects = step(ASKED, Began(), RULES)
    assert effects == (Listen(),)

    state, effects = step(state, Heard(), RULES)
    assert types(effects) == ["turn.started", "CallModel"]
    assert state.phase == "calling"
    (_, call) = effects
    assert isinstance(call, CallModel)
    assert (call.turn, call.attempt, call.purpose, call.tools) == (0, 1, "turn", RULES.tools)


def test_what_was_heard_is_part_of_the_question() -> None:
    state, effects = step(ASKED, Heard(said=(Said("hurry", "ann", "message"),)), RULES)

    call = effects[-1]
    assert isinstance(call, CallModel)
    assert call.messages[-1] == User((Text("hurry"),))
    assert state.messages == call.messages


def test_an_answer_without_calls_ends_the_run_once_nobody_says_more() -> None:
    state, effects = step(calling(), answered(Text("done")), RULES)
    assert types(effects) == ["assistant.final_answer", "turn.completed", "cost.tick", "Checkpoint", "Listen"]

    finished, effects = step(state, Heard(), RULES)
    assert effects == (Finish(Finished("done")),)
    assert finished.phase == "over"

    going_on, effects = step(state, Heard(said=(Said("more", "ann", "message"),)), RULES)
    assert types(effects) == ["turn.started", "CallModel"]
    assert (going_on.turn, going_on.ended) == (1, None)


def test_calls_are_invoked_and_their_results_stand_in_the_order_of_the_calls() -> None:
    other = replace(CALL, call_id="call_2")
    state, effects = step(calling(), answered(CALL, other), RULES)
    assert types(effects)[-2:] == ["Checkpoint", "InvokeTools"]
    assert effects[-1] == InvokeTools((CALL, other))

    told = (Told("call_2", (Text("b"),)), Told("call_1", (Text("a"),)))
    state, effects = step(state, Acted(told), RULES)
    assert effects == (Listen(),)
    assert [one.call_id for one in state.messages if isinstance(one, Told)] == ["call_1", "call_2"]
    assert state.calls == ()


def test_a_denial_may_end_the_run() -> None:
    state, _ = step(calling(), answered(CALL), RULES)
    state, effects = step(state, Acted((), stop=True), RULES)

    assert isinstance(effects[-1], Finish)
    assert isinstance(state.ended, Failed)
    assert state.ended.code == "approval_denied"
    # Taken up again before the end was told, it comes to the same end.
    assert step(state, Began(), RULES)[1] == (Finish(state.ended),)


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_failure_that_may_pass_is_waited_out(attempt: int) -> None:
    state, effects = step(replace(calling(), attempt=attempt), fault("rate_limited", retriable=True), RULES)

    assert types(effects) == ["error.upstream", "turn.failed", "Pause", "Listen"]
    assert Pause(float(2 ** (attempt - 1))) in effects
    assert (state.attempt, state.turn, state.phase) == (attempt + 1, 0, "ready")


def test_a_provider_cannot_make_us_wait_for_ever() -> None:
    _, effects = step(calling(), fault("rate_limited", retriable=True, after=9_999.0), RULES)

    assert Pause(120.0, jitter=False) in effects


def test_the_last_attempt_ends_the_run() -> None:
    state, effects = step(replace(calling(), attempt=3), fault("model_unreachable", retriable=True), RULES)

    assert types(effects) == ["error.upstream", "turn.failed", "Finish"]
    assert state.ended == Failed("model_unreachable", "no", retriable=True)


def test_a_model_that_turns_out_to_know_no_tools_is_asked_in_words() -> None:
    state, effects = step(calling(), fault("capability_missing"), RULES)
    assert types(effects) == ["error.model_capability_missing", "turn.failed", "Listen"]

    _, effects = step(state, Heard(), RULES)
    call = effects[-1]
    assert isinstance(call, CallModel)
    assert (call.simulated, call.attempt) == (True, 1)
    # It does not happen twice.
    assert isinstance(step(calling(state), fault("capability_missing"), RULES)[0].ended, Failed)


def test_a_turn_that_a_lost_worker_left_open_is_closed_first() -> None:
    _, effects = step(replace(ASKED, phase="calling"), Began(), RULES)

    assert types(effects) == ["turn.failed", "Listen"]
    assert isinstance(effects[0], Emit)
    (failed,) = effects[0].payloads
    assert isinstance(failed, TurnFailed)
    assert failed.will_retry


def test_a_run_that_is_taken_up_makes_the_calls_that_are_left() -> None:
    asked = replace(ASKED, messages=(*ASKED.messages, Assistant((CALL,))), calls=(CALL,), turn=1)

    assert step(asked, Began(), RULES)[1] == (InvokeTools((CALL,)),)


def test_calls_that_cannot_be_paid_for_are_blocked() -> None:
    rules = replace(RULES, budget_micros_usd=100)
    state, effects = step(calling(rules=rules), answered(CALL, cost=100), rules)

    assert types(effects) == [
        "assistant.tool_call_proposed",
        "turn.completed",
        "cost.tick",
        "cost.budget_warning",
        "Checkpoint",
        "policy.tool_blocked",
        "cost.budget_exceeded",
        "Finish",
    ]
    assert isinstance(state.messages[-1], Told)
    assert step(state, Began(), rules)[1] == (Finish(state.ended or Finished()),)


def test_an_answer_that_spent_the_last_of_the_money_still_counts() -> None:
    rules = replace(RULES, budget_micros_usd=100)
    state, _ = step(calling(rules=rules), answered(Text("done"), cost=200), rules)

    assert step(state, Heard(), rules)[1] == (Finish(Finished("done")),)


def test_what_children_spent_counts_too() -> None:
    rules = replace(RULES, budget_micros_usd=100)
    _, effects = step(ASKED, Heard(task_spent_micros_usd=100), rules)

    assert types(effects) == ["cost.budget_exceeded", "Finish"]


def test_turns_are_counted() -> None:
    _, effects = step(replace(ASKED, turn=5), Heard(), RULES)

    assert isinstance(effects[-1], Finish)
    assert isinstance(effects[-1].ended, Failed)
    assert effects[-1].ended.code == "max_turns"


def test_a_full_window_is_summarised_first() -> None:
    long = tuple(
        message
        for at in range(3)
        for message in (Assistant((replace(CALL, call_id=f"c{at}"),)), Told(f"c{at}", (Text("x" * 400),)))
    )
    state = replace(ASKED, messages=ASKED.messages + long, last_input_tokens=900, turn=3)
    state, effects = step(state, Heard(), RULES)
    call = effects[-1]
    assert isinstance(call, CallModel)
    assert (call.purpose, call.tools, state.phase) == ("compaction", (), "compacting")

    state, effects = step(state, answered(Text("so far so good")), RULES)
    assert types(effects) == ["turn.completed", "cost.tick", "Checkpoint", "Listen"]
    assert Checkpoint() in effects
    assert len(state.messages) == 5
    assert (state.turn, state.compacted) == (4, True)
    assert types(step(state, Heard(), RULES)[1]) == ["turn.started", "CallModel"]


def test_a_summary_that_fails_is_tried_again() -> None:
    state = replace(ASKED, phase="compacting")
    state, effects = step(state, Heard(), RULES)
    assert isinstance(effects[-1], CallModel)
    assert effects[-1].purpose == "compaction"

    state, _ = step(state, fault("model_timeout", retriable=True), RULES)
    assert state.phase == "compacting"


def test_what_the_model_said_last_is_followed_by_a_word_of_ours() -> None:
    _, effects = step(replace(ASKED, messages=(*ASKED.messages, Assistant((Text("x"),)))), Heard(), RULES)

    call = effects[-1]
    assert isinstance(call, CallModel)
    assert call.messages[-1] == GO_ON


def test_a_started_turn_names_the_model_that_is_called() -> None:
    _, effects = step(ASKED, Heard(), RULES)
    assert isinstance(effects[0], Emit)
    (started,) = effects[0].payloads

    assert isinstance(started, TurnStarted)
    assert (started.provider, started.model) == ("scripted", "test")


def test_the_first_rule_that_fits_replaces_a_model() -> None:
    rules = [ModelRewrite(from_="openai:*", to="a:b"), ModelRewrite(from_="*", to="c:d")]

    assert rewrite_of("openai:gpt", rules) is rules[0]
    assert rewrite_of("x:y", rules) is rules[1]
    assert rewrite_of("c:d", rules) is None
