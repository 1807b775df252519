"""Lines of Claude Code, made by hand."""

import json
from collections.abc import Sequence
from typing import TypeVar

from runwire.agents.dialect import Item, Outcome, StreamEnd
from tests.agents.transcripts import breaches_of, items_of

Kind = TypeVar("Kind")
Line = dict[str, object]
INIT: Line = {"type": "system", "subtype": "init", "model": "claude-x", "cwd": "/workspace"}
USAGE = {"input_tokens": 100, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7, "output_tokens": 1}


def said(message_id: str, *blocks: Line, **more: object) -> Line:
    """A line of the model."""
    message = {"id": message_id, "model": "claude-x", "content": list(blocks), "usage": USAGE}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **more}


def text(words: str) -> Line:
    """A block of text."""
    return {"type": "text", "text": words}


def use(call_id: str, name: str = "Bash", **given: object) -> Line:
    """A block that asks for a call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {"command": "ls"}}


def result_of(call_id: str, content: object, *, is_error: bool = False, **more: object) -> Line:
    """The line with what a call returned."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **more}


def asks(request_id: str, call_id: str, tool: str = "Bash", **given: object) -> Line:
    """The question about a call."""
    request = {"subtype": "can_use_tool", "tool_name": tool, "tool_use_id": call_id, "input": given}
    return {"type": "control_request", "request_id": request_id, "request": request}


def event(kind: str, **more: object) -> Line:
    """A piece of the model's own stream."""
    return {"type": "stream_event", "event": {"type": kind, **more}, "parent_tool_use_id": None}


def over(**more: object) -> Line:
    """The end of a prompt."""
    return {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "total_cost_usd": 0.01} | more


def read(*lines: Line, end: StreamEnd | None = None) -> tuple[list[Item], Outcome]:
    """What lines tell, which keeps the rules."""
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    assert breaches_of("claude", [raw]) == []
    return items_of("claude", [raw], end)


def of(items: Sequence[Item], kind: type[Kind]) -> list[Kind]:
    """The items of one kind."""
    return [item for item in items if isinstance(item, kind)]
