"""What can happen to the loop. The runner turns the world into these, one at a time."""

from msgspec import Struct

from runwire.host import Said
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Call, Text, Thinking, Told, Usage


class Began(Struct, frozen=True):
    """The run begins, or goes on after a crash: the state says what comes next."""


class Answered(Struct, frozen=True, kw_only=True):
    """The model answered in full. Its blocks are already told; calls stand behind everything else."""

    parts: tuple[Text | Thinking | Call, ...]
    usage: Usage
    cost_micros_usd: int
    duration_ms: int
    stop_reason: str
    unparsed: str = ""
    """Why an answer that should have been a tool call in JSON was not understood."""
    task_spent_micros_usd: int = 0
    """By the whole task, as the host counts it."""


class ModelFailed(Struct, frozen=True, kw_only=True):
    """The model did not answer, or not to the end."""

    error: ModelFault
    cost_micros_usd: int = 0


class Acted(Struct, frozen=True):
    """The whole batch of calls is over. `stop`: a person denied one and ended the run with it."""

    told: tuple[Told, ...]
    stop: bool = False


class Heard(Struct, frozen=True, kw_only=True):
    """What people said since the last time, often nothing. Delivered before every call of the model."""

    said: tuple[Said, ...] = ()
    task_spent_micros_usd: int = 0
    """By the whole task, as the host counts it."""


Input = Began | Answered | ModelFailed | Acted | Heard
