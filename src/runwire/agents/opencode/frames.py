"""What `opencode serve` tells at `/event`: one JSON object a frame, with a type and properties."""

import msgspec
from msgspec import Raw, Struct

from runwire.agents.opencode.parts import Fault, Part

_SESSION = {"session_id": "sessionID"}


class Frame(Struct):
    """One frame."""

    type: str
    properties: Raw = Raw(b"{}")


class Quiet(Struct, rename=_SESSION):
    """Something about a session that tells nothing of its work."""

    session_id: str = ""


class SessionInfo(Struct, rename={"parent_id": "parentID"}):
    """A session. One that has a parent is a helper's."""

    id: str = ""
    parent_id: str | None = None


class SessionChanged(Struct, rename=_SESSION):
    """A session was made or changed."""

    info: SessionInfo = msgspec.field(default_factory=SessionInfo)
    session_id: str = ""


class Status(Struct):
    """What a session does."""

    type: str = ""
    attempt: int | float = 0
    message: str = ""


class StatusChanged(Struct, rename=_SESSION):
    """A session does something else."""

    status: Status = msgspec.field(default_factory=Status)
    session_id: str = ""


class SessionError(Struct, rename=_SESSION):
    """Why a prompt failed."""

    error: Fault = msgspec.field(default_factory=Fault)
    session_id: str = ""


class MessageInfo(Struct, rename={"session_id": "sessionID", "model_id": "modelID", "provider_id": "providerID"}):
    """A message."""

    id: str = ""
    role: str = ""
    session_id: str = ""
    model_id: str | None = None
    provider_id: str | None = None


class MessageUpdated(Struct, rename=_SESSION):
    """A message was made or changed."""

    info: MessageInfo
    session_id: str = ""


class PartUpdated(Struct, rename=_SESSION):
    """A part of a message was made or changed."""

    part: Part
    session_id: str = ""


class PartDelta(Struct, rename={"session_id": "sessionID", "message_id": "messageID", "part_id": "partID"}):
    """A piece of a part."""

    delta: str = ""
    field: str = ""
    part_id: str = ""
    message_id: str = ""
    session_id: str = ""


class ToolRef(Struct, rename={"call_id": "callID"}):
    """The call that a question is about."""

    call_id: str = ""


class PermissionAsked(Struct, rename=_SESSION):
    """The agent waits for a permission."""

    id: str
    session_id: str = ""
    permission: str = ""
    patterns: list[str] = []
    metadata: dict[str, object] = {}
    tool: ToolRef | None = None


class Replied(Struct, rename={"session_id": "sessionID", "request_id": "requestID"}):
    """A question was answered."""

    request_id: str
    reply: str = ""
    session_id: str = ""


class Choice(Struct):
    """An answer that may be chosen."""

    label: str = ""


class Asked(Struct):
    """One question to a person."""

    question: str = ""
    header: str = ""
    options: list[Choice] = []


class QuestionAsked(Struct, rename=_SESSION):
    """The agent waits for answers of a person."""

    id: str
    session_id: str = ""
    questions: list[Asked] = []
    tool: ToolRef | None = None
