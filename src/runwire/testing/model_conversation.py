"""What a model is asked, read from the request of any of the four wires."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Wire = Literal["openai", "responses", "anthropic", "gemini"]
Role = Literal["user", "assistant", "tool"]

_Json = Mapping[str, object]
# What agents tell models about themselves, in the name of the user: <system-reminder>, <environment_context>, …
_REMINDER = re.compile(r"<([a-zA-Z_-]+)[^<>]*>.*?</\1>", re.DOTALL)
_ROLES: Mapping[object, Role] = {"user": "user", "assistant": "assistant", "model": "assistant", "tool": "tool"}
_RESPONSES_CALLS = frozenset({"function_call", "custom_tool_call"})
_RESPONSES_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


@dataclass(frozen=True, slots=True)
class Turn:
    """One message."""

    role: Role
    text: str = ""
    calls: int = 0
    images: int = 0


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool that the model may call."""

    name: str
    schema: _Json
    is_freeform: bool = False

    @property
    def properties(self) -> Mapping[str, _Json]:
        """Its arguments by name."""
        return {name: _object(each) for name, each in _object(self.schema.get("properties")).items()}

    @property
    def required(self) -> Sequence[str]:
        """The names of the arguments that it cannot do without."""
        names = self.schema.get("required")
        return [str(name) for name in names] if isinstance(names, list) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All that was said until now, and the tools on offer."""

    turns: Sequence[Turn]
    tools: Sequence[Offered]

    @property
    def prompt(self) -> str:
        """The newest words of a person; what the agent adds in their name is left out."""
        return next((words for turn in reversed(self.turns) if (words := _words(turn))), "")

    @property
    def round(self) -> int:
        """How many times the model has called tools since the prompt."""
        since = 0
        for turn in reversed(self.turns):
            if _words(turn):
                break
            since += turn.calls > 0
        return since

    @property
    def images(self) -> int:
        """How many pictures are shown."""
        return sum(turn.images for turn in self.turns)


def conversation_of(wire: Wire, body: _Json) -> Conversation:
    """Read a request."""
    turns, tools = {
        "openai": (_chat_turns, _chat_tools),
        "responses": (_responses_turns, _responses_tools),
        "anthropic": (_messages_turns, _messages_tools),
        "gemini": (_gemini_turns, _gemini_tools),
    }[wire]
    return Conversation(turns=[*turns(body)], tools=[*tools(body)])


def _words(turn: Turn) -> str:
    return _REMINDER.sub("", turn.text).strip() if turn.role == "user" else ""


def _chat_turns(body: _Json) -> Iterator[Turn]:
    for message in _objects(body.get("messages")):
        if role := _ROLES.get(message.get("role")):
            content = message.get("content")
            yield Turn(role, _text(content), len(_objects(message.get("tool_calls"))), _images(content))


def _chat_tools(body: _Json) -> Iterator[Offered]:
    for tool in _objects(body.get("tools")):
        about = _object(tool.get("function"))
        yield Offered(str(about.get("name")), _object(about.get("parameters")))


def _responses_turns(body: _Json) -> Iterator[Turn]:
    items = body.get("input")
    if isinstance(items, str):
        yield Turn("user", items)
    calls = 0
    for item in _objects(items):
        kind = item.get("type", "message")
        if kind in _RESPONSES_CALLS:
            calls += 1
            continue
        if calls:
            # Calls that follow one another were made in one answer.
            yield Turn("assistant", "", calls)
            calls = 0
        if kind in _RESPONSES_RESULTS:
            yield Turn("tool", str(item.get("output")))
        elif kind == "message" and (role := _ROLES.get(item.get("role"))):
            yield Turn(role, _text(item.get("content")), 0, _images(item.get("content")))


def _responses_tools(body: _Json) -> Iterator[Offered]:
    for tool in _objects(body.get("tools")):
        if tool.get("type") == "namespace":
            yield from _responses_tools(tool)
        elif name := tool.get("name"):
            yield Offered(str(name), _object(tool.get("parameters")), tool.get("type") == "custom")


def _messages_turns(body: _Json) -> Iterator[Turn]:
    for message in _objects(body.get("messages")):
        content = message.get("content")
        kinds = [block.get("type") for block in _objects(content)]
        if "tool_result" in kinds:
            yield Turn("tool")
        if role := _ROLES.get(message.get("role")):
            yield Turn(role, _text(content), kinds.count("tool_use"), _images(content))


def _messages_tools(body: _Json) -> Iterator[Offered]:
    for tool in _objects(body.get("tools")):
        yield Offered(str(tool.get("name")), _object(tool.get("input_schema")))


def _gemini_turns(body: _Json) -> Iterator[Turn]:
    for message in _objects(body.get("contents")):
        parts = _objects(message.get("parts"))
        role: Role = "tool" if any("functionResponse" in part for part in parts) else "user"
        if message.get("role") == "model":
            role = "assistant"
        text = "\n".join(str(part.get("text", "")) for part in parts if not part.get("thought"))
        yield Turn(role, text, sum("functionCall" in part for part in parts), sum("inlineData" in p for p in parts))


def _gemini_tools(body: _Json) -> Iterator[Offered]:
    for group in _objects(body.get("tools")):
        for tool in _objects(group.get("functionDeclarations")):
            schema = tool.get("parametersJsonSchema") or tool.get("parameters")
            yield Offered(str(tool.get("name")), _object(schema))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in _objects(content) if "text" in part)


def _images(content: object) -> int:
    return sum(part.get("type") in {"image", "image_url", "input_image"} for part in _objects(content))


def _object(value: object) -> _Json:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> Sequence[_Json]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
