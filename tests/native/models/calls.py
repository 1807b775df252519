"""Calls to models, and what came of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runwire.host import ToolSpec
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Call, Message, Text, Usage, User
from runwire.native.models.model import (
    CallChunk,
    Chunk,
    InputChunk,
    MediaChunk,
    Model,
    ModelCall,
    SignatureChunk,
    Stop,
    TextChunk,
    ThinkingChunk,
)

TOOLS = (
    ToolSpec(
        "shell_exec",
        "Run a command.",
        {"type": "object", "properties": {"command": {"type": "string"}}, "required": []},
    ),
    ToolSpec("file_read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}),
)
HELLO: tuple[Message, ...] = (User((Text("Say hello."),)),)


def ask(
    *,
    messages: Sequence[Message] = HELLO,
    tools: Sequence[ToolSpec] = TOOLS,
    images: Mapping[str, bytes] | None = None,
    thinking: bool = False,
    ordinal: int = 0,
    attempt: int = 1,
) -> ModelCall:
    return ModelCall(
        messages=messages,
        system="You are a test.",
        tools=tools,
        images=images or {},
        max_output_tokens=4096,
        thinking=thinking,
        ordinal=ordinal,
        attempt=attempt,
    )


@dataclass
class Heard:
    """An answer, put together from its chunks."""

    chunks: list[Chunk] = field(default_factory=list)
    text: str = ""
    thinking: str = ""
    signature: str = ""
    calls: list[Call] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    media: list[MediaChunk] = field(default_factory=list)
    stop: Stop | None = None

    @property
    def usage(self) -> Usage:
        assert self.stop is not None
        return self.stop.usage

    def take(self, chunk: Chunk) -> None:
        assert self.stop is None, "something came after the end"
        self.chunks.append(chunk)
        match chunk:
            case TextChunk():
                self.text += chunk.text
            case ThinkingChunk():
                self.thinking += chunk.text
            case SignatureChunk():
                self.signature += chunk.signature
            case InputChunk():
                self.inputs[chunk.call_id] = self.inputs.get(chunk.call_id, "") + chunk.text
            case CallChunk():
                self.calls.append(chunk.call)
            case MediaChunk():
                self.media.append(chunk)
            case Stop():
                self.stop = chunk


async def hear(model: Model, call: ModelCall) -> Heard:
    """The whole answer; it must be whole."""
    heard = Heard()
    async for chunk in model.stream(call):
        heard.take(chunk)
    assert heard.stop is not None
    return heard


async def fail(model: Model, call: ModelCall) -> tuple[ModelFault, Heard]:
    """The fault that a call ends in, and what came before it."""
    heard = Heard()
    try:
        async for chunk in model.stream(call):
            heard.take(chunk)
    except ModelFault as fault:
        return fault, heard
    raise AssertionError(f"the call did not fail: {heard}")
