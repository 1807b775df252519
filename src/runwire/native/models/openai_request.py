"""A conversation as OpenAI's Chat Completions takes it."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from runwire.host import ToolSpec
from runwire.native.loop.state import Assistant, Call, Image, Message, Text, Told, User
from runwire.native.models.model import ModelCall

if TYPE_CHECKING:
    from openai.types.chat import (
        ChatCompletionContentPartParam,
        ChatCompletionMessageFunctionToolCallParam,
        ChatCompletionMessageParam,
        ChatCompletionToolParam,
    )

NOT_SHOWN = "[a picture that cannot be shown here]"


def tools_of(tools: Sequence[ToolSpec]) -> "list[ChatCompletionToolParam]":
    """The tools that the model may call."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.about, "parameters": dict(tool.schema)},
        }
        for tool in tools
    ]


def messages_of(call: ModelCall, *, images: bool) -> "list[ChatCompletionMessageParam]":
    """The system prompt and all that was said; without `images` pictures are only named."""
    shown = call.images if images else {}
    told: list[Image] = []
    out: list[ChatCompletionMessageParam] = []
    if call.system:
        out.append({"role": "system", "content": call.system})
    for message in call.messages:
        if told and not isinstance(message, Told):
            out.append(_pictures(told, shown))
            told = []
        out.extend(_message(message, shown))
        if isinstance(message, Told):
            told += [part for part in message.parts if isinstance(part, Image)]
    if told:
        out.append(_pictures(told, shown))
    return out


def _message(message: Message, shown: Mapping[str, bytes]) -> "Iterator[ChatCompletionMessageParam]":
    match message:
        case User():
            yield {"role": "user", "content": _content(message.parts, shown)}
        case Assistant():
            text = "".join(part.text for part in message.parts if isinstance(part, Text))
            calls = [part for part in message.parts if isinstance(part, Call)]
            if calls:
                yield {"role": "assistant", "content": text or None, "tool_calls": [_written(call) for call in calls]}
            elif text:
                yield {"role": "assistant", "content": text}
        case Told():
            # This wire has no pictures in a tool's result; they follow in a message of their own.
            text = "\n".join(part.text for part in message.parts if isinstance(part, Text))
            yield {"role": "tool", "tool_call_id": message.call_id, "content": text or "(no text)"}


def _content(parts: Sequence[Text | Image], shown: Mapping[str, bytes]) -> "str | list[ChatCompletionContentPartParam]":
    # Plain text where there is nothing else: not every server takes parts.
    if all(isinstance(part, Text) or part.artifact_id not in shown for part in parts):
        return "\n".join(part.text if isinstance(part, Text) else NOT_SHOWN for part in parts)
    return [_part(part, shown) for part in parts]


def _part(part: Text | Image, shown: Mapping[str, bytes]) -> "ChatCompletionContentPartParam":
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    body = shown.get(part.artifact_id)
    if body is None:
        return {"type": "text", "text": NOT_SHOWN}
    url = f"data:{part.mime};base64,{base64.b64encode(body).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _pictures(images: Sequence[Image], shown: Mapping[str, bytes]) -> "ChatCompletionMessageParam":
    heading = Text("Pictures that the tools above returned:")
    return {"role": "user", "content": _content([heading, *images], shown)}


def _written(call: Call) -> "ChatCompletionMessageFunctionToolCallParam":
    # Arguments that are no JSON are not sent back: servers that parse them would refuse the whole conversation.
    arguments = msgspec.json.encode(call.input).decode()
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
