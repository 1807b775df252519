"""What the loop wants done. The runner carries these out in order; some come back as an input."""

from dataclasses import dataclass
from typing import Literal

from runwire.host import Ended, ToolSpec
from runwire.native.loop.state import Call, Message
from runwire.protocol.payload import Payload

Purpose = Literal["turn", "compaction"]


@dataclass(frozen=True, slots=True)
class Emit:
    """Append these events, all or none. A barrier waits until they are durable."""

    payloads: tuple[Payload, ...]
    barrier: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel:
    """Call the model; Answered or ModelFailed comes back."""

    turn: int
    attempt: int
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    simulated: bool
    purpose: Purpose


@dataclass(frozen=True, slots=True)
class InvokeTools:
    """Run these calls; Acted comes back."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Listen:
    """Take what people said; Heard comes back."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The run can be resumed from here."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before the next try. With `jitter` the runner shortens it by chance, so that runs do not return together."""

    delay_s: float
    jitter: bool = True


@dataclass(frozen=True, slots=True)
class Finish:
    """The loop is over."""

    ended: Ended


Effect = Emit | CallModel | InvokeTools | Listen | Checkpoint | Pause | Finish
