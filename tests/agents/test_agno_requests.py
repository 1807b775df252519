"""What is sent to an AgentOS, and what never is."""

import msgspec
import pytest

from runwire.agents.agno.deciding import Approved, Chosen, Decision, Executed, Filled, Rejected, RequestRefused
from runwire.agents.agno.frames import Paused
from runwire.agents.agno.pausing import Of
from runwire.agents.agno.requests import FIELD_MAX_BYTES, Pause, Request, Target, cancel, go_on, poll, resume, start
from tests.agents.agno_streams import AGENT, CONFIRM, EXTERNAL, FEEDBACK, INPUT, Object, event, paused, sent, tool


def pause_of(*tools: Object, of: Of = "agent") -> Pause:
    return Pause.seen(msgspec.convert(paused(*tools), Paused), of)


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
    assert request.content_type == "application/x-www-form-urlencoded"


def test_a_field_that_is_long_only_when_it_is_encoded_goes_as_a_part() -> None:
    message = "中" * (FIELD_MAX_BYTES // 4)
    request = start(AGENT, message, session_id="s")
    kind, _, boundary = request.content_type.partition("; boundary=")
    assert kind == "multipart/form-data"
    first, second, third, end = request.body.decode().split(f"--{boundary}")[1:]
    assert first == f'\r\ncontent-disposition: form-data; name="message"\r\n\r\n{message}\r\n'
    assert (second.partition("\r\n\r\n")[2], third.partition("\r\n\r\n")[2]) == ("true\r\n", "s\r\n")
    assert end == "--\r\n"


def test_what_a_field_holds_is_never_taken_for_the_end_of_its_part() -> None:
    plain = start(AGENT, "中" * (FIELD_MAX_BYTES // 4)).content_type.partition("; boundary=")[2]
    request = start(AGENT, "中" * (FIELD_MAX_BYTES // 4) + f"\r\n--{plain}--\r\n")
    boundary = request.content_type.partition("; boundary=")[2]
    assert request.body.decode().count(f"--{boundary}") == len(request.form) + 1


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
