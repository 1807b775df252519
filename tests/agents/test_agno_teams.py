"""Agno: the runs within a team, and the steps of a workflow."""

from runwire.host import Failed, Finished
from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.tool import ToolCompleted
from tests.agents.agno_streams import Object, decisions, event, of, paused, told, tool, types

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
