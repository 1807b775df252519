"""Errors that belong to no single tool call."""

from typing import Annotated, ClassVar

from msgspec import Meta

from runwire.protocol.payload import Count, Payload


class ErrorToolUnavailable(Payload):
    """A tool cannot be offered."""

    type: ClassVar[str] = "error.tool_unavailable"

    tool_name: str
    reason: str


class ErrorModelCapabilityMissing(Payload):
    """The model lacks something that the run wanted."""

    type: ClassVar[str] = "error.model_capability_missing"

    model: str
    missing_capability: str
    fallback_strategy: Annotated[str | None, Meta(description="What is done instead; null when nothing can be.")]


class ErrorUpstream(Payload):
    """A model provider failed."""

    type: ClassVar[str] = "error.upstream"

    provider: str
    status: Annotated[int | None, Meta(description="The HTTP status; null when no answer came.")]
    message: str
    retriable: bool
    attempt: Annotated[Count, Meta(description="Which attempt failed, counted from 1.")]
    max_attempts: Count
