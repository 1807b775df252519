"""Agno: what a run waits for, and how that is decided."""

import pytest

from runwire.agents.dialect import Cancelled
from runwire.host import Failed, Finished
from runwire.protocol.events.agent import AgentStateChanged
from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.tool import ToolCompleted
from runwire.protocol.events.turn import TurnCompleted, TurnFailed
from tests.agents.agno_streams import (
    CONTINUED,
    DONE,
    STARTED,
    Object,
    decisions,
    event,
    heard,
    new,
    of,
    paused,
    told,
    tool,
    types,
)

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


def test_a_run_that_waits_to_the_end_of_the_stream_was_blocked() -> None:
    items, _ = told(STARTED, paused(tool(requires_confirmation=True)))
    assert [(one.from_, one.to) for one in items if isinstance(one, AgentStateChanged)] == [("blocked", "error")]
