"""The output of a whole run as the events that a stream of it would have had."""

from collections.abc import Iterator

import msgspec

from runwire.agents.agno import frames as wire

Event = tuple[str, wire.Frame]
"""A frame, and the event that it is."""


def beginning(output: wire.Output) -> Iterator[Event]:
    """That the run began, and the calls that it and the runs within it made."""
    name = "WorkflowStarted" if is_flow(output) else "RunStarted"
    yield name, wire.Started(run_id=output.run_id, model=output.model, model_provider=output.model_provider)
    for tool in _made(output.tools):
        yield "ToolCallCompleted", wire.ToolEvent(run_id=output.run_id, tool=tool)
    for member in (*(output.member_responses or ()), *(output.step_executor_runs or ())):
        run_id, parent = member.run_id, output.run_id or "unknown"
        for tool in _made(member.tools):
            yield "ToolCallCompleted", wire.ToolEvent(run_id=run_id, parent_run_id=parent, tool=tool)
        yield "RunCompleted", wire.Completed(run_id=run_id, parent_run_id=parent, metrics=member.metrics)


def _made(tools: list[dict[str, object]] | None) -> Iterator[wire.Tool]:
    """The calls that were made, and not only asked for."""
    for given in tools or ():
        try:
            tool = msgspec.convert(given, wire.Tool)
        except msgspec.ValidationError:
            continue
        if tool.result is not None or tool.tool_call_error is not None:
            yield tool


def ending(output: wire.Output) -> Event | None:
    """How the run stands; None when it is at work."""
    run_id, content = output.run_id, output.content
    who = "Workflow" if is_flow(output) else "Run"
    match output.status:
        case "COMPLETED" | "REGENERATED":
            completed = wire.Completed(
                run_id=run_id, content=content, metrics=output.metrics, step_results=output.step_results
            )
            return f"{who}Completed", completed
        case "CANCELLED":
            return f"{who}Cancelled", wire.Stopped(run_id=run_id, content=content)
        case "ERROR":
            return f"{who}Error", wire.Broken(run_id=run_id, content=content)
        case "PAUSED":
            return f"{_pauses(output)}Paused", output
        case _:
            return None


def prompt_of(output: wire.Output) -> str:
    """What was asked."""
    given = output.input
    if isinstance(given, dict):
        given = given.get("input_content")
    return given if isinstance(given, str) else ""


def is_flow(output: wire.Output) -> bool:
    """Whether it is the run of a workflow."""
    return output.workflow_id is not None or output.step_results is not None or output.step_requirements is not None


def _pauses(output: wire.Output) -> str:
    if is_flow(output):
        return "Workflow"
    return "TeamRun" if output.team_id else "Run"
