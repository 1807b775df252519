"""One event on one line: what kind it is, what it says in a few words, and how it looks. Pure."""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import UNSET, UnsetType

from runwire.client.render.harmless import one_line, plain
from runwire.client.render.money import dollars
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, occurred_at_of, sequence_of, type_of
from runwire.protocol.events.agent import AgentStateChanged, AgentUnparsed
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.artifact import ArtifactCreated, ArtifactUpdated
from runwire.protocol.events.assistant import (
    AssistantFinalAnswer,
    AssistantTextComplete,
    AssistantTextDelta,
    AssistantToolCallProposed,
)
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning, CostTick
from runwire.protocol.events.edit import (
    EditApplied,
    EditProposed,
    EditRejected,
    EditReverted,
    MultiEditApplied,
    MultiEditProposed,
    MultiEditRejected,
    MultiEditReverted,
)
from runwire.protocol.events.error import ErrorUpstream
from runwire.protocol.events.experimental import AssistantThinkingComplete, AssistantThinkingDelta
from runwire.protocol.events.gap import GapEventsPruned, GapRunDisconnected
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.run import RunCancelled, RunCheckpointSaved, RunFailed, RunFinished, RunQueued, RunStarted
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.protocol.events.todo import TodoWriteUpdated
from runwire.protocol.events.tool import (
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolInvoked,
    ToolStarted,
    ToolTimedOut,
)
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import MalformedPayload, Opaque, Payload
from runwire.tui.rows import Piece, fitted

_SAID_MAX = 400
_TYPE_WIDTH = 24
_TYPE_WIDTH_WIDE = 30
_WIDE = 110
# Enough of the bytes of an unknown event to fill a line.
_OPAQUE_BYTES = 1600

_SAYS: Mapping[type, Callable[..., str]] = {
    RunQueued: lambda said: f"{said.kind} {said.model or ''}",
    RunStarted: lambda said: said.worker_id,
    RunCheckpointSaved: lambda said: said.checkpoint_id,
    RunFinished: lambda said: f"{said.final_status}: {said.turns} turns, {dollars(said.cost_micros_usd)}",
    RunFailed: lambda said: f"{said.code}: {said.message}",
    RunCancelled: lambda said: f"by {said.by}" + (f": {said.reason}" if said.reason else ""),
    TurnStarted: lambda said: f"turn {said.turn_index} {said.model or ''}",
    TurnCompleted: lambda said: f"turn {said.turn_index}: {said.stop_reason}, {dollars(said.cost_micros_usd)}",
    TurnFailed: lambda said: f"turn {said.turn_index}: {said.code} {said.message}",
    AssistantTextDelta: lambda said: said.delta,
    AssistantTextComplete: lambda said: said.text,
    AssistantFinalAnswer: lambda said: said.summary,
    AssistantThinkingDelta: lambda said: said.delta,
    AssistantThinkingComplete: lambda said: said.text,
    AssistantToolCallProposed: lambda said: f"{said.tool_name} {_json(said.input)}",
    UserMessage: lambda said: said.text,
    ToolInvoked: lambda said: said.tool_name,
    ToolStarted: lambda said: said.tool_name,
    ToolCompleted: lambda said: f"{said.tool_name}: {_or(said.summary, '')}",
    ToolFailed: lambda said: f"{said.tool_name}: {said.code} {said.message}",
    ToolCancelled: lambda said: f"{said.tool_name} by {said.by}",
    ToolTimedOut: lambda said: f"{said.tool_name}: {said.message}",
    ShellCommand: lambda said: f"$ {said.argv[-1] if said.argv[:2] == ['/bin/sh', '-c'] else ' '.join(said.argv)}",
    ShellOutputChunk: lambda said: said.data,
    ShellExited: lambda said: f"exit {said.exit_code}" if said.exit_code is not None else f"signal {said.signal}",
    EditProposed: lambda said: f"{said.path}: {said.summary}",
    EditApplied: lambda said: f"{said.patch_artifact_id} by {_or(said.applied_by, 'the agent')}",
    EditRejected: lambda said: f"{said.patch_artifact_id} by {said.rejected_by} {said.reason}",
    EditReverted: lambda said: f"{said.patch_artifact_id} by {said.reverted_by} {said.reason}",
    MultiEditProposed: lambda said: f"{', '.join(said.paths)}: {said.summary}",
    TodoWriteUpdated: lambda said: f"{sum(todo.status == 'completed' for todo in said.todos)}/{len(said.todos)} done",
    ApprovalRequested: lambda said: f"{said.summary} ({said.policy_reason})",
    ApprovalResolved: lambda said: f"{said.decision} by {said.by}" + (f": {said.comment}" if said.comment else ""),
    ApprovalTimedOut: lambda said: f"nobody decided in {said.after_seconds} s",
    PolicyToolBlocked: lambda said: f"{said.tool_name}: {said.reason}",
    ErrorUpstream: lambda said: f"{said.provider}: {said.message} ({said.attempt}/{said.max_attempts})",
    CostTick: lambda said: dollars(said.cumulative_cost_micros_usd),
    CostBudgetWarning: lambda said: f"{said.threshold_pct} % of the budget spent",
    CostBudgetExceeded: lambda said: f"the budget is spent: {dollars(said.cumulative_cost_micros_usd)}",
    GapEventsPruned: lambda said: (
        f"{said.first_pruned_sequence} to {said.last_pruned_sequence} are gone ({said.reason})"
    ),
    GapRunDisconnected: lambda said: said.reason,
    ArtifactCreated: lambda said: f"{said.kind}: {said.summary}",
    ArtifactUpdated: lambda said: f"{said.artifact_id} {said.field}: {said.old_value} becomes {said.new_value}",
    AgentStateChanged: lambda said: f"{said.from_} to {said.to}" + (f": {said.reason}" if said.reason else ""),
    AgentUnparsed: lambda said: said.raw,
}

# The first that fits decides.
_LOOKS: tuple[tuple[str, str], ...] = (
    ("run.finished", "good"),
    ("run.failed", "bad"),
    ("run.cancelled", "warn"),
    ("turn.failed", "bad"),
    ("tool.failed", "bad"),
    ("tool.timed_out", "bad"),
    ("tool.cancelled", "warn"),
    ("tool.completed", "good"),
    ("approval.", "warn"),
    ("policy.", "warn"),
    ("gap.", "warn"),
    ("cost.budget", "warn"),
    ("error.", "bad"),
    ("agent.unparsed", "bad"),
    ("user.", "person"),
    ("tool.", "tool"),
    ("assistant.thinking", "dim"),
    ("cost.", "dim"),
    ("turn.", "dim"),
    ("artifact.", "dim"),
)


def event_pieces(envelope: bytes, width: int) -> list[Piece]:
    """An event as a row: its number, the time of day, its type and what it says."""
    event_type = type_of(envelope)
    wide = width >= _WIDE
    at = occurred_at_of(envelope)[11 : 23 if wide else 19]
    name = fitted(plain(event_type), _TYPE_WIDTH_WIDE if wide else _TYPE_WIDTH)
    look = looks(event_type)
    said, known = said_by(event_type, data_of(envelope))
    head = f"{sequence_of(envelope):>6} "
    left = max(0, width - len(head) - len(at) - len(name) - 2)
    return [(head, "dim"), (f"{plain(at)} ", "dim"), (f"{name} ", look), (fitted(said, left), "" if known else "dim")]


def said_by(event_type: str, data: bytes) -> tuple[str, bool]:
    """What an event says on one safe line, and whether its type is one that we understand."""
    try:
        payload = decode_payload(event_type, data)
    except MalformedPayload:
        return _opaque(data), False
    tell = _SAYS.get(type(payload))
    if tell is None:
        return _opaque(data), not isinstance(payload, Opaque)
    return one_line(tell(payload), _SAID_MAX), True


def looks(event_type: str) -> str:
    """The style of a type."""
    return next((style for prefix, style in _LOOKS if event_type.startswith(prefix)), "")


def patches_of(envelope: bytes) -> tuple[str, ...]:
    """The patches that an event is about."""
    match _payload(envelope):
        case EditProposed() | EditApplied() | EditRejected() | EditReverted() as one:
            return (one.patch_artifact_id,)
        case MultiEditProposed() | MultiEditApplied() | MultiEditRejected() | MultiEditReverted() as several:
            return tuple(several.patch_artifact_ids)
        case _:
            return ()


def ago(seconds: float) -> str:
    """A time that has passed, in four characters or fewer."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def _payload(envelope: bytes) -> Payload | Opaque | None:
    try:
        return decode_payload(type_of(envelope), data_of(envelope))
    except MalformedPayload:
        return None


def _opaque(data: bytes) -> str:
    return one_line(data[:_OPAQUE_BYTES].decode("utf-8", "ignore"), _SAID_MAX)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _or(value: str | UnsetType, otherwise: str) -> str:
    return otherwise if value is UNSET else value
