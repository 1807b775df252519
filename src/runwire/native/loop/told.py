"""What the model is told of its calls. One text for a call that just ended and for one read back from the log."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct, UnsetType

from runwire.host import ToolEnd
from runwire.native.loop.state import Assistant, Call, Image, Message, Text, Told
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolTimedOut

OUTPUT_MAX = 4_096
"""Characters of a result that stand in its event; a longer one is told out of its artifact."""
TOLD_MAX = 24_000
"""Bytes of an artifact that the model is told."""

STOPPED_BY_DENIAL = "a person denied a tool call and stopped the run"
NOT_RUN = "error (not_run): the run was taken up again from before this call; it did not happen"
MAY_HAVE_HAPPENED = "error (interrupted): its effect may have happened; look before you repeat it"

ToolOver = ToolCompleted | ToolFailed | ToolCancelled | ToolTimedOut


class Outcome(Struct, frozen=True, kw_only=True):
    """How a call ended, whether we saw it or read of it."""

    outcome: Literal["completed", "failed", "cancelled", "timed_out"]
    summary: str = ""
    output: str | None = None
    code: str = ""
    message: str = ""
    by: str = ""
    artifact_id: str | None = None


def of_end(end: ToolEnd) -> Outcome:
    """The outcome as the one who ran the call reports it."""
    return Outcome(
        outcome=end.outcome,
        # A failure has its message; only the event of a success is sure to have a summary.
        summary=end.summary if end.outcome == "completed" else "",
        output=end.output,
        code=end.code,
        message=end.message,
        by=end.by,
        artifact_id=end.result_artifact_id,
    )


def of_event(payload: ToolOver) -> Outcome:
    """The outcome as the log tells it."""
    output = _given(payload.output)
    artifact = _given(payload.result_artifact_id)
    match payload:
        case ToolCompleted():
            return Outcome(
                outcome="completed", summary=_given(payload.summary) or "", output=output, artifact_id=artifact
            )
        case ToolFailed():
            return Outcome(
                outcome="failed",
                output=output,
                code=payload.code,
                message=payload.message,
                artifact_id=artifact,
            )
        case ToolTimedOut():
            return Outcome(outcome="timed_out", output=output, message=payload.message, artifact_id=artifact)
        case ToolCancelled():
            return Outcome(outcome="cancelled", output=output, by=payload.by, artifact_id=artifact)


def wants_body(outcome: Outcome) -> str | None:
    """The artifact whose body has to be read before the outcome can be told."""
    if outcome.output is not None or outcome.outcome == "cancelled":
        return None
    return outcome.artifact_id


def text_of(outcome: Outcome, body: bytes | None) -> str:
    """The text for the model."""
    match outcome.outcome:
        case "completed":
            return _said(outcome, body, outcome.summary)
        case "failed":
            return _error(outcome.code or "failed", outcome.message, _said(outcome, body, ""))
        case "timed_out":
            return _error("timed_out", outcome.message, _said(outcome, body, ""))
        case "cancelled":
            return _error("cancelled", f"stopped by {outcome.by}", outcome.output or "")


def is_error(outcome: Outcome) -> bool:
    """Whether the model is told of a failure."""
    return outcome.outcome != "completed"


def blocked(reason: str) -> str:
    """The text for a call that was refused."""
    return reason if reason.startswith("error (") else f"error (blocked): {reason}"


def of_block(payload: PolicyToolBlocked) -> Told:
    """What the model is told of a call that the log shows as refused."""
    return Told(payload.tool_call_id, (Text(blocked(payload.reason)),), is_error=True)


def changed(by: str, given: Mapping[str, object]) -> str:
    """The line that tells of arguments which somebody changed."""
    return f"[the input was changed by {by} to {msgspec.json.encode(given).decode()}]\n"


def fit(text: str, limit: int, artifact_id: str | None) -> str:
    """At most `limit` bytes of a text, two thirds of them from its beginning and one from its end."""
    raw = text.encode()
    if len(raw) <= limit:
        return text
    head = raw[: limit * 2 // 3].decode(errors="ignore")
    tail = raw[-(limit // 3) :].decode(errors="ignore")
    left_out = len(raw) - len(head.encode()) - len(tail.encode())
    more = f"; artifact_read {artifact_id} shows them" if artifact_id else ""
    return f"{head}\n[… {left_out} bytes left out{more} …]\n{tail}"


def with_told(messages: tuple[Message, ...], told: Sequence[Told]) -> tuple[Message, ...]:
    """The conversation with results behind the answer that asked for them, in the order in which it asked."""
    if not told:
        return messages
    at = max((place for place, one in enumerate(messages) if isinstance(one, Assistant)), default=-1)
    behind = messages[at + 1 :]
    results = [one for one in behind if isinstance(one, Told)] + list(told)
    asker = messages[at] if at >= 0 else None
    order: dict[str, int] = {}
    if isinstance(asker, Assistant):
        order = {part.call_id: place for place, part in enumerate(asker.parts) if isinstance(part, Call)}
    results.sort(key=lambda one: order.get(one.call_id, len(order)))
    return (*messages[: at + 1], *results, *(one for one in behind if not isinstance(one, Told)))


def parts_of(text: str, images: Sequence[Image]) -> tuple[Text | Image, ...]:
    """A result as parts of a message."""
    return (Text(text), *images)


def _said(outcome: Outcome, body: bytes | None, otherwise: str) -> str:
    if outcome.output is not None:
        return outcome.output
    if body is None:
        return otherwise
    text = fit(body.decode(errors="replace"), TOLD_MAX, outcome.artifact_id)
    return f"{outcome.summary}\n{text}" if outcome.summary else text


def _error(code: str, message: str, more: str) -> str:
    line = f"error ({code}): {message}"
    return f"{line}\n{more}" if more and more != message else line


def _given(value: str | UnsetType) -> str | None:
    return None if isinstance(value, UnsetType) else value
