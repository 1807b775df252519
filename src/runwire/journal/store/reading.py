"""The read side of the log: sealed chunks first, then the commits that no chunk has taken in yet."""

from collections.abc import Callable, Iterator, Sequence
from zlib import crc32

import apsw
import lz4.block
from msgspec import Struct

from runwire.errors import StoreCorrupt
from runwire.journal.frames import frame_end, last_sequence, skip, split
from runwire.journal.records import FeedEvent, Segment
from runwire.journal.store.entries import unpack, unpack_places

_CHUNKS = (
    "SELECT first_sequence, last_sequence, size, body FROM chunks "
    "WHERE run_key = ? AND last_sequence > ? ORDER BY last_sequence"
)
_CHUNK = f"{_CHUNKS} LIMIT 1"
# A page is what one trip to the disk brings: large enough that the trip does not count, small enough to wait for.
_PAGE_BYTES = 512 * 1024
# What is poured in one go takes a few milliseconds; then others have their turn.
_POUR_BYTES = 4 * 1024 * 1024
_CHECKSUM_BYTES = 4
_Page = tuple[int, dict[int, bytes]]
_COMMIT = "SELECT entries, checksum, body FROM commits WHERE position = ?"


Take = Callable[[bytes], int]
"""Takes as many bytes as it has room for, and says how many those were."""


Keep = Callable[[bytes], bytes]
"""Leaves out some of the frames."""


class Poured(Struct, frozen=True, gc=False):
    """How far a taker got, in sequences and in bytes, once it has the rest of the frame that it broke off in, too."""

    last: int
    size: int
    rest: bytes = b""


def pour(
    db: apsw.Connection, run_key: int, after: int, positions: Sequence[int], take: Take, keep: Keep | None = None
) -> Poured | None:
    """Hand the stored frames of a run past `after` to a taker, some MB at most; None when there are none.

    A chunk is held only while it is taken. Nothing is joined or copied, and nothing is read beyond what there is room for.
    A taker without room for anything is given one frame to keep until it has.
    """
    last, read, size = after, 0, 0
    for upto, frames in _stored(db, run_key, after, positions):
        kept = frames if keep is None else keep(frames)
        taken = take(kept)
        if taken < len(kept):
            end = frame_end(kept, taken)
            return Poured(last_sequence(kept, end), size + end, kept[taken:end])
        last, read, size = upto, read + len(frames), size + taken
        if read >= _POUR_BYTES:
            break
    return None if last == after else Poured(last, size)


def read_segment(db: apsw.Connection, run_key: int, after: int, positions: Sequence[int]) -> Segment | None:
    """The next stored frames of a run past `after`: some chunks, or what the given commits hold; None at the end."""
    pieces: list[bytes] = []
    size, last = 0, after
    for upto, frames in _stored(db, run_key, after, positions):
        pieces.append(frames)
        size, last = size + len(frames), upto
        if size >= _PAGE_BYTES:
            break
    if not pieces:
        return None
    return Segment("", after + 1, last, pieces[0] if len(pieces) == 1 else b"".join(pieces))


def _stored(db: apsw.Connection, run_key: int, after: int, positions: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """A run's frames past `after` as they are stored, and the sequence that each piece ends with.

    What is sealed comes first; the given commits are looked at only when nothing is.
    """
    sealed = False
    for first, upto, size, body in db.execute(_CHUNKS, (run_key, after)):
        sealed = True
        frames = inflate(body, size, run_key, first)
        yield upto, skip(frames, after) if first <= after else frames
    if sealed:
        return
    last = after
    for position in positions:
        for first, upto, frames in _of_run(db, position, run_key):
            if upto > last:
                yield upto, skip(frames, last) if first <= last else frames
                last = upto


def inflate(body: bytes, size: int, run_key: int, first: int) -> bytes:
    """A chunk's frames; a body that was damaged is refused, never served."""
    packed = memoryview(body)[_CHECKSUM_BYTES:]
    if crc32(packed) != int.from_bytes(body[:_CHECKSUM_BYTES], "big"):
        raise StoreCorrupt(f"chunk {first} of run {run_key}: its checksum does not fit its body")
    frames: bytes = lz4.block.decompress(packed, uncompressed_size=size)
    return frames


def deflate(frames: bytes) -> bytes:
    """A chunk's body: a checksum that `inflate` insists on, and the frames, packed so that unpacking costs next to nothing."""
    packed: bytes = lz4.block.compress(frames, store_size=False)
    return crc32(packed).to_bytes(_CHECKSUM_BYTES, "big") + packed


def _of_run(db: apsw.Connection, position: int, run_key: int) -> list[tuple[int, int, bytes]]:
    row = db.execute(_COMMIT, (position,)).fetchone()
    if row is None:
        return []
    packed, checksum, body = row
    if crc32(body) != checksum:
        raise StoreCorrupt(f"commit {position}: its checksum does not fit its body")
    found, at = [], 0
    for entry in unpack(packed):
        if entry.run_key == run_key:
            found.append((entry.first, entry.last, body[at : at + entry.length]))
        at += entry.length
    return found


def next_position(db: apsw.Connection) -> int:
    """The feed position that follows everything stored."""
    unsealed = db.execute("SELECT position + count FROM commits ORDER BY position DESC LIMIT 1").fetchone()
    sealed = db.execute("SELECT last_position + 1 FROM feed ORDER BY last_position DESC LIMIT 1").fetchone()
    return max(0 if row is None else int(row[0]) for row in (unsealed, sealed))


def read_feed(db: apsw.Connection, position: int, limit: int) -> tuple[list[FeedEvent], int]:
    """Up to `limit` events from `position` on, and the position to go on from; an empty list means the end."""
    row = db.execute(
        "SELECT first_position, last_position, entries FROM feed WHERE last_position >= ? ORDER BY last_position LIMIT 1",
        (position,),
    ).fetchone()
    if row is not None:
        return _sealed_feed(db, row, position, limit)
    rows = db.execute(
        "SELECT position, count, entries, checksum, body FROM commits "
        "WHERE position >= ifnull((SELECT max(position) FROM commits WHERE position <= ?1), 0) ORDER BY position LIMIT 2",
        (position,),
    )
    for start, count, packed, checksum, body in rows:
        if start + count > position:
            return _commit_feed(db, (start, packed, checksum, body), position, limit)
    return [], position


def _commit_feed(
    db: apsw.Connection, row: tuple[int, bytes, int, bytes], position: int, limit: int
) -> tuple[list[FeedEvent], int]:
    start, packed, checksum, body = row
    if crc32(body) != checksum:
        raise StoreCorrupt(f"commit {start}: its checksum does not fit its body")
    events: list[FeedEvent] = []
    pages: dict[int, _Page] = {}
    at, place = 0, start
    for entry in unpack(packed):
        if place + entry.count > position and len(events) < limit:
            run_id = _run_id(db, entry.run_key)
            found = dict(split(body[at : at + entry.length]))
            for offset in range(max(0, position - place), entry.count):
                if len(events) == limit:
                    break
                sequence = entry.first + offset
                # Imported runs go straight into chunks, and their commit only tells their place.
                envelope = found.get(sequence) or _sealed_event(db, pages, entry.run_key, sequence)
                if envelope is not None:
                    events.append(FeedEvent(place + offset, run_id, envelope))
        place += entry.count
        at += entry.length
    return events, (events[-1].position + 1 if len(events) == limit else place)


def _sealed_feed(
    db: apsw.Connection, row: tuple[int, int, bytes], position: int, limit: int
) -> tuple[list[FeedEvent], int]:
    place, last_position, packed = row
    events: list[FeedEvent] = []
    pages: dict[int, _Page] = {}
    for run_key, first, count in unpack_places(packed):
        if place + count <= position:
            place += count
            continue
        run_id = _run_id(db, run_key)
        for offset in range(max(0, position - place), count):
            if len(events) == limit:
                return events, events[-1].position + 1
            envelope = _sealed_event(db, pages, run_key, first + offset)
            if envelope is not None:
                events.append(FeedEvent(place + offset, run_id, envelope))
        place += count
    return events, last_position + 1


def _sealed_event(db: apsw.Connection, pages: dict[int, _Page], run_key: int, sequence: int) -> bytes | None:
    """One event out of a run's chunks, or None where it has been pruned; the last chunk of each run is kept open."""
    page = pages.get(run_key)
    if page is None or page[0] < sequence:
        row = db.execute(_CHUNK, (run_key, sequence - 1)).fetchone()
        if row is None:
            return None
        first, last, size, body = row
        page = pages[run_key] = (last, dict(split(inflate(body, size, run_key, first))))
    return page[1].get(sequence)


def _run_id(db: apsw.Connection, run_key: int) -> str:
    row = db.execute("SELECT run_id FROM runs WHERE run_key = ?", (run_key,)).fetchone()
    return "" if row is None else str(row[0])
