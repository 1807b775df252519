"""Where a reader is in a stream, what it asks for next, and whether there is anything left to ask for. No I/O."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec

from runwire.client.answers import Pane
from runwire.client.items import Event, FeedEvent, FeedItem, FeedSynced, PaneItem, PanesSynced, RunItem, Synced
from runwire.client.sse import Frame, MalformedStream
from runwire.errors import InvalidFilter
from runwire.protocol import catalogue
from runwire.protocol.catalogue import TERMINAL, type_filter
from runwire.protocol.envelope import type_of

_T = TypeVar("_T")
_Item_co = TypeVar("_Item_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Opening:
    """What to ask for so that a stream goes on from a cursor."""

    path: str
    params: Mapping[str, str]
    last_event_id: str | None


class Cursor(Protocol[_Item_co]):
    """A place in a stream. It moves with each frame that it takes."""

    @property
    def over(self) -> bool:
        """Whether nothing can follow, so that there is no coming back when the connection ends."""
        ...

    def opening(self) -> Opening:
        """Begin a connection from here."""
        ...

    def take(self, frame: Frame) -> _Item_co | None:
        """Move past a frame; None when there is nothing in it for the reader."""
        ...


class _RunSynced(msgspec.Struct):
    sequence: int


class _FeedSynced(msgspec.Struct):
    cursor: str


_RUN_SYNCED = msgspec.json.Decoder(_RunSynced)
_FEED_SYNCED = msgspec.json.Decoder(_FeedSynced)
_PANE = msgspec.json.Decoder(Pane)


class RunCursor:
    """A place in the log of one run."""

    def __init__(self, path: str, *, after: int = -1, types: str | None = None) -> None:
        """Stand right after the event `after`; `types` is a filter such as `tool.shell.*,run.*`."""
        self._path = path
        self._after = after
        self._ended = False
        self._synced = False
        # With a filter we also ask for the events that end a run, and keep them to ourselves if they were not wanted:
        # without them there is no telling the end of a run from the end of a connection.
        self._wanted = None if types is None else _compiled(types)
        self._types = None if types is None else ",".join([types, *sorted(TERMINAL)])

    @property
    def over(self) -> bool:
        """Whether the run has ended and this connection has sent all there was; a backlog cut short is not all."""
        return self._ended and self._synced

    def opening(self) -> Opening:
        """Ask for what follows the last event; a place before the first event needs no mention."""
        self._synced = False
        params = {} if self._types is None else {"type": self._types}
        return Opening(self._path, params, None if self._after < 0 else str(self._after))

    def take(self, frame: Frame) -> RunItem | None:
        """Move past a frame. What was seen before is dropped, so that nothing comes twice."""
        if frame.event == "synced":
            head = _decoded(frame, _RUN_SYNCED).sequence
            # Events that the filter hides count as seen, too.
            self._after = max(self._after, head)
            self._synced = True
            return Synced(head)
        if frame.event != "message":
            return None
        sequence = _sequence(frame)
        if sequence <= self._after:
            return None
        self._after = sequence
        event_type = type_of(frame.data)
        self._ended = self._ended or event_type in TERMINAL
        if self._wanted is not None and not self._wanted(event_type):
            return None
        return Event(sequence, frame.data)


class FeedCursor:
    """A place in the feed of all runs, which never ends."""

    over = False

    def __init__(self, path: str, *, cursor: str | None, filters: Mapping[str, str]) -> None:
        """Stand at `cursor`, or where the filters' `from` says."""
        self._path = path
        self._cursor = cursor
        self._filters = filters

    def opening(self) -> Opening:
        """Ask for what follows the last event, with the same filters as ever."""
        return Opening(self._path, self._filters, self._cursor)

    def take(self, frame: Frame) -> FeedItem | None:
        """Move past a frame."""
        if frame.event == "synced":
            # Events that the filters hide count as seen, too.
            self._cursor = _decoded(frame, _FEED_SYNCED).cursor
            return FeedSynced(self._cursor)
        if frame.event != "message":
            return None
        if frame.id is None:
            raise MalformedStream("an event of the feed has no cursor")
        self._cursor = frame.id
        return FeedEvent(frame.id, frame.data)


class PaneCursor:
    """The panes of all runs. There is no place to go on from: every connection begins with all of them."""

    over = False

    def __init__(self, path: str) -> None:
        """Stand before the first pane."""
        self._path = path
        self._seen: set[str] = set()

    def opening(self) -> Opening:
        """Ask for every pane, and then for those that change."""
        self._seen = set()
        return Opening(self._path, {}, None)

    def take(self, frame: Frame) -> PaneItem | None:
        """Move past a frame."""
        if frame.event == "synced":
            return PanesSynced(frozenset(self._seen))
        if frame.event != "pane":
            return None
        pane = _decoded(frame, _PANE)
        self._seen.add(pane.run_id)
        return pane


def _compiled(types: str) -> Callable[[str], bool]:
    try:
        return type_filter(types)
    except catalogue.InvalidFilter as error:
        raise InvalidFilter("type", types) from error


def _decoded(frame: Frame, decoder: msgspec.json.Decoder[_T]) -> _T:
    try:
        return decoder.decode(frame.data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedStream(f"a {frame.event} frame cannot be read: {error}") from error


def _sequence(frame: Frame) -> int:
    if frame.id is None or not frame.id.isdigit():
        raise MalformedStream(f"an event has the id {frame.id!r}, which is no sequence")
    return int(frame.id)
