"""What the model says: streamed text, the tool calls it asks for, its final answer."""

from typing import Annotated, ClassVar

from msgspec import Meta

from runwire.protocol.payload import Count, Payload


class AssistantTextDelta(Payload):
    """A piece of streamed text."""

    type: ClassVar[str] = "assistant.text_delta"

    turn_index: Count
    block_index: Annotated[Count, Meta(description="Which content block of the turn the piece belongs to.")]
    delta: str


class AssistantTextComplete(Payload):
    """The whole text of a content block: exactly its deltas, joined."""

    type: ClassVar[str] = "assistant.text_complete"

    turn_index: Count
    block_index: Count
    text: str


class AssistantToolCallProposed(Payload):
    """The model asked for a tool call, which has not run yet."""

    type: ClassVar[str] = "assistant.tool_call_proposed"

    turn_index: Count
    tool_call_id: str
    tool_name: str
    input: Annotated[dict[str, object], Meta(description="The arguments as the model gave them.")]


class AssistantFinalAnswer(Payload):
    """The model signalled that it is done."""

    type: ClassVar[str] = "assistant.final_answer"

    turn_index: Count
    summary: str
