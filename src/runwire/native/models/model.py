"""What the loop asks of a model: a conversation in, chunks out. Every provider, and a script, is one of these."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from runwire.host import ToolSpec
from runwire.native.loop.state import Call, Message, Usage


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a model can do."""

    tool_use: bool = True
    images: bool = False
    thinking: bool = False
    window_tokens: int = 128_000
    max_output_tokens: int = 8_192


class ModelCall(Struct, frozen=True, kw_only=True):
    """One question to a model."""

    messages: Sequence[Message]
    system: str
    tools: Sequence[ToolSpec] = ()
    images: Mapping[str, bytes] = field(default_factory=dict)
    """Bytes of the pictures in `messages`, by artifact id; one that is not in here cannot be shown."""
    max_output_tokens: int
    thinking: bool = False
    ordinal: int = 0
    """Completed calls of the model in the chain of resumed runs so far."""
    attempt: int = 1
    """Which try of this call it is, counted from 1."""


class TextChunk(Struct, frozen=True):
    """A piece of text of a content block."""

    block: int
    text: str


class ThinkingChunk(Struct, frozen=True):
    """A piece of reasoning of a content block."""

    block: int
    text: str


class SignatureChunk(Struct, frozen=True):
    """The provider's seal on the reasoning of a block."""

    block: int
    signature: str


class InputChunk(Struct, frozen=True):
    """A piece of the arguments of a call that the model is still writing. Its `CallChunk` follows."""

    call_id: str
    name: str
    text: str


class CallChunk(Struct, frozen=True):
    """A whole tool call."""

    call: Call


class MediaChunk(Struct, frozen=True):
    """Something other than text that the model made."""

    block: int
    mime: str
    body: bytes


class Stop(Struct, frozen=True):
    """The answer is whole. A cost of None is looked up in the table of prices."""

    reason: str
    usage: Usage
    cost_micros_usd: int | None = None


Chunk = TextChunk | ThinkingChunk | SignatureChunk | InputChunk | CallChunk | MediaChunk | Stop


class Model(Protocol):
    """A model of one provider. Calls may run side by side."""

    @property
    def provider(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def stream(self, call: ModelCall) -> AsyncGenerator[Chunk]:
        """Yield chunks and exactly one Stop at the end; every failure is a ModelFault."""
        ...

    async def close(self) -> None: ...


class Models(Protocol):
    """Where models come from. Whoever made it closes them; runs share them."""

    def model(self, name: str) -> Model:
        """The model of a `provider:name`. One that cannot be had (no such provider, no key) is a ModelFault."""
        ...

    def price(self, model: Model, usage: Usage) -> int | None:
        """What a call cost in micro-dollars, rounded up; None when nobody knows."""
        ...
