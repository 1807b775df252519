"""Frames of an agent that speaks ACP, made by hand."""

import json
from collections.abc import Sequence
from typing import TypeVar

from runwire.agents.dialect import Item, Outcome, StreamEnd
from tests.agents.transcripts import breaches_of, items_of

Kind = TypeVar("Kind")
Frame = dict[str, object]


def result(request_id: int, **members: object) -> Frame:
    """The answer to a request of the client's."""
    return {"jsonrpc": "2.0", "id": request_id, "result": members}


def fault(request_id: int, code: int, message: str, **data: object) -> Frame:
    """The failure of a request of the client's."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, "data": data}}


def update(which: str, /, **members: object) -> Frame:
    """Something that happens in the session."""
    params = {"sessionId": "s1", "update": {"sessionUpdate": which, **members}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def chunk(text: str, **more: object) -> Frame:
    """A piece of text."""
    return update("agent_message_chunk", content={"type": "text", "text": text}, **more)


def words(text: str) -> list[object]:
    """The content of a call that shows text."""
    return [{"type": "content", "content": {"type": "text", "text": text}}]


OPTIONS = [
    {"optionId": "always", "kind": "allow_always", "name": "Always"},
    {"optionId": "once", "kind": "allow_once", "name": "Once"},
    {"optionId": "no", "kind": "reject_once", "name": "No"},
]


def asks(request_id: int | str, call_id: str, call: Frame, options: Sequence[object] = OPTIONS) -> Frame:
    """A question about a call."""
    params = {"sessionId": "s1", "toolCall": {"toolCallId": call_id, **call}, "options": list(options)}
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/request_permission", "params": params}


GREETED = result(0, protocolVersion=1, authMethods=[], agentInfo={"name": "some-agent"})
OPENCODE = result(0, protocolVersion=1, authMethods=[], agentInfo={"name": "OpenCode"})
SESSION = result(1, sessionId="s1", models={"currentModelId": "gemini-2.5-flash"})
OVER = result(2, stopReason="end_turn")


def raw_of(*frames: Frame) -> bytes:
    """Frames as they stand on the wire."""
    return "".join(json.dumps(frame) + "\n" for frame in frames).encode()


def read(*frames: Frame, end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    """What frames tell, which keeps the rules."""
    raw = raw_of(*frames)
    assert breaches_of("acp", [raw]) == []
    return items_of("acp", [raw], end)


def of(items: Sequence[Item], kind: type[Kind]) -> list[Kind]:
    """The items of one kind."""
    return [item for item in items if isinstance(item, kind)]
