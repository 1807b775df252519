"""Packed entries: which run's events a commit holds, and where the chain stood after them."""

import struct
import zlib
from collections.abc import Iterable, Iterator

from msgspec import Struct

_SEGMENT = struct.Struct("<qqii32s")
_PLACE = struct.Struct("<qqi")


class Entry(Struct, frozen=True, gc=False):
    """Consecutive events of one run inside a commit's body."""

    run_key: int
    first: int
    count: int
    length: int
    hash: bytes

    @property
    def last(self) -> int:
        """The sequence of its last event."""
        return self.first + self.count - 1


pack = _SEGMENT.pack
"""(run_key, first, count, length, hash) as one entry of a commit row."""


def unpack(entries: bytes) -> Iterator[Entry]:
    """The entries of a commit row, in the order of its body."""
    for fields in _SEGMENT.iter_unpack(entries):
        yield Entry(*fields)


def pack_places(entries: Iterable[Entry]) -> bytes:
    """A sealed feed row: who stands where, without the bodies."""
    places: list[tuple[int, int, int]] = []
    for entry in entries:
        if places and places[-1][0] == entry.run_key and places[-1][1] + places[-1][2] == entry.first:
            run_key, first, count = places[-1]
            places[-1] = (run_key, first, count + entry.count)
        else:
            places.append((entry.run_key, entry.first, entry.count))
    return zlib.compress(b"".join(_PLACE.pack(*place) for place in places))


def unpack_places(packed: bytes) -> list[tuple[int, int, int]]:
    """(run_key, first sequence, count) of a sealed feed row, in feed order."""
    return list(_PLACE.iter_unpack(zlib.decompress(packed)))
