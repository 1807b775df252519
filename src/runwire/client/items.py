"""What a stream hands out. Envelopes are the stored bytes, never encoded anew."""

from dataclasses import dataclass

from runwire.client.answers import Pane
from runwire.protocol.envelope import occurred_at_of, run_id_of, type_of


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run: its place and its stored bytes."""

    sequence: int
    envelope: bytes

    @property
    def type(self) -> str:
        """What kind of event it is."""
        return type_of(self.envelope)


@dataclass(frozen=True, slots=True)
class Synced:
    """Everything that was stored when the stream opened has been handed out; what follows is live."""

    sequence: int


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """One event of any run: the feed's cursor right after it, and its stored bytes."""

    cursor: str
    envelope: bytes

    @property
    def type(self) -> str:
        """What kind of event it is."""
        return type_of(self.envelope)

    @property
    def run_id(self) -> str:
        """Which run it belongs to."""
        return run_id_of(self.envelope)

    @property
    def occurred_at(self) -> str:
        """When it happened, as it is stored."""
        return occurred_at_of(self.envelope)


@dataclass(frozen=True, slots=True)
class FeedSynced:
    """The feed has caught up with this cursor; what follows is live."""

    cursor: str


@dataclass(frozen=True, slots=True)
class PanesSynced:
    """Every pane there is has been handed out on this connection; those that were not among them are gone."""

    run_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Drop:
    """A stream broke off and is about to be taken up again."""

    cause: str
    attempt: int
    wait_s: float


RunItem = Event | Synced
FeedItem = FeedEvent | FeedSynced
PaneItem = Pane | PanesSynced
