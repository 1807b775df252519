"""What the loop knows: a conversation, where it stands in it, and the rules that hold over the run. Values only."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from runwire.host import Ended, ModelRewrite, ToolSpec


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one or more calls of a model. `input_tokens` is ALL input, what caches gave and took included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


class Text(msgspec.Struct, frozen=True):
    """Words."""

    text: str


class Image(msgspec.Struct, frozen=True):
    """A picture, named by the artifact that holds its bytes."""

    artifact_id: str
    mime: str


class Thinking(msgspec.Struct, frozen=True):
    """What the model reasoned, and the provider's seal on it."""

    text: str
    signature: str | None = None


class Call(msgspec.Struct, frozen=True):
    """A tool call that the model asks for. `malformed` is the raw argument text when that is no JSON object."""

    call_id: str
    name: str
    input: Mapping[str, object]
    malformed: str | None = None


class User(msgspec.Struct, frozen=True):
    """What a person, or the runtime in a person's place, says to the model."""

    parts: tuple[Text | Image, ...]


class Assistant(msgspec.Struct, frozen=True):
    """What the model answered."""

    parts: tuple[Text | Thinking | Call, ...]


class Told(msgspec.Struct, frozen=True):
    """What the model is given as the result of one of its calls."""

    call_id: str
    parts: tuple[Text | Image, ...]
    is_error: bool = False


Message = User | Assistant | Told
Phase = Literal["ready", "calling", "acting", "compacting", "over"]


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the loop needs to go on. Two states with the same past are equal."""

    phase: Phase = "ready"
    answered: int = 0
    """Completed calls of the model in the whole chain of resumed runs."""
    turn: int = 0
    """Index of the next turn, or of the one under way; a turn that is tried again keeps its index."""
    attempt: int = 1
    messages: tuple[Message, ...] = ()
    calls: tuple[Call, ...] = ()
    """Proposed in the last answer and not told yet, in order."""
    usage: Usage = Usage()
    cost_micros_usd: int = 0
    warned: bool = False
    simulated: bool = False
    """Tools are asked for in text, because the model cannot be given any."""
    last_input_tokens: int = 0
    """Of the newest completed turn: what compaction looks at."""
    model: str = ""
    rewritten: bool = False
    compacted: bool = False
    """The newest completed turn was a compaction."""
    blind: bool = False
    """It was said that the model cannot see pictures."""
    ended: Ended | None = None
    """How the run ends unless somebody says something more."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What holds over the whole run."""

    provider: str
    """Of the model that is used."""
    model: str
    """Its name, without the provider."""
    asked: str = ""
    """The `provider:name` that the task asked for, before any rewriting."""
    rewrites: Sequence[ModelRewrite] = ()
    tools: Sequence[ToolSpec] = ()
    has_tools: bool = True
    """Whether the model can be given tools."""
    sees_images: bool = True
    window_tokens: int
    max_turns: int
    max_attempts: int = 3
    budget_micros_usd: int | None = None
    spent_before_micros_usd: int = 0
    may_emit: Callable[[str], bool]
