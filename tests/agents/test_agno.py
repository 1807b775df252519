"""Agno: what its events become, trap by trap."""

import json

import pytest

from runwire.agents.agno.dialect import AgnoDialect
from runwire.agents.dialect import Cancelled, Item, Outcome, Telling
from runwire.agents.glasspane import Pane
from runwire.agents.normalising import Normaliser
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentStateChanged
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantTextComplete
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.tool import ToolCompleted, ToolFailed
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque
from tests.agents.agno_streams import Object, event, heard, lines, new, paused, sse, tool, types
from tests.agents.transcripts import breaches_of, items_of, kept, watched

STARTED = event("RunStarted", model="m", model_provider="p")
CONTINUED = event("RunContinued")
DONE = event("RunCompleted", content="done", metrics={"input_tokens": 10, "output_tokens": 2})


def told(*events: Object) -> tuple[list[Item], Outcome]:
    raw = sse(*events)
    assert breaches_of("agno", [raw]) == []
    return items_of("agno", [raw])


def of(kind: type, items: list[Item]) -> list[Item]:
    return [item for item in items if type(item) is kind]


def decisions(items: list[Item]) -> list[tuple[str, str, str]]:
    return [(one.approval_id, one.decision, one.by) for one in items if isinstance(one, ApprovalResolved)]


# Runs, turns and text.


def test_before_2_4_a_leg_is_one_turn() -> None:
    items, outcome = told(STARTED, event("RunContent", content="do"), event("RunContent", content="ne"), DONE)
    assert types(items) == [
        "turn.started",
        "assistant.text_delta",
        "assistant.text_complete",
        "assistant.final_answer",
        "turn.completed",
        "cost.tick",
        "agent.state_changed",
    ]
    assert outcome == Finished("done")


def test_from_2_4_on_a_call_of_the_model_is_a_turn() -> None:
    asked = new("ModelRequestStarted", model="m", model_provider="p")
    items, _ = told(
        new("RunStarted"),
        asked,
        new("ModelRequestCompleted", input_tokens=3, output_tokens=1),
        new("ToolCallStarted", tool=tool()),
        new("ToolCallCompleted", tool=tool(result="ok", tool_call_error=False)),
        asked,
        new("RunContent", content="hi"),
        new("ModelRequestCompleted", input_tokens=5, output_tokens=2),
        new("RunContentCompleted"),
        new("RunCompleted", content="hi", metrics={"input_tokens": 8, "output_tokens": 3}),
    )
    turns = [(one.input_tokens, one.stop_reason, one.tool_calls) for one in items if isinstance(one, TurnCompleted)]
    assert turns == [(3, "tool_use", 1), (5, "end_turn", 0)]


def test_a_release_that_tells_of_its_model_late_does_not_get_an_empty_turn() -> None:
    items, _ = told(STARTED, event("ModelRequestStarted", model="m"), event("RunContent", content="x"), DONE)
    assert types(items).count("turn.started") == 1


def test_text_that_comes_only_with_the_end_is_the_text() -> None:
    items, _ = told(STARTED, DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["done"]
    assert of(AssistantFinalAnswer, items)


def test_the_answer_is_the_last_text_and_not_all_of_them_run_together() -> None:
    items, _ = told(
        STARTED,
        event("RunContent", content="First. "),
        event("ToolCallStarted", tool=tool()),
        event("ToolCallCompleted", tool=tool(result="1")),
        event("RunContent", content="Last."),
        event("RunCompleted", content="First. Last."),
    )
    assert [one.summary for one in items if isinstance(one, AssistantFinalAnswer)] == ["Last."]


def test_empty_content_and_what_repeats_it_elsewhere_say_nothing() -> None:
    items, _ = told(STARTED, event("RunContent", content="", model_provider_data={"content": "done"}), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["done"]


def test_a_structured_answer_is_told_as_json() -> None:
    items, _ = told(STARTED, event("RunContent", content={"a": [1]}, content_type="Answer"), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ['{"a":[1]}']


def test_the_ends_of_lines_that_other_readers_see_are_text() -> None:
    items, _ = told(STARTED, event("RunContent", content="a\u2028b\u2029c\u0085d"), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["a\u2028b\u2029c\u0085d"]


def test_lines_without_the_framing_of_events_are_read_alike() -> None:
    events = (STARTED, event("RunContent", content="x"), event("ToolCallStarted", tool=tool()), DONE)
    assert items_of("agno", [lines(*events)]) == items_of("agno", [sse(*events)])


def test_data_without_a_name_in_the_framing_is_read_alike() -> None:
    events = (STARTED, event("RunContent", content="x"), DONE)
    bare = b"".join(b"data: " + line + b"\n\n" for line in lines(*events).splitlines())
    assert items_of("agno", [bare]) == items_of("agno", [sse(*events)])


# Tools.


@pytest.mark.parametrize("is_told_twice", [False, True])
def test_a_failure_is_counted_once(is_told_twice: bool) -> None:
    failed = tool(result="boom", tool_call_error=True, metrics={"duration": 0.004})
    again = [event("ToolCallError", tool=failed, error="boom")] if is_told_twice else []
    items, _ = told(
        STARTED, event("ToolCallStarted", tool=tool()), event("ToolCallCompleted", tool=failed), *again, DONE
    )
    assert [(one.message, one.duration_ms) for one in items if isinstance(one, ToolFailed)] == [("boom", 4)]


def test_an_error_that_alone_tells_of_a_failure_ends_the_call() -> None:
    items, _ = told(
        STARTED, event("ToolCallStarted", tool=tool()), event("ToolCallError", tool=tool(), error="x"), DONE
    )
    assert [one.message for one in items if isinstance(one, ToolFailed)] == ["x"]


def test_what_a_call_returned_is_told_in_json() -> None:
    done = tool(result="{'success': True, 'id': None}", tool_call_error=False)
    items, _ = told(STARTED, event("ToolCallStarted", tool=tool()), event("ToolCallCompleted", tool=done), DONE)
    assert [one.output for one in items if isinstance(one, ToolCompleted)] == ['{"success":true,"id":null}']


def test_a_shell_call_has_its_command() -> None:
    call = tool(name="run_shell_command", tool_args={"args": ["ls", "-l"]})
    items, _ = told(
        STARTED,
        event("ToolCallStarted", tool=call),
        event("ToolCallCompleted", tool={**call, "result": "total 0"}),
        DONE,
    )
    assert "tool.shell.command" in types(items)
    assert "tool.shell.output_chunk" in types(items)


def test_a_call_that_is_open_when_its_run_fails_has_failed() -> None:
    items, outcome = told(STARTED, event("ToolCallStarted", tool=tool()), event("RunError", content="broke"))
    assert [one.code for one in items if isinstance(one, ToolFailed)] == ["interrupted"]
    assert outcome == Failed("agno_error", "broke")


def test_what_a_tool_tells_in_its_own_words_is_kept() -> None:
    items, _ = told(STARTED, event("CustomEvent", tool_call_id="t1", pct=50, tool="hammer", error=7), DONE)
    custom = [one for one in items if isinstance(one, Opaque)]
    assert [one.type for one in custom] == ["external.agno.custom"]
    assert json.loads(bytes(custom[0].data))["pct"] == 50


# Pauses.


def test_an_approved_call_is_approved_and_made() -> None:
    wanted = tool(requires_confirmation=True)
    items, _ = told(
        STARTED,
        paused(wanted),
        CONTINUED,
        event("ToolCallStarted", tool={**wanted, "confirmed": True}),
        event("ToolCallCompleted", tool={**wanted, "confirmed": True, "result": "ok"}),
        event("RunContent", content="done"),
        DONE,
    )
    assert decisions(items) == [("req-t1", "approved", "operator")]
    order = types(items)
    assert order.index("approval.requested") < order.index("approval.resolved") < order.index("tool.invoked")
    assert order.count("assistant.tool_call_proposed") == 1


def test_a_rejected_call_is_denied_and_never_begins() -> None:
    items, outcome = told(
        STARTED, paused(tool(requires_confirmation=True)), CONTINUED, event("RunContent", content="ok"), DONE
    )
    assert decisions(items) == [("req-t1", "denied", "operator")]
    assert [one.tool_call_id for one in items if isinstance(one, PolicyToolBlocked)] == ["t1"]
    assert "tool.invoked" not in types(items)
    assert outcome == Finished("ok")


def test_a_decision_begins_no_turn() -> None:
    calls = new("ModelRequestStarted"), new("ModelRequestCompleted", input_tokens=1)
    for wanted in (tool(requires_confirmation=True), tool(external_execution_required=True)):
        items, _ = told(
            new("RunStarted"), *calls, paused(wanted), new("RunContinued"), *calls, new("RunCompleted", content="x")
        )
        assert [one.stop_reason for one in items if isinstance(one, TurnCompleted)] == ["tool_use", "end_turn"]


def test_of_two_calls_one_may_be_approved_and_one_rejected() -> None:
    one, other = tool("a", requires_confirmation=True), tool("b", requires_confirmation=True)
    items, _ = told(
        STARTED,
        paused(one, other),
        CONTINUED,
        event("ToolCallStarted", tool=other),
        event("ToolCallCompleted", tool={**other, "result": "ok"}),
        event("RunContent", content="done"),
        DONE,
    )
    assert decisions(items) == [("req-b", "approved", "operator"), ("req-a", "denied", "operator")]


def test_a_rejected_call_that_the_server_makes_after_all_is_another_call() -> None:
    wanted = tool(requires_confirmation=True)
    items, _ = told(
        STARTED,
        paused(wanted),
        CONTINUED,
        event("RunContent", content="no"),
        DONE,
        CONTINUED,
        event("ToolCallStarted", tool=wanted),
        event("ToolCallCompleted", tool={**wanted, "result": "did it"}),
        DONE,
    )
    assert [one.tool_call_id for one in items if isinstance(one, ToolCompleted)] == ["t1#2"]


def test_pauses_list_what_was_decided_before_and_only_what_is_open_is_asked() -> None:
    first = tool("a", requires_confirmation=True)
    answered = {**first, "confirmed": True, "result": "ok"}
    second = tool("b", requires_confirmation=True)
    again = paused(answered, second)
    again["requirements"] = [{"id": "req-a", "tool_execution": first}, {"id": "req-b", "tool_execution": second}]
    items, _ = told(
        STARTED,
        paused(first),
        CONTINUED,
        event("ToolCallStarted", tool=first),
        event("ToolCallCompleted", tool=answered),
        again,
        CONTINUED,
        event("ToolCallStarted", tool=second),
        event("ToolCallCompleted", tool={**second, "result": "ok"}),
        DONE,
    )
    assert [one.approval_id for one in items if isinstance(one, ApprovalRequested)] == ["req-a", "req-b"]
    assert [decision for _, decision, _ in decisions(items)] == ["approved", "approved"]


FEEDBACK = [{"question": "Colour?", "options": [{"label": "red"}, {"label": "blue"}], "multi_select": False}]
INPUT = [{"name": "city", "field_type": "str", "description": "", "value": None}]


@pytest.mark.parametrize(
    "wanted",
    [
        tool(name="ask_user", requires_user_input=True, user_feedback_schema=FEEDBACK),
        tool(name="get_user_input", requires_user_input=True, user_input_schema=INPUT),
        tool(name="run_remote", external_execution_required=True),
    ],
)
def test_what_a_person_answers_leaves_no_trace_but_is_told(wanted: Object) -> None:
    items, _ = told(STARTED, paused(wanted), CONTINUED, event("RunContent", content="thanks"), DONE)
    assert decisions(items) == [("req-t1", "approved", "operator")]
    assert len(of(ToolCompleted, items)) == 1


def test_a_call_that_runs_with_what_a_person_filled_in_is_told_by_its_events() -> None:
    wanted = tool(name="send_email", requires_user_input=True, user_input_schema=INPUT)
    items, _ = told(
        STARTED,
        paused(wanted),
        CONTINUED,
        event("ToolCallStarted", tool=wanted),
        event("ToolCallCompleted", tool={**wanted, "result": "sent"}),
        DONE,
    )
    assert [one.output for one in items if isinstance(one, ToolCompleted)] == ["sent"]


def test_the_kinds_of_pauses_become_kinds_of_questions() -> None:
    kinds = []
    for wanted in (
        tool(requires_confirmation=True),
        tool(requires_user_input=True, user_input_schema=INPUT),
        tool(requires_user_input=True, user_feedback_schema=FEEDBACK),
        tool(external_execution_required=True),
    ):
        _, items, _ = heard(STARTED, paused(wanted), driven=True)
        kinds += [(one.kind, list(one.choices)) for one in items if type(one).__name__ == "Question"]  # type: ignore[union-attr] # by its name
    assert kinds == [("permission", []), ("input", []), ("choice", ["red", "blue"]), ("external", [])]


def test_a_stream_that_ends_in_a_pause_leaves_nothing_open() -> None:
    items, outcome = told(STARTED, paused(tool(requires_confirmation=True)))
    assert decisions(items) == [("req-t1", "denied", "system")]
    assert outcome == Failed("unanswered", "the run waits for a decision", retriable=True)


def test_a_continue_that_is_refused_leaves_the_run_waiting() -> None:
    wanted = tool(external_execution_required=True)
    refused = event("RunError", None, content="no result")
    dialect, items, _ = heard(STARTED, paused(wanted), CONTINUED, refused)
    assert dialect.teller.questions.open == ("req-t1",)
    assert dialect.teller.questions
    assert [one.message for one in items if isinstance(one, TurnFailed)] == ["no result"]
    later, outcome = told(
        STARTED, paused(wanted), CONTINUED, refused, CONTINUED, event("RunContent", content="ok"), DONE
    )
    assert decisions(later) == [("req-t1", "approved", "operator")]
    assert outcome == Finished("ok")


def test_another_run_that_begins_while_one_waits_decides_nothing() -> None:
    items, _ = told(
        STARTED,
        paused(tool(requires_confirmation=True)),
        event("RunStarted", "run-2"),
        event("RunContent", "run-2", content="hi"),
        event("RunCompleted", "run-2", content="hi"),
    )
    assert decisions(items) == [("req-t1", "denied", "system")]
    assert not of(PolicyToolBlocked, items)


def test_a_paused_run_that_is_cancelled_is_denied_by_nobody() -> None:
    items, outcome = told(
        STARTED, paused(tool(requires_confirmation=True)), CONTINUED, event("RunCancelled", reason="stop"), DONE
    )
    assert decisions(items) == [("req-t1", "denied", "system")]
    assert outcome == Cancelled(reason="stop")


# Ends.


def test_the_first_end_of_a_leg_wins_and_the_second_is_kept() -> None:
    items, outcome = told(
        STARTED, event("RunContent", content="a"), event("RunCancelled", reason="stop", content="ab"), DONE
    )
    assert outcome == Cancelled(reason="stop")
    assert types(items)[-1] == "agent.unparsed"
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["ab"]
    assert not of(AssistantFinalAnswer, items)


def test_a_finished_run_that_goes_on_begins_another_leg() -> None:
    items, outcome = told(STARTED, DONE, CONTINUED, event("RunContent", content="more"), event("RunError", content="x"))
    assert types(items).count("agent.state_changed") == 2
    assert outcome == Failed("agno_error", "x")


def test_an_error_without_a_run_is_the_run_s() -> None:
    _, outcome = told(event("RunError", None, content="No runs found for run ID nope"))
    assert outcome == Failed("agno_error", "No runs found for run ID nope")


def test_the_failure_of_a_provider_is_one() -> None:
    text = "Error code: 529 - {'type': 'error'}"
    items, outcome = told(STARTED, event("RunError", content=text, error_type="model_provider_error"))
    assert "error.upstream" in types(items)
    assert outcome == Failed("model_provider_error", text)


def test_a_stream_that_breaks_off_has_not_ended_well() -> None:
    items, outcome = told(STARTED, event("RunContent", content="hal"))
    assert isinstance(outcome, Failed)
    assert outcome.code == "agent_exited"
    assert of(TurnFailed, items)


# Teams and workflows.


def test_a_member_s_run_neither_ends_nor_blocks_the_team() -> None:
    def child(name: str, **fields: object) -> Object:
        return event(name, "child", parent_run_id="run-1", **fields)

    items, outcome = told(
        event("TeamRunStarted", model="m"),
        event("TeamToolCallStarted", tool=tool("d", "delegate_task_to_member")),
        child("RunStarted"),
        child("RunContent", content="member says"),
        child("ToolCallStarted", tool=tool("c")),
        child("ToolCallCompleted", tool=tool("c", result="1")),
        child("RunPaused", tools=[tool("p", requires_confirmation=True)], requirements=[]),
        child("RunError", content="member failed"),
        child("RunCompleted", content="member says", metrics={"input_tokens": 7}),
        event("TeamToolCallCompleted", tool=tool("d", "delegate_task_to_member", result="it failed")),
        event("TeamRunContent", content="Team answer."),
        event("TeamRunCompleted", content="Team answer.", metrics={"input_tokens": 3}),
    )
    assert outcome == Finished("Team answer.")
    assert not of(ApprovalRequested, items)
    assert [one.kind for one in items if isinstance(one, ToolCompleted)] == ["tool", "delegate"]
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["Team answer."]
    assert [one.cumulative_input_tokens for one in items if isinstance(one, CostTick)] == [10]


def test_a_member_s_call_that_only_a_requirement_tells_of_is_asked_about() -> None:
    wanted = tool(requires_confirmation=True)
    pause = event(
        "TeamRunPaused", tools=[], requirements=[{"id": "r", "tool_execution": wanted, "member_run_id": "child"}]
    )
    items, _ = told(
        event("TeamRunStarted"),
        pause,
        event("TeamRunContinued"),
        event("ToolCallStarted", "child", parent_run_id="run-1", tool=wanted),
        event("ToolCallCompleted", "child", parent_run_id="run-1", tool={**wanted, "result": "1"}),
        event("TeamRunContent", content="ok"),
        event("TeamRunCompleted", content="ok"),
    )
    assert decisions(items) == [("r", "approved", "operator")]


def test_a_member_that_goes_on_decides_nothing_for_another() -> None:
    calls = {name: tool(f"t-{name}", requires_confirmation=True) for name in ("a", "b", "c")}
    waits = [{"id": name, "tool_execution": call, "member_run_id": name} for name, call in calls.items()]

    def child(name: str, run_id: str, **fields: object) -> Object:
        return event(name, run_id, parent_run_id="run-1", **fields)

    items, _ = told(
        event("TeamRunStarted"),
        event("TeamRunPaused", tools=[], requirements=waits),
        event("TeamRunContinued"),
        child("ModelRequestCompleted", "c", input_tokens=1),
        *(child(name, "a", tool={**calls["a"], "result": "1"}) for name in ("ToolCallStarted", "ToolCallCompleted")),
        child("RunCompleted", "a", content="x"),
        *(child(name, "b", tool={**calls["b"], "result": "1"}) for name in ("ToolCallStarted", "ToolCallCompleted")),
        event("TeamRunContent", content="ok"),
        event("TeamRunCompleted", content="ok"),
    )
    assert decisions(items) == [
        ("c", "denied", "operator"),
        ("a", "approved", "operator"),
        ("b", "approved", "operator"),
    ]


def test_a_team_that_repeats_its_pause_asks_once() -> None:
    pause = paused(tool(requires_confirmation=True), name="TeamRunPaused")
    items, _ = told(event("TeamRunStarted"), pause, pause)
    assert types(items).count("approval.requested") == 1


def test_a_workflow_with_a_step_that_failed_has_failed() -> None:
    steps = [{"step_name": "a", "success": True}, {"step_name": "b", "success": False, "error": "no"}]
    items, outcome = told(event("WorkflowStarted"), event("WorkflowCompleted", content="skipped", step_results=steps))
    assert outcome == Failed("step_failed", "step b failed: no")
    assert "error.upstream" in types(items)


def test_a_step_within_a_step_that_failed_counts_too() -> None:
    inner = [{"step_name": "b", "success": False, "error": "no"}]
    steps = [{"step_name": "both", "success": True, "steps": inner}]
    _, outcome = told(event("WorkflowStarted"), event("WorkflowCompleted", content="x", step_results=steps))
    assert outcome == Failed("step_failed", "step b failed: no")


def test_a_workflow_fails_once() -> None:
    items, outcome = told(
        event("WorkflowStarted"), event("WorkflowError", error="x"), event("WorkflowError", None, error="x")
    )
    assert outcome == Failed("agno_error", "x")
    assert types(items)[-1] == "agent.unparsed"


def step(**fields: object) -> Object:
    return {"step_id": "s", "step_name": "review", "requires_confirmation": True, "confirmed": None, **fields}


def test_a_step_that_a_person_reviews_is_asked_about_and_goes_on() -> None:
    items, outcome = told(
        event("WorkflowStarted"),
        event("StepPaused", step_name="review"),
        event("WorkflowPaused", step_requirements=[step(confirmation_message="Publish?")]),
        {"run_id": "run-1", "status": "PAUSED", "step_requirements": [step()], "event": "WorkflowRunOutput"},
        event("StepContinued", step_id="s", step_name="review"),
        event("WorkflowCompleted", content="ok", step_results=[]),
    )
    assert [one.summary for one in items if isinstance(one, ApprovalRequested)] == ["Publish?"]
    assert decisions(items) == [("s", "approved", "operator")]
    assert outcome == Finished("ok")


def test_a_step_that_is_rejected_is_followed_by_nothing_but_the_end() -> None:
    items, _ = told(
        event("WorkflowStarted"),
        event("WorkflowPaused", step_requirements=[step()]),
        event("WorkflowCompleted", content="cancelled"),
    )
    assert decisions(items) == [("s", "denied", "operator")]


# What the server says about the stream.


def test_events_that_were_left_out_are_noted() -> None:
    items, outcome = told(
        event("RunStarted", event_index=0), event("RunContent", content="x", event_index=5), event("RunCompleted")
    )
    gaps = [json.loads(bytes(one.data)) for one in items if isinstance(one, Opaque)]
    assert gaps == [{"run_id": "run-1", "first": 1, "last": 4}]
    assert outcome == Finished("x")


@pytest.mark.parametrize("index", [-1, 2**53, 2**63])
def test_a_number_that_is_none_is_passed_over(index: int) -> None:
    items, outcome = told(
        event("RunStarted", event_index=0), event("RunContent", content="x", event_index=index), event("RunCompleted")
    )
    assert not of(Opaque, items)
    assert outcome == Finished("x")


def test_a_replay_that_begins_too_late_is_noted() -> None:
    replay = {"event": "replay", "run_id": "run-1", "status": "COMPLETED", "total_events": 2}
    asked = {**replay, "last_event_index_requested": -1}
    items, _ = told(asked, event("RunContent", content="x", event_index=2005), event("RunCompleted", event_index=2006))
    assert [one.type for one in items if isinstance(one, Opaque)] == ["external.agno.events_missing"]


def test_what_is_replayed_is_not_told_again() -> None:
    first = [event("RunStarted", event_index=0), event("RunContent", content="a", event_index=1)]
    rest = [event("RunContent", content="b", event_index=2), event("RunCompleted", content="ab", event_index=3)]
    replay = {"event": "catch_up", "run_id": "run-1", "status": "running", "missed_events": 3}
    items, _ = told(*first, replay, *first, rest[0], {"event": "subscribed", "run_id": "run-1"}, rest[1])
    assert items_of("agno", [sse(*first, *rest)])[0] == items


def test_numbers_that_begin_again_are_no_gap() -> None:
    items, _ = told(
        event("RunStarted", event_index=0),
        DONE,
        event("RunContinued", event_index=0),
        event("RunCompleted", event_index=1),
    )
    assert not of(Opaque, items)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("COMPLETED", Finished()), ("CANCELLED", Cancelled()), ("ERROR", Failed("agno_error", "the run failed"))],
)
def test_what_the_server_says_of_a_run_counts_where_no_event_does(status: str, outcome: Outcome) -> None:
    assert told({"event": "replay", "run_id": "r", "status": status, "total_events": 0})[1] == outcome


def test_a_run_that_cannot_be_taken_up_again_has_failed() -> None:
    assert told({"event": "error", "error": "not found"})[1] == Failed("agno_error", "not found")


# Whole runs.


def test_the_output_of_a_whole_run_is_told_like_a_stream() -> None:
    output = {
        "run_id": "r",
        "status": "COMPLETED",
        "content": "All done.",
        "model": "m",
        "input": {"input_content": "list"},
        "tools": [tool(result="{'a': 1}", tool_call_error=False)],
        "metrics": {"input_tokens": 5, "output_tokens": 1},
    }
    raw = json.dumps(output).encode()
    items, outcome = items_of("agno", [raw])
    assert breaches_of("agno", [raw]) == []
    assert [one.text for one in items if isinstance(one, UserMessage)] == ["list"]
    assert [one.output for one in items if isinstance(one, ToolCompleted)] == ['{"a":1}']
    assert [one.input_tokens for one in items if isinstance(one, TurnCompleted)] == [5]
    assert outcome == Finished("All done.")


@pytest.mark.parametrize(
    ("status", "code"), [("ERROR", "agno_error"), ("PAUSED", "unanswered"), ("RUNNING", "agent_exited")]
)
def test_a_whole_run_that_is_not_done_is_told_as_it_is(status: str, code: str) -> None:
    output = {"run_id": "r", "status": status, "content": "x", "tools": [tool(requires_confirmation=True)]}
    raw = json.dumps(output).encode()
    assert breaches_of("agno", [raw]) == []
    _, outcome = items_of("agno", [raw])
    assert isinstance(outcome, Failed)
    assert outcome.code == code


def test_a_request_that_the_server_does_not_take_has_failed() -> None:
    assert items_of("agno", [b'{"detail":"Not Found"}'])[1] == Failed("agno_refused", "Not Found")
    listed = b'{"detail":[{"loc":["body","message"],"msg":"Field required"}]}'
    _, outcome = items_of("agno", [listed])
    assert isinstance(outcome, Failed)
    assert "Field required" in outcome.message


# Tokens.


def test_sums_over_all_legs_are_counted_leg_by_leg() -> None:
    first = event("RunCompleted", content="a", metrics={"input_tokens": 26, "output_tokens": 3})
    second = event("RunCompleted", content="b", metrics={"input_tokens": 81, "output_tokens": 9})
    items, _ = told(STARTED, first, CONTINUED, second)
    assert [one.input_tokens for one in items if isinstance(one, TurnCompleted)] == [26, 55]
    assert [one.cumulative_input_tokens for one in items if isinstance(one, CostTick)] == [26, 81]


def test_calls_that_only_the_sum_tells_of_are_counted() -> None:
    used = new("ModelRequestCompleted", input_tokens=10, output_tokens=1)
    done = new("RunCompleted", content="x", metrics={"input_tokens": 15, "output_tokens": 2, "cost": 0.002})
    items, _ = told(new("RunStarted"), new("ModelRequestStarted"), used, done)
    ticks = [one for one in items if isinstance(one, CostTick)]
    assert [(one.cumulative_input_tokens, one.cumulative_cost_micros_usd) for one in ticks] == [(15, 2000)]


def test_the_sum_of_legs_that_were_not_seen_is_not_counted() -> None:
    used = new("ModelRequestCompleted", input_tokens=10, output_tokens=1)
    done = new("RunCompleted", content="x", metrics={"input_tokens": 90})
    items, _ = told(new("RunContinued"), new("ModelRequestStarted"), used, done)
    assert [one.cumulative_input_tokens for one in items if isinstance(one, CostTick)] == [10]


@pytest.mark.parametrize(
    ("model", "provider", "given", "expected"),
    [("claude-sonnet-4-5", "Anthropic", 100, 1010), ("gpt-x", "OpenAI", 1000, 1000), ("x", "y", 5, 915)],
)
def test_the_input_includes_what_a_cache_held(model: str, provider: str, given: int, expected: int) -> None:
    used = new(
        "ModelRequestCompleted",
        model=model,
        model_provider=provider,
        input_tokens=given,
        cache_read_tokens=896,
        cache_write_tokens=14,
    )
    items, _ = told(new("RunStarted"), new("ModelRequestStarted"), used, new("RunCompleted", content="x"))
    counted = [(one.input_tokens, one.cached_input_tokens) for one in items if isinstance(one, TurnCompleted)]
    assert counted == [(expected, 896)]


# What nothing understands.


@pytest.mark.parametrize(
    "raw",
    [
        b"null",
        b"[]",
        b"7",
        b'{"event":"Unheard"}',
        b'{"event":7}',
        b'{"event":"RunContent","run_id":7}',
        b"{",
        b"\xff",
        b"{}",
    ],
)
def test_what_nothing_understands_is_kept(raw: bytes) -> None:
    for data in (raw + b"\n", b"event: Other\ndata: " + raw + b"\n\n", b"event: RunContent\ndata: " + raw + b"\n\n"):
        items, _ = items_of("agno", [sse(STARTED) + data if data.startswith(b"event") else data])
        if raw != b"{}" or not data.startswith(b"event: RunContent"):
            assert "agent.unparsed" in types(items)
        assert breaches_of("agno", [data]) == []


def test_an_event_is_what_its_data_says() -> None:
    raw = b"event: RunCompleted\ndata: " + json.dumps(event("RunContent", content="x")).encode() + b"\n\n"
    items, outcome = items_of("agno", [raw])
    assert "assistant.text_complete" in types(items)
    assert isinstance(outcome, Failed)


# The pane.

PANE = {
    "RunStarted": ("turn_start",),
    "ModelRequestStarted": ("turn_start",),
    "RunContent": ("message_start",),
    "ReasoningContentDelta": ("message_update",),
    "ReasoningStarted": (),
    "ReasoningStep": (),
    "ReasoningCompleted": (),
    "ModelRequestCompleted": ("turn_end",),
    "RunContentCompleted": ("message_end",),
    "ToolCallStarted": ("tool_execution_start",),
    "CustomEvent": ("tool_execution_update",),
    "ToolCallCompleted": ("tool_execution_end",),
    "ToolCallError": (),
    "PreHookStarted": (),
    "MemoryUpdateCompleted": (),
    "SessionSummaryStarted": (),
    "FollowupsCompleted": (),
    "CompactionStarted": (),
    "RunPaused": ("turn_end",),
    "RunContinued": ("turn_start",),
    "RunCompleted": ("agent_end",),
}


@pytest.mark.parametrize("prefix", ["", "Team"])
def test_the_pane_has_the_canonical_names(prefix: str) -> None:
    filled: dict[str, Object] = {
        "RunContent": {"content": "x"},
        "ReasoningContentDelta": {"reasoning_content": "x"},
        "ToolCallStarted": {"tool": tool()},
        "ToolCallCompleted": {"tool": tool(result="1")},
        "ToolCallError": {"tool": tool(), "error": "x"},
    }
    _, _, seen = heard(*(new(f"{prefix}{name}") | filled.get(name, {}) for name in PANE))
    assert {one.raw_type.removeprefix("Team"): one.names for one in seen} == PANE


def test_the_first_piece_of_a_message_starts_it() -> None:
    piece = event("RunContent", content="x")
    _, _, seen = heard(STARTED, piece, piece, event("RunContent", content=""), event("RunContentCompleted"), piece)
    names = [one.names for one in seen[1:]]
    assert names == [("message_start",), ("message_update",), (), ("message_end",), ("message_start",)]


def test_the_pane_is_blocked_while_the_run_waits_and_no_longer() -> None:
    wanted = tool(external_execution_required=True)
    refused = event("RunError", None, content="no result")
    events = (STARTED, paused(wanted), CONTINUED, refused, CONTINUED, event("RunContent", content="x"), DONE)
    normaliser, pane = Normaliser(AgnoDialect(Telling(agent="agno"))), Pane()
    states = [shown.rpartition("\t")[2] for shown in normaliser.watch(sse(*events), 0, pane)]
    assert states == ["working", "blocked", "working", "blocked", "working", "working", "done"]


@pytest.mark.parametrize("marks", [{"parent_run_id": "p"}, {"workflow_run_id": "w"}, {"nested_depth": 1}])
def test_whatever_a_run_within_the_run_says_is_progress(marks: Object) -> None:
    names = ["RunStarted", "RunContent", "RunPaused", "RunError", "RunCompleted", "MemoryUpdateStarted"]
    _, _, seen = heard(*(event(name, "child", **marks) for name in names))
    assert {one.names for one in seen} == {("tool_execution_update",)}


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("WorkflowStarted", ("turn_start",)),
        ("StepStarted", ()),
        ("LoopIterationStarted", ()),
        ("WorkflowPaused", ("turn_end",)),
        ("WorkflowCompleted", ("agent_end",)),
        ("WorkflowCancelled", ("agent_end",)),
        ("WorkflowError", ("error",)),
        ("RunError", ("error",)),
        ("RunCancelled", ("agent_end",)),
        ("error", ("error",)),
        ("replay", ()),
        ("subscribed", ()),
    ],
)
def test_the_pane_of_ends_and_workflows(name: str, names: tuple[str, ...]) -> None:
    assert heard(event(name))[2][0].names == names


# What is not known.


def test_what_one_model_says_for_another_is_told_and_is_no_part_of_the_answer() -> None:
    draft = [event("RunIntermediateContent", content=piece) for piece in ("Rough ", "words.")]
    items, outcome = told(STARTED, *draft, event("RunContent", content="done"), DONE)
    assert [one.text for one in items if isinstance(one, AssistantTextComplete)] == ["Rough words.", "done"]
    assert outcome == Finished("done")


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (event("BrandNew"), "no event is called 'BrandNew'"),
        ({"run_id": "r", "status": "BRAND_NEW"}, "no status of a run is called 'BRAND_NEW'"),
        ({"event": "replay", "run_id": "r", "status": "BRAND_NEW"}, "no status of a run is called 'BRAND_NEW'"),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(one: Object, why: str) -> None:
    items, _ = items_of("agno", [lines(STARTED, one, DONE)])
    assert kept(items) == [why]


def test_a_run_that_waits_to_the_end_of_the_stream_was_blocked() -> None:
    items, _ = told(STARTED, paused(tool(requires_confirmation=True)))
    assert [(one.from_, one.to) for one in items if isinstance(one, AgentStateChanged)] == [("blocked", "error")]


def test_a_workflow_whose_step_failed_has_ended_in_the_pane() -> None:
    failed = event("WorkflowCompleted", step_results=[{"step_name": "a", "success": False, "error": "x"}])
    assert watched("agno", sse(event("WorkflowStarted"), failed))[-1] == ("error+agent_end", "error")
