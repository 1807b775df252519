"""The hash chain of a log that may have holes: markers tell what the chain's value was at the edges of each of them."""

from runwire.protocol import chain
from runwire.protocol.events.gap import GapEventsPruned


class Links:
    """Follows the chain through a log. Behind a hole it keeps the bytes until a marker anchors them.

    A hole that nobody anchored counts as if it were not there, so that any log has one chain value.
    """

    def __init__(self) -> None:
        self._head = chain.GENESIS
        self._expected = 0
        self._anchors: dict[int, bytes] = {}
        self._waiting: list[tuple[int, bytes, bool]] = []

    @property
    def head(self) -> bytes:
        """The chain value after the last envelope that could be linked."""
        return self._head

    def feed(self, sequence: int, stored: bytes, marker: GapEventsPruned | None) -> None:
        """Add an envelope, and its payload when it is a marker."""
        if marker is not None:
            self._anchors |= {anchor.sequence: chain.read(anchor.hash) for anchor in marker.anchors or ()}
        self._waiting.append((sequence, stored, marker is not None))

    def settle(self) -> list[int]:
        """Link what waits, once no more anchors can come for it; return where the edge of a hole is not what a marker says."""
        broken: list[int] = []
        for sequence, stored, is_marker in self._waiting:
            last = self._expected - 1
            hole = is_marker or sequence != self._expected
            if hole and self._anchors.get(last, self._head) != self._head:
                broken.append(last)
            before = self._head if sequence == self._expected else self._anchors.get(sequence - 1, self._head)
            self._head, self._expected = chain.link(before, stored), sequence + 1
            if is_marker:
                # Its anchor speaks of the event whose place it took.
                self._head = self._anchors.get(sequence, self._head)
        self._waiting.clear()
        return broken
