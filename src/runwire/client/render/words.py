"""One event in a few words, for faces that give it a line: the timeline and the plain view."""

from collections.abc import Callable, Mapping

from runwire.client.render.money import dollars
from runwire.client.render.notes import remark_of
from runwire.client.render.text import many
from runwire.client.render.titles import command_of, title_of
from runwire.protocol.events import (
    agent,
    approval,
    artifact,
    assistant,
    cost,
    edit,
    experimental,
    policy,
    run,
    shell,
    todo,
    tool,
    turn,
    user,
)
from runwire.protocol.payload import Payload


def words_of(payload: Payload) -> str | None:
    """What an event says, not yet made harmless; None where nothing is known to say about its type."""
    remark = remark_of(payload)
    if remark is not None:
        return remark[1]
    tell = _WORDS.get(type(payload))
    return None if tell is None else tell(payload)


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def _proposed(said: assistant.AssistantToolCallProposed) -> str:
    return f"{said.tool_name} {title_of(said.input)}".rstrip()


def _finished(said: run.RunFinished) -> str:
    return f"{said.final_status}: {many(said.turns or 0, 'turn')}, {dollars(said.cost_micros_usd or 0)}"


def _settled(artifact_ids: str, by: str, reason: str = "") -> str:
    return f"{artifact_ids} by {by}{_because(reason)}"


_WORDS: Mapping[type, Callable[..., str]] = {
    run.RunQueued: lambda said: f"{said.kind} {said.model or ''}".rstrip(),
    run.RunStarted: lambda said: said.worker_id,
    run.RunCheckpointSaved: lambda said: said.checkpoint_id,
    run.RunFinished: _finished,
    run.RunFailed: lambda said: f"failed: {said.code}: {said.message}",
    run.RunCancelled: lambda said: f"cancelled by {said.by}{_because(said.reason)}",
    turn.TurnStarted: lambda said: f"turn {said.turn_index} {said.model or ''}".rstrip(),
    turn.TurnCompleted: lambda said: f"turn {said.turn_index}: {said.stop_reason}, {dollars(said.cost_micros_usd)}",
    turn.TurnFailed: lambda said: f"turn {said.turn_index}: {said.code} {said.message}",
    assistant.AssistantTextDelta: lambda said: said.delta,
    assistant.AssistantTextComplete: lambda said: said.text,
    assistant.AssistantFinalAnswer: lambda said: said.summary,
    experimental.AssistantThinkingDelta: lambda said: said.delta,
    experimental.AssistantThinkingComplete: lambda said: said.text,
    assistant.AssistantToolCallProposed: _proposed,
    user.UserMessage: lambda said: said.text,
    tool.ToolInvoked: lambda said: said.tool_name,
    tool.ToolStarted: lambda said: said.tool_name,
    tool.ToolCompleted: lambda said: f"{said.tool_name}{_because(said.summary or '')}",
    tool.ToolFailed: lambda said: f"{said.tool_name}: {said.code} {said.message}",
    tool.ToolCancelled: lambda said: f"{said.tool_name} by {said.by}",
    tool.ToolTimedOut: lambda said: f"{said.tool_name}: {said.message}",
    shell.ShellCommand: lambda said: f"$ {command_of(said.argv)}",
    shell.ShellOutputChunk: lambda said: said.data,
    shell.ShellExited: lambda said: f"signal {said.signal}" if said.exit_code is None else f"exit {said.exit_code}",
    edit.EditProposed: lambda said: f"{said.path}: {said.summary}",
    edit.EditApplied: lambda said: _settled(said.patch_artifact_id, said.applied_by or "the agent"),
    edit.EditRejected: lambda said: _settled(said.patch_artifact_id, said.rejected_by, said.reason),
    edit.EditReverted: lambda said: _settled(said.patch_artifact_id, said.reverted_by, said.reason),
    edit.MultiEditProposed: lambda said: f"{', '.join(said.paths)}: {said.summary}",
    edit.MultiEditApplied: lambda said: _settled(", ".join(said.patch_artifact_ids), said.applied_by or "the agent"),
    edit.MultiEditRejected: lambda said: _settled(", ".join(said.patch_artifact_ids), said.rejected_by, said.reason),
    edit.MultiEditReverted: lambda said: _settled(", ".join(said.patch_artifact_ids), said.reverted_by, said.reason),
    todo.TodoWriteUpdated: lambda said: (
        f"{sum(one.status == 'completed' for one in said.todos)}/{len(said.todos)} done"
    ),
    approval.ApprovalRequested: lambda said: f"{said.summary} ({said.policy_reason})",
    approval.ApprovalResolved: lambda said: f"{said.decision} by {said.by}{_because(said.comment)}",
    approval.ApprovalTimedOut: lambda said: f"nobody decided in {said.after_seconds} s",
    policy.PolicyToolBlocked: lambda said: f"{said.tool_name}: {said.reason}",
    cost.CostTick: lambda said: dollars(said.cumulative_cost_micros_usd),
    artifact.ArtifactCreated: lambda said: f"{said.kind}: {said.summary}",
    artifact.ArtifactUpdated: lambda said: (
        f"{said.artifact_id} {said.field}: {said.old_value} becomes {said.new_value}"
    ),
    agent.AgentStateChanged: lambda said: f"{said.from_} to {said.to}{_because(said.reason)}",
    agent.AgentUnparsed: lambda said: said.raw,
}
