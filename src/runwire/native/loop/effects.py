"""What the loop wants done. The runner carries these out in order; some come back as an input."""

from typing import Literal

from msgspec import Struct

from runwire.host import Ended, ToolSpec
from runwire.native.loop.state import Call, Message
from runwire.protocol.payload import Payload

Purpose = Literal["turn", "compaction"]


class Emit(Struct, frozen=True):
    """Append these events, all or none. A barrier waits until they are durable."""

    payloads: tuple[Payload, ...]
    barrier: bool = False


class CallModel(Struct, frozen=True, kw_only=True):
    """Call the model; Answered or ModelFailed comes back."""

    turn: int
    attempt: int
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    simulated: bool
    purpose: Purpose


class InvokeTools(Struct, frozen=True):
    """Run these calls; Acted comes back."""

    calls: tuple[Call, ...]


class Listen(Struct, frozen=True):
    """Take what people said; Heard comes back."""


class Checkpoint(Struct, frozen=True):
    """The run can be resumed from here."""


class Pause(Struct, frozen=True):
    """Wait before the next try. With `jitter` the runner shortens it by chance, so that runs do not return together."""

    delay_s: float
    jitter: bool = True


class Finish(Struct, frozen=True):
    """The loop is over."""

    ended: Ended


Effect = Emit | CallModel | InvokeTools | Listen | Checkpoint | Pause | Finish
