"""A driven run: its pauses are questions, and what people answer is what the server is sent, once."""

import json

import pytest

from runwire.agents.agno.deciding import RequestRefused
from runwire.agents.agno.dialect import AgnoDialect
from runwire.agents.agno.requests import Target, go_on
from runwire.agents.dialect import Cancelled, Question, Telling
from runwire.host import Answer, Finished
from tests.agents.agno_streams import (
    AGENT,
    CONFIRM,
    EXTERNAL,
    FEEDBACK,
    INPUT,
    Object,
    event,
    heard,
    paused,
    sent,
    tool,
    types,
)

FLOW = Target("workflow", "drafting")


def driven(*tools: Object) -> tuple[AgnoDialect, list[Question]]:
    dialect, items, _ = heard(event("RunStarted"), paused(*tools), driven=True)
    return dialect, [item for item in items if isinstance(item, Question)]


def feed(dialect: AgnoDialect, *events: Object) -> list[str]:
    for one in events:
        dialect.feed(json.dumps(one).encode(), 0, str(one["event"]))
    return types(dialect.teller.take())


def test_driven_a_question_is_answered_and_the_run_goes_on() -> None:
    dialect, (question,) = driven(CONFIRM)
    assert (question.question_id, question.tool_call_id, question.summary) == (
        "req-t1",
        "t1",
        "create_document(title='A')",
    )
    dialect.answer("req-t1", Answer(allowed=True, input={"title": "A"}, by="ada"))
    assert dialect.pause is not None
    assert sent(go_on(AGENT, dialect.pause), "tools") == [{**CONFIRM, "confirmed": True}]
    told = feed(
        dialect,
        event("RunContinued"),
        event("ToolCallStarted", tool=CONFIRM),
        event("ToolCallCompleted", tool={**CONFIRM, "result": "ok"}),
        event("RunCompleted", content="done"),
    )
    assert "approval.resolved" not in told
    assert told.count("tool.completed") == 1
    assert dialect.teller.outcome == Finished("done")


def test_driven_a_denied_call_is_blocked() -> None:
    dialect, _ = driven(CONFIRM)
    dialect.answer("req-t1", Answer(allowed=False, input={}, told="too risky", by="ada"))
    assert types(dialect.teller.take()) == ["policy.tool_blocked"]
    assert dialect.pause is not None
    assert sent(go_on(AGENT, dialect.pause), "tools")[0]["confirmation_note"] == "too risky"


def test_driven_an_edited_input_is_what_is_run() -> None:
    dialect, _ = driven(CONFIRM)
    dialect.answer("req-t1", Answer(allowed=True, input={"title": "B"}, edited=True))
    assert dialect.pause is not None
    assert sent(go_on(AGENT, dialect.pause), "tools")[0]["tool_args"] == {"title": "B"}


@pytest.mark.parametrize(
    ("wanted", "given", "field"),
    [
        (EXTERNAL, {"value": "total 0"}, "result"),
        (INPUT, {"value": "a@b"}, "user_input_schema"),
        (INPUT, {"value": '{"to":"a@b"}'}, "user_input_schema"),
        (INPUT, {"to": "a@b"}, "user_input_schema"),
        (FEEDBACK, {"value": "blue"}, "user_feedback_schema"),
        (FEEDBACK, {"Colour?": ["blue"]}, "user_feedback_schema"),
    ],
)
def test_driven_what_a_person_says_is_handed_on(wanted: Object, given: Object, field: str) -> None:
    dialect, _ = driven(wanted)
    dialect.answer("req-t1", Answer(allowed=True, input=given, edited=True))
    assert dialect.pause is not None
    (answer,) = sent(go_on(AGENT, dialect.pause), "tools")
    assert answer[field] != wanted[field]


def test_driven_what_cannot_be_refused_is_left_undecided() -> None:
    dialect, _ = driven(INPUT)
    with pytest.raises(RequestRefused, match="cancel the run"):
        dialect.answer("req-t1", Answer(allowed=False, input={}))
    assert dialect.teller.questions.open == ("req-t1",)


def test_driven_a_refused_external_call_says_so_to_the_model() -> None:
    dialect, _ = driven(EXTERNAL)
    dialect.answer("req-t1", Answer(allowed=False, input={}, told="no shell here"))
    assert dialect.pause is not None
    assert sent(go_on(AGENT, dialect.pause), "tools")[0]["result"] == "not executed: no shell here"


def test_driven_a_pause_that_is_told_again_is_not_asked_again() -> None:
    dialect, _ = driven(CONFIRM)
    dialect.answer("req-t1", Answer(allowed=True, input={}))
    first = dialect.pause
    assert first is not None
    go_on(AGENT, first)
    dialect.teller.take()
    assert feed(dialect, paused(CONFIRM)) == []
    assert dialect.pause is first
    assert not dialect.teller.questions


def test_driven_an_answer_to_nothing_is_refused() -> None:
    dialect, _ = driven(CONFIRM)
    with pytest.raises(RequestRefused):
        dialect.answer("req-t9", Answer(allowed=True, input={}))


def test_driven_a_cancel_is_remembered_also_from_before_the_run_began() -> None:
    dialect, _, _ = heard(driven=True)
    dialect.cancel("ada", "enough")
    feed(dialect, event("RunStarted"), event("RunCancelled", reason="Run run-1 was cancelled"))
    assert dialect.teller.outcome == Cancelled("ada", "enough")


def test_driven_a_run_that_an_earlier_worker_told_of_is_only_asked_what_it_waits_for() -> None:
    dialect = AgnoDialect(Telling(agent="agno", driven=True, first_turn=2))
    done = tool("t0", result="ok", tool_call_error=False)
    output = {"run_id": "run-1", "status": "PAUSED", "session_id": "s1", "content": "", "tools": [done, CONFIRM]}
    dialect.feed(json.dumps(output).encode(), 0)
    items = dialect.teller.take()
    assert [one.tool_call_id for one in items if isinstance(one, Question)] == ["t1"]
    assert "tool.completed" not in types(items)
    dialect.answer("t1", Answer(allowed=True, input={}))
    assert dialect.pause is not None
    assert go_on(AGENT, dialect.pause).path == "/agents/spike/runs/run-1/continue"


def test_calls_that_are_named_alike_are_told_apart_by_what_is_asked() -> None:
    made = tool("t1", requires_confirmation=True, confirmed=True, result="done")
    dialect, _ = driven(CONFIRM)
    dialect.answer("req-t1", Answer(allowed=True, input={}))
    first = dialect.pause
    assert first is not None
    go_on(AGENT, first)
    asked = [{"id": f"req-{number}", "tool_execution": one} for number, one in enumerate((made, CONFIRM))]
    feed(dialect, event("RunContinued"), paused(made, CONFIRM, requirements=asked))
    dialect.answer("req-1", Answer(allowed=False, input={}))
    assert dialect.pause is not None
    (back,) = sent(go_on(AGENT, dialect.pause), "tools")
    assert (back["tool_call_id"], back["confirmed"]) == ("t1", False)


def test_a_step_that_is_done_again_is_asked_about_again() -> None:
    step = {"step_id": "s1", "step_name": "draft", "requires_output_review": True, "output_review_message": "Good?"}
    first = {**step, "confirmed": None, "is_post_execution": True}
    second = {**first, "retry_count": 1}
    dialect, items, _ = heard(
        event("WorkflowStarted"), event("WorkflowPaused", session_id="s", step_requirements=[first]), driven=True
    )
    (question,) = [item for item in items if isinstance(item, Question)]
    assert (question.question_id, question.summary, question.fixed) == ("s1", "Good?", True)
    assert question.effects == frozenset()
    dialect.answer("s1", Answer(allowed=False, input={}, told="more"))
    assert dialect.pause is not None
    (back,) = sent(go_on(FLOW, dialect.pause), "step_requirements")
    assert (back["confirmed"], back["rejection_feedback"]) == (False, "more")
    again = event("WorkflowPaused", session_id="s", step_requirements=[back, second])
    for told in (event("StepContinued", step_id="s1"), event("StepStarted", step_id="s1"), again):
        dialect.feed(json.dumps(told).encode(), 0, str(told["event"]))
    (question,) = [item for item in dialect.teller.take() if isinstance(item, Question)]
    assert question.question_id == "s1#2"
    dialect.answer("s1#2", Answer(allowed=True, input={}))
    assert [one["confirmed"] for one in sent(go_on(FLOW, dialect.pause), "step_requirements")] == [False, True]


def test_what_a_step_does_is_feared_until_it_is_known() -> None:
    step = {"step_id": "s1", "step_name": "publish", "requires_confirmation": True, "confirmed": None}
    _, items, _ = heard(event("WorkflowStarted"), event("WorkflowPaused", step_requirements=[step]), driven=True)
    (question,) = [item for item in items if isinstance(item, Question)]
    assert question.effects == {"writes", "executes", "network"}
    assert question.input == {"step_name": "publish"}
