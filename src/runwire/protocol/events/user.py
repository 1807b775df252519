"""What a person puts into the conversation."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload


class UserMessage(Payload):
    """A person posted a message."""

    type: ClassVar[str] = "user.message"

    turn_index: Annotated[Count, Meta(description="The turn that will read the message.")]
    text: str
    by: Annotated[str | UnsetType, Meta(description="Who wrote it, when that is known.")] = UNSET


class UserAttachment(Payload):
    """A person attached a file or an image."""

    type: ClassVar[str] = "user.attachment"

    turn_index: Count
    kind: Annotated[str, Meta(description="image or file.")]
    mime: str
    artifact_id: str
