"""Objects that a run produced or used, kept apart from the log."""

from typing import Annotated, ClassVar

from msgspec import Meta

from runwire.protocol.payload import Count, Payload


class ArtifactCreated(Payload):
    """An artifact was stored."""

    type: ClassVar[str] = "artifact.created"

    artifact_id: str
    kind: Annotated[
        str,
        Meta(
            description="patch, file_snapshot, command_output, fetched_resource, search_results, image or tool_result_blob."
        ),
    ]
    size_bytes: Count
    summary: Annotated[str, Meta(description="One line for a person.")]
    created_by_event_id: Annotated[str | None, Meta(description="The event that led to it; null when none did.")] = None


class ArtifactReferenced(Payload):
    """An event used an artifact that was there before."""

    type: ClassVar[str] = "artifact.referenced"

    artifact_id: str
    by_event_id: str
    relation: Annotated[str, Meta(description="How it was used, such as consumed.")]


class ArtifactUpdated(Payload):
    """One field of an artifact's metadata changed; its body never does."""

    type: ClassVar[str] = "artifact.updated"

    artifact_id: str
    field: str
    old_value: str | int | float | bool | None
    new_value: str | int | float | bool | None
