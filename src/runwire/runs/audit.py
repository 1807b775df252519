"""The audit: what was done, by whom and with whose permission, one line a fact. Told from the events, never from rows."""

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from runwire.journal.records import FeedEvent
from runwire.protocol.catalogue import decode_payload, type_filter
from runwire.protocol.envelope import Envelope, decode_envelope
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning
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
from runwire.protocol.events.file import FileWriteProposed
from runwire.protocol.events.policy import PolicyModelRewrote, PolicyToolBlocked
from runwire.protocol.events.run import RunCancelled, RunFailed, RunFinished
from runwire.protocol.events.shell import ShellCommand, ShellExited
from runwire.protocol.events.user import UserMessage
from runwire.protocol.events.web import HttpRequested, WebFetchRequested
from runwire.protocol.payload import MalformedPayload, Opaque, Payload

ACCOUNTABLE = (
    "approval.*,policy.*,tool.shell.command,tool.shell.exited,tool.edit.*,tool.multi_edit.*,tool.file_write.*,"
    "tool.http.requested,tool.web_fetch.requested,cost.budget_*,run.finished,run.failed,run.cancelled,user.message"
)
"""What an audit shows unless it is asked for other types."""

accountable = type_filter(ACCOUNTABLE)
_LINE_MAX = 400


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One fact."""

    object: Literal["audit_entry"] = "audit_entry"
    event_id: str
    run_id: str
    task_id: str | None
    agent: str | None
    """Whose run it is; null when the run is gone."""
    sequence: int
    occurred_at: str
    type: str
    who: str
    """A person or a token's name; empty when the agent did it by itself."""
    what: str
    approval_id: str | None = None
    tool_call_id: str | None = None


def entry(event: FeedEvent, agent: str | None) -> AuditEntry:
    """What one stored event of an agent's run says."""
    envelope = decode_envelope(event.envelope)
    payload = _payload(envelope)
    return AuditEntry(
        event_id=envelope.event_id,
        run_id=envelope.run_id,
        task_id=None if isinstance(envelope.task_id, UnsetType) else envelope.task_id,
        agent=agent,
        sequence=envelope.sequence,
        occurred_at=envelope.occurred_at,
        type=envelope.type,
        who=_who(payload),
        what=_line(_what(payload)),
        approval_id=_text(payload, "approval_id"),
        tool_call_id=_text(payload, "tool_call_id"),
    )


def mentions(event: FeedEvent, words: str) -> bool:
    """Whether the words stand somewhere in the event, in whatever case."""
    return words.casefold() in event.envelope.decode("utf-8", "replace").casefold()


def _payload(envelope: Envelope) -> Payload | Opaque:
    try:
        return decode_payload(envelope.type, bytes(envelope.data))
    except MalformedPayload:
        return Opaque(type=envelope.type, data=envelope.data)


def _text(payload: Payload | Opaque, field: str) -> str | None:
    """A field that many types have and some leave out."""
    if isinstance(payload, Opaque) or field not in payload.__struct_fields__:
        return None
    value = msgspec.structs.asdict(payload)[field]
    return value if isinstance(value, str) else None


def _who(payload: Payload | Opaque) -> str:
    match payload:
        case ApprovalResolved(by=by) | RunCancelled(by=by):
            return by
        case EditRejected(rejected_by=by) | MultiEditRejected(rejected_by=by):
            return by
        case EditReverted(reverted_by=by) | MultiEditReverted(reverted_by=by):
            return by
        case EditApplied(applied_by=by) | MultiEditApplied(applied_by=by) | UserMessage(by=by):
            return "" if by is UNSET else str(by)
        case _:
            return ""


_WHAT: Mapping[type, Callable[..., str]] = {
    ApprovalRequested: lambda said: f"asks: {said.summary} ({said.policy_reason})",
    ApprovalResolved: lambda said: f"{said.decision}: {said.comment}" if said.comment else said.decision,
    ApprovalTimedOut: lambda said: f"nobody decided in {said.after_seconds} s",
    PolicyToolBlocked: lambda said: f"{said.tool_name} blocked: {said.reason}",
    PolicyModelRewrote: lambda said: f"{said.from_model} became {said.to_model}: {said.reason}",
    ShellCommand: lambda said: f"$ {' '.join(said.argv)} [{said.sandbox_layer}]",
    ShellExited: lambda said: f"exit {said.exit_code}" if said.signal is None else f"ended by {said.signal}",
    HttpRequested: lambda said: f"{said.method} {said.url}",
    WebFetchRequested: lambda said: f"{said.method} {said.url}",
    FileWriteProposed: lambda said: f"{said.path}: {said.summary}",
    EditProposed: lambda said: f"{said.path}: {said.summary}",
    MultiEditProposed: lambda said: f"{', '.join(said.paths)}: {said.summary}",
    EditApplied: lambda said: said.patch_artifact_id,
    EditRejected: lambda said: f"{said.patch_artifact_id} {said.reason}",
    EditReverted: lambda said: f"{said.patch_artifact_id} {said.reason}",
    MultiEditApplied: lambda said: ", ".join(said.patch_artifact_ids),
    MultiEditRejected: lambda said: f"{', '.join(said.patch_artifact_ids)} {said.reason}",
    MultiEditReverted: lambda said: f"{', '.join(said.patch_artifact_ids)} {said.reason}",
    CostBudgetWarning: lambda said: f"{said.cumulative_cost_micros_usd} micro-dollars spent",
    CostBudgetExceeded: lambda said: f"{said.cumulative_cost_micros_usd} micro-dollars spent",
    RunFailed: lambda said: f"{said.code}: {said.message}",
    RunCancelled: lambda said: said.reason,
    RunFinished: lambda said: f"{said.turns} turns",
    UserMessage: lambda said: said.text,
}


def _what(payload: Payload | Opaque) -> str:
    told = _WHAT.get(type(payload))
    return "" if told is None else told(payload)


def _line(text: str) -> str:
    short = " ".join(text[: 4 * _LINE_MAX].split())
    return short if len(short) <= _LINE_MAX else f"{short[: _LINE_MAX - 1]}…"
