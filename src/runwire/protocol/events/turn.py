"""The turns of an agent loop: one call of the model each."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload


class TurnStarted(Payload):
    """A turn begins: the model is about to be called."""

    type: ClassVar[str] = "turn.started"

    turn_index: Count
    model: Annotated[str | None, Meta(description="Null when the agent does not say.")]
    provider: Annotated[str | None, Meta(description="Null when the agent does not say.")]
    input_tokens_estimate: Annotated[Count | None, Meta(description="Null when nobody estimated.")] = None


class TurnCompleted(Payload):
    """The turn finished; its tokens and cost are authoritative."""

    type: ClassVar[str] = "turn.completed"

    turn_index: Count
    input_tokens: Annotated[Count, Meta(description="All input, the cached part included.")]
    output_tokens: Count
    cached_input_tokens: Annotated[Count, Meta(description="The part of the input that was read from a cache.")] = 0
    cost_micros_usd: Count
    duration_ms: Count
    tool_calls: Annotated[Count, Meta(description="How many tool calls the model asked for.")]
    stop_reason: Annotated[str, Meta(description="Why the model stopped, such as end_turn or tool_use.")]


class TurnFailed(Payload):
    """The turn failed; the run may try again or fail."""

    type: ClassVar[str] = "turn.failed"

    turn_index: Count
    code: Annotated[str, Meta(description="A stable name for the cause, such as model_timeout.")]
    message: str
    will_retry: bool = False
    input_tokens: Count | UnsetType = UNSET
    output_tokens: Count | UnsetType = UNSET
    cost_micros_usd: Count | UnsetType = UNSET
