"""Agno: what the pane shows."""

import pytest

from runwire.agents.agno.dialect import AgnoDialect
from runwire.agents.dialect import Telling
from runwire.agents.glasspane import Pane
from runwire.agents.normalising import Normaliser
from tests.agents.agno_streams import CONTINUED, DONE, STARTED, Object, event, heard, new, paused, sse, tool
from tests.agents.transcripts import watched

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


def test_a_workflow_whose_step_failed_has_ended_in_the_pane() -> None:
    failed = event("WorkflowCompleted", step_results=[{"step_name": "a", "success": False, "error": "x"}])
    assert watched("agno", sse(event("WorkflowStarted"), failed))[-1] == ("error+agent_end", "error")
