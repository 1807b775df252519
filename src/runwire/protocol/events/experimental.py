"""Types that are emitted only when a task asks for them by name; readers must treat them as optional."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload


class AssistantThinkingDelta(Payload):
    """A piece of streamed reasoning."""

    type: ClassVar[str] = "assistant.thinking_delta"

    turn_index: Count
    block_index: Annotated[Count, Meta(description="Which content block of the turn the piece belongs to.")]
    delta: str


class AssistantThinkingComplete(Payload):
    """The whole reasoning of a content block: exactly its deltas, joined."""

    type: ClassVar[str] = "assistant.thinking_complete"

    turn_index: Count
    block_index: Count
    text: str
    signature: Annotated[
        str | UnsetType, Meta(description="The provider's proof that the reasoning is its own; needed to send it back.")
    ] = UNSET


class AssistantToolInputDelta(Payload):
    """A piece of the arguments of a tool call that the model is still writing."""

    type: ClassVar[str] = "assistant.tool_input_delta"

    turn_index: Count
    tool_call_id: str
    tool_name: str | UnsetType = UNSET
    delta: Annotated[str, Meta(description="JSON text; only all pieces together are a whole value.")]


class AssistantMedia(Payload):
    """The model produced something other than text."""

    type: ClassVar[str] = "assistant.media"

    turn_index: Count
    block_index: Count
    mime: str
    artifact_id: str
    summary: Annotated[str | UnsetType, Meta(description="One line for a person.")] = UNSET


class RunChildStarted(Payload):
    """The run handed part of its work to a run of its own."""

    type: ClassVar[str] = "run.child_started"

    child_run_id: str
    agent: str
    summary: Annotated[str, Meta(description="One line for a person: what the child is to do.")]
    tool_call_id: Annotated[str | UnsetType, Meta(description="The tool call that asked for the child.")] = UNSET


class RunChildFinished(Payload):
    """A child run reached its end."""

    type: ClassVar[str] = "run.child_finished"

    child_run_id: str
    final_status: Annotated[str, Meta(description="completed, failed or cancelled.")]
    summary: Annotated[str | UnsetType, Meta(description="One line for a person.")] = UNSET
    cost_micros_usd: Count | UnsetType = UNSET


class RunBranched(Payload):
    """A new run took this one's history up to a point and goes its own way from there."""

    type: ClassVar[str] = "run.branched"

    branch_run_id: str
    from_sequence: Annotated[Count, Meta(description="The last event that both runs share.")]
    reason: str = ""
