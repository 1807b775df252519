"""Searches in the workspace, reported once when done."""

from typing import Annotated, ClassVar

from msgspec import Meta

from runwire.protocol.payload import Count, Payload, Record


class GlobCompleted(Payload):
    """File names were matched against a pattern."""

    type: ClassVar[str] = "tool.glob.completed"

    tool_call_id: str
    pattern: str
    matches: list[str]
    match_count: Annotated[Count, Meta(description="How many there are, also when fewer are listed.")]
    truncated: Annotated[bool, Meta(description="Whether matches were left out because of a cap.")] = False


class GrepMatch(Record):
    """One line that matched."""

    path: str
    line: Count
    text: str


class GrepCompleted(Payload):
    """File contents were searched."""

    type: ClassVar[str] = "tool.grep.completed"

    tool_call_id: str
    pattern: str
    files_searched: Count
    matches: list[GrepMatch]
    match_count: Annotated[Count, Meta(description="How many there are, also when fewer are listed.")]
    truncated: Annotated[bool, Meta(description="Whether matches were left out because of a cap.")] = False
