"""A conversation as Anthropic's Messages takes it."""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

from runwire.host import ToolSpec
from runwire.journal.redaction.placeholder import OPENING
from runwire.native.loop.state import Assistant, Call, Image, Message, Text, Thinking, Told, User
from runwire.native.models.model import ModelCall
from runwire.native.models.openai_request import NOT_SHOWN

if TYPE_CHECKING:
    from anthropic.types import (
        CacheControlEphemeralParam,
        ContentBlockParam,
        ImageBlockParam,
        MessageParam,
        TextBlockParam,
        ThinkingConfigParam,
        ToolParam,
    )

REDACTED_SEAL = "redacted_thinking:"
"""Marks the seal of reasoning that the provider shows to nobody: all there is of it is the seal."""

THINKING_LEAST_TOKENS = 1024

_MANUAL = re.compile(r"claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8}|-latest)?$|4-)")
_MIMES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def thinking_of(call: ModelCall, *, model: str) -> "ThinkingConfigParam | None":
    """How the model is asked to think; None when it was not asked for or the conversation does not allow it."""
    if not call.thinking or not _may_think(call.messages):
        return None
    if not _MANUAL.search(model):
        return {"type": "adaptive", "display": "summarized"}
    budget = call.max_output_tokens // 2
    return {"type": "enabled", "budget_tokens": budget} if budget >= THINKING_LEAST_TOKENS else None


def _may_think(messages: Sequence[Message]) -> bool:
    """Whether every answer since the last question, if it called tools, still has the reasoning that it began with."""
    for message in reversed(messages):
        if isinstance(message, User):
            return True
        if isinstance(message, Assistant) and any(isinstance(part, Call) for part in message.parts):
            first = message.parts[0]
            if not isinstance(first, Thinking) or not _is_sealed(first):
                return False
    return True


def _is_sealed(thinking: Thinking) -> bool:
    # A seal does not fit a text that redaction has changed, and the provider refuses the pair.
    return thinking.signature is not None and OPENING not in thinking.text


def system_of(call: ModelCall) -> "list[TextBlockParam]":
    """The system prompt, kept in the provider's cache."""
    return [{"type": "text", "text": call.system, "cache_control": _cached()}] if call.system.strip() else []


def tools_of(tools: Sequence[ToolSpec]) -> "list[ToolParam]":
    """The tools that the model may call, kept in the provider's cache."""
    out: list[ToolParam] = [
        {"name": tool.name, "description": tool.about, "input_schema": dict(tool.schema)} for tool in tools
    ]
    if out:
        out[-1]["cache_control"] = _cached()
    return out


def messages_of(call: ModelCall, *, images: bool, thinking: bool) -> "list[MessageParam]":
    """All that was said, in turns of user and assistant; the last thing said to the model ends what is cached."""
    shown = call.images if images else {}
    turns: list[tuple[Literal["user", "assistant"], list[ContentBlockParam]]] = []
    for message in call.messages:
        role: Literal["user", "assistant"] = "assistant" if isinstance(message, Assistant) else "user"
        blocks = _blocks(message, shown, thinking=thinking)
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))
    if turns and turns[-1][0] == "user":
        # Blocks of a user's turn are texts, pictures and results, and all of them take the mark.
        cast("TextBlockParam", turns[-1][1][-1])["cache_control"] = _cached()
    return [_turn(role, blocks) for role, blocks in turns]


def _turn(role: Literal["user", "assistant"], blocks: "list[ContentBlockParam]") -> "MessageParam":
    if role == "user":
        return {"role": "user", "content": blocks}
    return {"role": "assistant", "content": blocks}


def _blocks(message: Message, shown: Mapping[str, bytes], *, thinking: bool) -> "list[ContentBlockParam]":
    match message:
        case User():
            return [*_parts(message.parts, shown)]
        case Told():
            content = _parts(message.parts, shown) or [{"type": "text", "text": "(no output)"}]
            return [
                {
                    "type": "tool_result",
                    "tool_use_id": message.call_id,
                    "content": content,
                    "is_error": message.is_error,
                }
            ]
        case Assistant():
            blocks = (_block(part, thinking=thinking) for part in message.parts)
            return [block for block in blocks if block is not None]


def _block(part: Text | Thinking | Call, *, thinking: bool) -> "ContentBlockParam | None":
    match part:
        case Text():
            # Empty texts are refused.
            return {"type": "text", "text": part.text} if part.text.strip() else None
        case Call():
            return {"type": "tool_use", "id": part.call_id, "name": part.name, "input": dict(part.input)}
        case Thinking():
            if not thinking or part.signature is None or not _is_sealed(part):
                return None
            if part.signature.startswith(REDACTED_SEAL):
                return {"type": "redacted_thinking", "data": part.signature.removeprefix(REDACTED_SEAL)}
            return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _parts(parts: Sequence[Text | Image], shown: Mapping[str, bytes]) -> "list[TextBlockParam | ImageBlockParam]":
    blocks = (_part(part, shown) for part in parts)
    return [block for block in blocks if block is not None]


def _part(part: Text | Image, shown: Mapping[str, bytes]) -> "TextBlockParam | ImageBlockParam | None":
    if isinstance(part, Text):
        return {"type": "text", "text": part.text} if part.text.strip() else None
    body = shown.get(part.artifact_id)
    if body is None or part.mime not in _MIMES:
        return {"type": "text", "text": NOT_SHOWN}
    mime = cast("Literal['image/jpeg', 'image/png', 'image/gif', 'image/webp']", part.mime)
    # The data must be plain text: handed anything like a path, the SDK would read that file.
    data = base64.b64encode(body).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}


def _cached() -> "CacheControlEphemeralParam":
    return {"type": "ephemeral"}
