"""Marks of history that is missing."""

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from runwire.protocol.payload import Count, Payload, Record


class Anchor(Record):
    """The value of the hash chain right after one event, at the edge of a hole."""

    sequence: Count
    hash: Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]


class GapEventsPruned(Payload):
    """Events of this range were removed; the marker stands in the place of the last one."""

    type: ClassVar[str] = "gap.events_pruned"

    first_pruned_sequence: Count
    last_pruned_sequence: Count
    pruned_at: str
    reason: Annotated[str, Meta(description="retention_window, retention_count, retention_size or operator.")]
    anchors: Annotated[
        list[Anchor] | UnsetType,
        Meta(description="The chain value at the end of each hole, so that what is left still verifies."),
    ] = UNSET


class GapRunDisconnected(Payload):
    """The worker was lost; what it did since this point may be missing."""

    type: ClassVar[str] = "gap.run_disconnected"

    since_sequence: Annotated[int, Meta(ge=-1, description="The last event known to be stored; -1 when none is.")]
    since_at: str
    reason: str
