"""Lines of pi, made by hand."""

import json
from collections.abc import Iterable
from typing import TypeVar

from runwire.agents.dialect import Item, Outcome, StreamEnd
from tests.agents.transcripts import items_of

Line = dict[str, object]
Kind = TypeVar("Kind")

START: list[Line] = [{"type": "agent_start"}, {"type": "turn_start"}]


def told(*lines: Line, end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    return items_of("pi", [raw(lines)], end)


def raw(lines: Iterable[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def of(items: Iterable[Item], kind: type[Kind]) -> list[Kind]:
    return [item for item in items if isinstance(item, kind)]


def answer(stop: str = "stop", error: str = "", content: list[Line] | None = None) -> list[Line]:
    message: Line = {"role": "assistant", "content": content or [], "stopReason": stop, "model": "m", "provider": "p"}
    if error:
        message["errorMessage"] = error
    return [
        {"type": "message_start", "message": {**message, "content": []}},
        {"type": "message_end", "message": message},
    ]


def turn_end(stop: str = "stop", error: str = "") -> Line:
    message: Line = {"role": "assistant", "stopReason": stop}
    return {"type": "turn_end", "message": {**message, "errorMessage": error} if error else message, "toolResults": []}


def bash(command: str = "true", call_id: str = "c1") -> list[Line]:
    return [
        *START,
        *answer(
            "toolUse", content=[{"type": "toolCall", "id": call_id, "name": "bash", "arguments": {"command": command}}]
        ),
        {"type": "tool_execution_start", "toolCallId": call_id, "toolName": "bash", "args": {"command": command}},
    ]


def shows(text: str, *, total: int | None = None, call_id: str = "c1") -> Line:
    details = {} if total is None else {"truncation": {"truncated": True, "totalBytes": total}}
    result = {"content": [{"type": "text", "text": text}], "details": details}
    return {"type": "tool_execution_update", "toolCallId": call_id, "toolName": "bash", "partialResult": result}


def ended(text: str, *, is_error: bool = False, call_id: str = "c1", **more: object) -> Line:
    result = {"content": [{"type": "text", "text": text}], **more}
    return {
        "type": "tool_execution_end",
        "toolCallId": call_id,
        "toolName": "bash",
        "result": result,
        "isError": is_error,
    }


def confirm(**more: object) -> Line:
    return {
        "type": "extension_ui_request",
        "id": "q1",
        "method": "confirm",
        "title": "Allow command?",
        "message": "rm -rf x",
        **more,
    }


def update(kind: str) -> Line:
    return {"type": "message_update", "assistantMessageEvent": {"type": kind, "contentIndex": 0, "delta": "x"}}
