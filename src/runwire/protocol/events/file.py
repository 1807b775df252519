"""Files read, and files that a tool wants to create."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload


class FileReadCompleted(Payload):
    """A file, or part of it, was read."""

    type: ClassVar[str] = "tool.file_read.completed"

    tool_call_id: str
    path: str
    size_bytes: Count
    lines: Count
    snippet_artifact_id: Annotated[str | UnsetType, Meta(description="The bytes that were read.")] = UNSET


class FileWriteProposed(Payload):
    """A tool wants to create a file; a write to an existing path is `tool.edit.proposed` instead."""

    type: ClassVar[str] = "tool.file_write.proposed"

    tool_call_id: str
    path: str
    patch_artifact_id: str
    summary: Annotated[str, Meta(description="One line for a person, such as new file, 42 lines.")]
    auto_apply: Annotated[bool, Meta(description="Whether it is applied without waiting for a person.")]
