"""What a dialect is: it understands the stream of one agent and says what happened. Pure; it neither waits nor looks at a clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from runwire.host import Answer, Effects, Failed, Finished
from runwire.protocol.payload import Opaque, Payload

if TYPE_CHECKING:
    from runwire.agents.telling import Teller


class Usage(Struct, frozen=True):
    """Tokens and money of one call of a model. `input_tokens` are all of them, the cached part included."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_micros_usd: int | None = None
    """None when the agent does not say."""


QuestionKind = Literal["permission", "choice", "input", "external"]
"""What an agent waits for: a yes, a choice, words, or something done elsewhere."""

Price = Callable[[str | None, str | None, Usage], int | None]
"""What a call costs in micro-dollars by provider and model, where the agent does not say; None when nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """What is known about a stream before its first frame."""

    agent: str
    driven: bool = False
    """Whether we speak with the agent. Otherwise we only watch: then prompts and decisions are told as the stream shows them."""
    experimental: frozenset[str] = frozenset()
    first_turn: int = 0
    cwd: str = ""
    env_keys: Sequence[str] = ()
    sandbox_layer: str = "unknown"
    budget_micros_usd: int | None = None
    spent_before_micros_usd: int = 0
    price: Price | None = None
    approval_id: Callable[[], str] | None = None
    """Makes the ids of the approvals that are told of what is watched; the agent's own are used when None."""
    session: Mapping[str, str] = field(default_factory=dict)
    """Ids of the agent's own that an earlier stay left, for agents that take up where they were."""


class Reply(Struct, frozen=True):
    """Bytes to send to the agent: a whole line, or the body of a request."""

    data: bytes


class Body(Struct, frozen=True, kw_only=True):
    """Something too long, or not text, for an event. It comes right before the event that it belongs to."""

    kind: str = "tool_result_blob"
    mime: str = "text/plain; charset=utf-8"
    summary: str = ""
    tool_call_id: str | None = None
    text: str | None = None
    base64: str | None = None


class Question(Struct, frozen=True, kw_only=True):
    """The agent waits for a decision."""

    question_id: str
    """The agent's own id of it."""
    kind: QuestionKind = "permission"
    tool_call_id: str | None = None
    tool_name: str
    tool_kind: str
    summary: str
    """One line for a person: what will happen."""
    reason: str
    """Why the agent asks."""
    input: Mapping[str, object]
    effects: Effects = frozenset()
    paths: Sequence[str] = ()
    hosts: Sequence[str] = ()
    argv_text: str | None = None
    choices: Sequence[str] = ()
    fixed: bool = False
    """Whether it can be allowed as it is or not at all: the agent takes no other input."""


class Overspent(Struct, frozen=True):
    """The budget is spent: what the agent asks next is denied, and then it is interrupted."""


Item = Payload | Opaque | Reply | Body | Question | Overspent
"""What comes of frames, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd:
    """How a stream ended. Nothing is said where nothing is known."""

    exit_code: int | None = None
    signal: str | None = None
    stderr: str = ""
    lost: str = ""
    """Why it broke off, when it did."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The agent stopped because it was asked to."""

    by: str = "operator"
    reason: str = ""


Outcome = Finished | Failed | Cancelled


class Seen(Struct, frozen=True):
    """A frame as the glass pane shows it."""

    raw_type: str
    names: tuple[str, ...] = ()
    """Canonical names; none when the frame changes nothing."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that goes with a prompt."""

    mime: str
    base64: str


class Dialect(Protocol):
    """Understands one stream."""

    @property
    def teller(self) -> "Teller":
        """Who tells what happened."""
        ...

    def feed(self, data: bytes, at_ns: int, name: str = "") -> Seen:
        """Take one frame; what happened is in the teller."""
        ...

    def end(self, end: StreamEnd, at_ns: int) -> Outcome:
        """The stream is over: close whatever is open, truthfully, and say how the work ended."""
        ...


class Speaker(Dialect, Protocol):
    """A dialect that can also be spoken. What is to be sent comes as `Reply` items from the teller."""

    @property
    def ready(self) -> bool:
        """Whether a prompt may be sent now."""
        ...

    def hello(self) -> None:
        """Say the first words."""
        ...

    def prompt(self, text: str, images: Sequence[Image] = ()) -> None:
        """Ask for something. One prompt at a time: only when `ready`."""
        ...

    def answer(self, question_id: str, answer: Answer) -> None:
        """Answer a question that the agent has asked."""
        ...

    def cancel(self, by: str, reason: str) -> bool:
        """Ask it to stop what it does, and remember that we did; False when the agent knows no such word."""
        ...
