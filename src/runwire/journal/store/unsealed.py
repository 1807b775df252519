"""Where the events lie that no chunk holds yet: an index in memory over the commit rows, rebuilt at every start."""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from threading import Lock

from runwire.journal.store.entries import unpack


@dataclass(slots=True)
class _Places:
    firsts: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    tip: tuple[int, bytes] = (-1, b"")


class Unsealed:
    """Run → the commits that hold its unsealed events. Safe to use from any thread.

    Commits are indexed when somebody asks: live readers are served from the shared tail, so mostly nobody does.
    """

    def __init__(self) -> None:
        """Nothing is unsealed yet."""
        self._by_run: dict[int, _Places] = {}
        self._new: deque[tuple[int, bytes]] = deque()
        self._lock = Lock()
        self.bytes = 0
        self.sealed_through = -1

    def restart(self, sealed_through: int) -> None:
        """Forget everything: all positions up to `sealed_through` are sealed, and the rest will be added anew."""
        with self._lock:
            self._by_run.clear()
            self._new.clear()
            self.bytes = 0
            self.sealed_through = sealed_through

    def add(self, position: int, entries: bytes, size: int) -> None:
        """Learn of one commit: its packed entries, and how many bytes its body has."""
        with self._lock:
            self._new.append((position, entries))
            self.bytes += size

    def drop(self, through: int, size: int) -> None:
        """Forget the commits that end at position `through` or before, whose bodies have `size` bytes in all."""
        with self._lock:
            self.sealed_through = max(self.sealed_through, through)
            self.bytes -= size
            while self._new and self._new[0][0] <= through:
                self._new.popleft()
            for run_key in [key for key, places in self._by_run.items() if places.positions[0] <= through]:
                places = self._by_run[run_key]
                gone = bisect_right(places.positions, through)
                del places.firsts[:gone], places.positions[:gone]
                if not places.positions:
                    del self._by_run[run_key]

    def tip(self, run_key: int) -> tuple[int, bytes] | None:
        """The last unsealed sequence of a run and the chain's value there."""
        with self._lock:
            self._index()
            places = self._by_run.get(run_key)
            return None if places is None else places.tip

    def positions(self, run_key: int, after: int, most: int) -> list[int]:
        """The first `most` commits that may hold events of the run past `after`, in order."""
        with self._lock:
            self._index()
            places = self._by_run.get(run_key)
            if places is None:
                return []
            start = max(0, bisect_right(places.firsts, after + 1) - 1)
            return list(dict.fromkeys(places.positions[start : start + most]))

    def _index(self) -> None:
        while self._new:
            position, entries = self._new.popleft()
            for entry in unpack(entries):
                places = self._by_run.get(entry.run_key)
                if places is None:
                    places = self._by_run[entry.run_key] = _Places()
                places.firsts.append(entry.first)
                places.positions.append(position)
                places.tip = (entry.last, entry.hash)
