"""Tool calls as Agno shows them: one object that carries everything there is to know, null where it is not known. Pure."""

from dataclasses import dataclass, field

import msgspec
from msgspec import UNSET, UnsetType

from runwire.clock import rfc3339
from runwire.gateway.agno.frames import Fields
from runwire.protocol.events.tool import ToolCancelled, ToolCompleted, ToolFailed, ToolTimedOut

ToolEnded = ToolCompleted | ToolFailed | ToolCancelled | ToolTimedOut

_ARGUMENT_MAX = 80


@dataclass(slots=True, kw_only=True)
class ToolCall:
    """One call and how far it has come."""

    tool_call_id: str
    tool_name: str
    created_at: int
    arguments: Fields = field(default_factory=dict)
    requires_confirmation: bool | None = None
    confirmed: bool | None = None
    note: str | None = None
    started: bool = False
    failed: bool | None = None
    result: str | None = None
    duration_s: float | None = None

    def shown(self) -> Fields:
        """The object that Agno's clients know."""
        return {
            "tool_call_id": self.tool_call_id,
            "tool_name": self.tool_name,
            "tool_args": self.arguments,
            "tool_call_error": self.failed,
            "result": self.result,
            "metrics": None if self.duration_s is None else {"duration": self.duration_s},
            "child_run_id": None,
            "stop_after_tool_call": False,
            "created_at": self.created_at,
            "requires_confirmation": self.requires_confirmation,
            "confirmed": self.confirmed,
            "confirmation_note": self.note,
            "requires_user_input": None,
            "user_input_schema": None,
            "answered": None,
            "external_execution_required": None,
        }

    def end(self, ended: ToolEnded) -> None:
        """Take in how it ended."""
        self.failed = not isinstance(ended, ToolCompleted)
        self.duration_s = ended.duration_ms / 1000
        self.result = _result(ended)

    def sentence(self) -> str:
        """What Agno says of a call that has ended."""
        given = ", ".join(f"{name}={_short(value)}" for name, value in self.arguments.items())
        return f"{self.tool_name}({given}) completed in {self.duration_s or 0:.4f}s. "


@dataclass(slots=True)
class Question:
    """A decision that the run waits for."""

    approval_id: str
    call: ToolCall
    asked_ns: int
    announced: bool = False

    def shown(self) -> Fields:
        """The requirement that Agno's clients know."""
        return {
            "id": self.approval_id,
            # Six digits and an offset: what Python of every age reads.
            "created_at": f"{rfc3339(self.asked_ns)[:-4]}+00:00",
            "tool_execution": self.call.shown(),
            "confirmation": self.call.confirmed,
            "confirmation_note": self.call.note,
        }


def _result(ended: ToolEnded) -> str:
    """How a call ended, as JSON text."""
    told: Fields = {"success": isinstance(ended, ToolCompleted)}
    match ended:
        case ToolCompleted():
            told |= _given(summary=ended.summary, result=ended.result)
        case ToolFailed():
            told |= {"code": ended.code, "message": ended.message}
        case ToolTimedOut():
            told |= {"code": ended.limit, "message": ended.message}
        case ToolCancelled():
            told |= {"code": "cancelled", "message": ended.reason}
    told |= _given(output=ended.output, result_artifact_id=ended.result_artifact_id)
    return msgspec.json.encode(told).decode()


def _given(**facts: str | UnsetType) -> Fields:
    return {name: fact for name, fact in facts.items() if fact is not UNSET}


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _ARGUMENT_MAX else f"{text[: _ARGUMENT_MAX - 1]}…"
