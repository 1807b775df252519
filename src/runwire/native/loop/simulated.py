"""Tools for models that cannot be given any: they are described in words and asked for in JSON."""

import json
from collections.abc import Callable, Sequence

import msgspec

from runwire.host import ToolSpec
from runwire.native.loop.state import Assistant, Call, Message, Text, Told, User

STRATEGY = "prompt_simulated_json"
_FENCES = ("```json", "```")


def instructions(tools: Sequence[ToolSpec]) -> str:
    """How the model is told to use tools."""
    listed = "\n".join(
        f"- {tool.name}: {tool.about}\n  input schema: {msgspec.json.encode(tool.schema).decode()}" for tool in tools
    )
    return (
        "You have tools, and no way to call them but text. To use one, answer with nothing but a JSON object:\n"
        '{"tool": "<name>", "input": {…}}\n'
        "For several at once, answer with an array of such objects. The results come back as the next message. "
        f"When you are done, answer in plain words, without JSON.\n\nTools:\n{listed}"
    )


def plain(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The conversation without calls and results, for a model that knows neither."""
    names = {
        part.call_id: part.name
        for message in messages
        if isinstance(message, Assistant)
        for part in message.parts
        if isinstance(part, Call)
    }
    return tuple(_plain(message, names) for message in messages)


def read(text: str, new_id: Callable[[], str]) -> tuple[tuple[Call, ...], str]:
    """The calls that an answer asks for, and why it was not understood; neither when it is plain words."""
    start = _start(text)
    if start is None:
        return (), ""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as wrong:
        # Words may well contain a brace; only what was meant as a call is worth asking again.
        return (), f"not JSON: {wrong.msg} at character {wrong.pos}" if '"tool"' in text else ""
    asked = value if isinstance(value, list) else [value]
    if not any(isinstance(one, dict) and "tool" in one for one in asked):
        return (), ""
    calls: list[Call] = []
    for one in asked:
        given = one.get("input", {}) if isinstance(one, dict) else None
        if not isinstance(one, dict) or not isinstance(one.get("tool"), str) or not isinstance(given, dict):
            return (), 'each call must be an object with a string "tool" and an object "input"'
        calls.append(Call(new_id(), one["tool"], given))
    return tuple(calls), ""


def correction(error: str) -> User:
    """What the model is told after an answer that was not understood."""
    return User(
        (Text(f"Your answer was not understood ({error}). Answer with one valid JSON object, or in plain words."),)
    )


def _start(text: str) -> int | None:
    stripped = text.lstrip()
    if stripped[:1] in {"{", "["}:
        return len(text) - len(stripped)
    for fence in _FENCES:
        at = text.find(fence)
        if at >= 0:
            inside = text[at + len(fence) :]
            body = inside.lstrip()
            if body[:1] in {"{", "["}:
                return at + len(fence) + len(inside) - len(body)
    return None


def _plain(message: Message, names: dict[str, str]) -> Message:
    match message:
        case Told():
            head = Text(f"[result of {names.get(message.call_id, 'the call')}]\n")
            return User((head, *message.parts))
        case Assistant():
            words = tuple(part for part in message.parts if isinstance(part, Text))
            calls = [part for part in message.parts if isinstance(part, Call)]
            if calls and not words:
                said = [{"tool": call.name, "input": dict(call.input)} for call in calls]
                words = (Text(msgspec.json.encode(said[0] if len(said) == 1 else said).decode()),)
            return Assistant(words or (Text("…"),))
        case User():
            return message
