"""What is sent to an AgentOS, and what never is."""

import json

import msgspec
import pytest

from runwire.agents.agno.deciding import Approved, Chosen, Decision, Executed, Filled, Rejected, RequestRefused
from runwire.agents.agno.dialect import AgnoDialect
from runwire.agents.agno.frames import Paused
from runwire.agents.agno.pausing import Of
from runwire.agents.agno.requests import FIELD_MAX_BYTES, Pause, Request, Target, cancel, go_on, poll, resume, start
from runwire.agents.dialect import Cancelled, Question, Telling
from runwire.host import Answer, Finished
from tests.agents.agno_streams import Object, event, heard, paused, tool, types

AGENT = Target("agent", "spike")
CONFIRM = tool("t1", requires_confirmation=True)
FEEDBACK = tool(
    "t1",
    "ask_user",
    requires_user_input=True,
    user_feedback_schema=[
        {"question": "Colour?", "header": "C", "options": [{"label": "red"}, {"label": "blue"}], "multi_select": False}
    ],
)
INPUT = tool(
    "t1",
    "send_email",
    requires_user_input=True,
    user_input_schema=[{"name": "subject", "value": "Hi"}, {"name": "to", "value": None}],
)
EXTERNAL = tool("t1", "run_remote", external_execution_required=True)


def pause_of(*tools: Object, of: Of = "agent") -> Pause:
    return Pause.seen(msgspec.convert(paused(*tools), Paused), of)


def sent(request: Request, name: str) -> list[Object]:
    found: list[Object] = json.loads(dict(request.form)[name])
    return found


# Requests.


def test_a_run_is_started_with_everything_said() -> None:
    request = start(AGENT, "hi & bye", session_id="s", user_id="u", background=True)
    assert (request.method, request.url) == ("POST", "/agents/spike/runs")
    assert request.form == (
        ("message", "hi & bye"),
        ("stream", "true"),
        ("session_id", "s"),
        ("user_id", "u"),
        ("background", "true"),
    )
    assert request.body.startswith(b"message=hi+%26+bye&stream=true")


@pytest.mark.parametrize(("of", "path"), [("agent", "agents"), ("team", "teams"), ("workflow", "workflows")])
def test_paths_are_those_of_agents_teams_and_workflows(of: Of, path: str) -> None:
    target = Target(of, "a/b")
    assert start(target, "x").path == f"/{path}/a%2Fb/runs"
    assert cancel(target, "r").url == f"/{path}/a%2Fb/runs/r/cancel"
    assert cancel(target, "r", session_id="s").url == f"/{path}/a%2Fb/runs/r/cancel?session_id=s"
    assert resume(target, "r", session_id="s", last_event_index=5).form == (
        ("last_event_index", "5"),
        ("session_id", "s"),
    )
    assert poll(target, "r", session_id="s") == Request("GET", f"/{path}/a%2Fb/runs/r", query=(("session_id", "s"),))


@pytest.mark.parametrize("message", ["", "  \n"])
def test_an_empty_message_is_refused(message: str) -> None:
    with pytest.raises(RequestRefused, match="empty"):
        start(AGENT, message)


def test_a_field_that_the_server_would_refuse_is_refused() -> None:
    with pytest.raises(RequestRefused, match="bytes"):
        start(AGENT, "x" * (FIELD_MAX_BYTES + 1))
    pause = pause_of(EXTERNAL)
    pause.decide("t1", Executed("x" * FIELD_MAX_BYTES))
    with pytest.raises(RequestRefused, match="bytes"):
        go_on(AGENT, pause)
    assert not pause.is_spent


@pytest.mark.parametrize("run_id", [""])
def test_a_run_without_an_id_is_no_run(run_id: str) -> None:
    with pytest.raises(RequestRefused, match="run"):
        cancel(AGENT, run_id)


# Decisions.


def test_calls_go_back_whole_with_the_decision_in_them() -> None:
    one, other = CONFIRM, tool("t2", requires_confirmation=True)
    pause = pause_of(one, other)
    pause.decide("t1", Approved())
    pause.decide("t2", Rejected("not this"))
    request = go_on(AGENT, pause, user_id="u")
    assert request.path == "/agents/spike/runs/run-1/continue"
    assert [name for name, _ in request.form] == ["tools", "session_id", "user_id", "stream"]
    assert sent(request, "tools") == [
        {**one, "confirmed": True},
        {**other, "confirmed": False, "confirmation_note": "not this"},
    ]


@pytest.mark.parametrize(
    ("wanted", "decision", "changes"),
    [
        (CONFIRM, Approved(args={"title": "B"}), {"confirmed": True, "tool_args": {"title": "B"}}),
        (EXTERNAL, Executed("out"), {"result": "out"}),
        (
            INPUT,
            Filled({"to": "a@b"}),
            {
                "answered": True,
                "user_input_schema": [{"name": "subject", "value": "Hi"}, {"name": "to", "value": "a@b"}],
            },
        ),
    ],
)
def test_only_what_was_decided_changes(wanted: Object, decision: Decision, changes: Object) -> None:
    pause = pause_of(wanted)
    pause.decide("t1", decision)
    assert sent(go_on(AGENT, pause), "tools") == [{**wanted, **changes}]


def test_a_choice_goes_back_beside_its_options() -> None:
    pause = pause_of(FEEDBACK)
    pause.decide("t1", Chosen({"Colour?": ["blue"]}))
    (answer,) = sent(go_on(AGENT, pause), "tools")
    (question,) = msgspec.convert(answer["user_feedback_schema"], list[dict[str, object]])
    assert (question["selected_options"], question["header"], answer["answered"]) == (["blue"], "C", True)


def test_a_team_s_decision_stands_in_the_requirement_and_in_the_call() -> None:
    pause = pause_of(CONFIRM, of="team")
    pause.decide("t1", Rejected("no"))
    (requirement,) = sent(go_on(Target("team", "crew"), pause), "requirements")
    assert requirement == {
        "id": "req-t1",
        "confirmation": False,
        "confirmation_note": "no",
        "tool_execution": {**CONFIRM, "confirmed": False, "confirmation_note": "no"},
    }


def flow(*steps: Object) -> Pause:
    frame = event("WorkflowPaused", session_id="s1", step_requirements=list(steps))
    return Pause.seen(msgspec.convert(frame, Paused), "workflow")


FLOW = Target("workflow", "flow")


def test_a_workflow_s_decision_stands_in_the_step_s_requirement() -> None:
    other = {"id": "old", "tool_execution": tool("t0", requires_confirmation=True), "confirmation": True}
    asked = {"id": "r", "tool_execution": CONFIRM}
    pause = flow({"step_id": "s", "executor_requirements": [other, asked]})
    assert pause.undecided == ("t1",)
    pause.decide("t1", Approved())
    assert sent(go_on(FLOW, pause), "step_requirements") == [
        {
            "step_id": "s",
            "executor_requirements": [
                other,
                {"id": "r", "confirmation": True, "tool_execution": {**CONFIRM, "confirmed": True}},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("step", "decision", "changes"),
    [
        ({"requires_confirmation": True}, Approved(), {"confirmed": True}),
        ({"requires_output_review": True}, Rejected("redo"), {"confirmed": False, "rejection_feedback": "redo"}),
        ({"requires_user_input": True}, Filled({"tone": "dry"}), {"user_input": {"tone": "dry"}}),
        (
            {"requires_route_selection": True, "available_choices": ["a", "b"]},
            Chosen({"": ["b"]}),
            {"selected_choices": ["b"]},
        ),
    ],
)
def test_a_step_itself_can_be_decided_about(step: Object, decision: Decision, changes: Object) -> None:
    asked = {"step_id": "s", "step_name": "review", **step}
    done = {"step_id": "d", "requires_confirmation": True, "confirmed": True}
    pause = flow(done, asked)
    pause.decide("s", decision)
    assert sent(go_on(FLOW, pause), "step_requirements") == [done, {**asked, **changes}]


# What is refused.


def test_a_decision_must_name_what_is_paused_now() -> None:
    done = tool("t0", requires_confirmation=True, confirmed=True, result="ok")
    pause = pause_of(done, CONFIRM)
    for key in ("t0", "t9", ""):
        with pytest.raises(RequestRefused, match="not what the run waits for"):
            pause.decide(key, Approved())


def test_nothing_is_no_decision() -> None:
    with pytest.raises(RequestRefused, match="nothing was decided"):
        pause_of(CONFIRM).decide("t1", None)


def test_everything_is_decided_at_once() -> None:
    pause = pause_of(CONFIRM, tool("t2", requires_confirmation=True))
    pause.decide("t1", Approved())
    with pytest.raises(RequestRefused, match="t2: nothing was decided"):
        go_on(AGENT, pause)
    pause.decide("t2", Approved())
    assert len(sent(go_on(AGENT, pause), "tools")) == 2


def test_a_pause_is_answered_once() -> None:
    pause = pause_of(CONFIRM)
    pause.decide("t1", Rejected())
    go_on(AGENT, pause)
    with pytest.raises(RequestRefused, match="would do again"):
        go_on(AGENT, pause)
    with pytest.raises(RequestRefused, match="decided before"):
        pause.decide("t1", Approved())


def test_a_decision_is_not_taken_back() -> None:
    pause = pause_of(CONFIRM)
    pause.decide("t1", Rejected())
    with pytest.raises(RequestRefused, match="decided before"):
        pause.decide("t1", Approved())


@pytest.mark.parametrize(
    ("wanted", "decision"),
    [
        (CONFIRM, Executed("x")),
        (CONFIRM, Approved(args={"other": 1})),
        (EXTERNAL, Approved()),
        (INPUT, Rejected()),
        (INPUT, Filled({})),
        (INPUT, Filled({"to": "x", "bcc": "y"})),
        (FEEDBACK, Chosen({})),
        (FEEDBACK, Chosen({"Colour?": ["green"]})),
        (FEEDBACK, Chosen({"Colour?": ["red", "blue"]})),
        (FEEDBACK, Chosen({"Size?": ["red"]})),
    ],
)
def test_a_decision_must_fit_what_is_waited_for(wanted: Object, decision: Decision) -> None:
    pause = pause_of(wanted)
    with pytest.raises(RequestRefused):
        pause.decide("t1", decision)
    assert pause.undecided == ("t1",)


def test_a_pause_of_somebody_else_is_not_answered() -> None:
    pause = pause_of(CONFIRM)
    pause.decide("t1", Approved())
    with pytest.raises(RequestRefused, match="team"):
        go_on(Target("team", "crew"), pause)


def test_a_pause_outlives_the_process_that_saw_it() -> None:
    pause = pause_of(CONFIRM)
    again = Pause.recalled(pause.remembered())
    again.decide("t1", Approved())
    assert sent(go_on(AGENT, again), "tools") == [{**CONFIRM, "confirmed": True}]
    spent = Pause.recalled(again.remembered())
    with pytest.raises(RequestRefused):
        go_on(AGENT, spent)


# Driven.


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
