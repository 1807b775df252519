"""Sealing: settled commits are taken apart into per-run chunks, in small transactions that hold up an append for little.

A window of the oldest commits is read and compressed outside any transaction. Chunks are written first, a few at a time;
then the window's places in the feed, which is the moment it counts as sealed; its commits are deleted last. A crash in
between leaves events in both places, and readers look at what is sealed first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import apsw

from runwire.errors import StoreCorrupt
from runwire.journal.frames import END, cut, last_sequence, skip
from runwire.journal.records import Head
from runwire.journal.store.database import FRAME_BYTES, impatient, snapshot, translated, writing
from runwire.journal.store.entries import Entry, pack_places, unpack
from runwire.journal.store.reading import deflate, inflate
from runwire.journal.store.rows import save_story
from runwire.protocol.envelope import occurred_at_of

Step = Callable[[], None]
"""One write transaction."""

_SEALED_COMMITS = "SELECT position FROM commits WHERE position <= ?"

WINDOW_BYTES = 8 * 1024 * 1024
CHUNK_BYTES = 128 * 1024
# A chunk below this is opened again for the next events of its run, so that slow runs do not leave crumbs.
_CRUMB_BYTES = 32 * 1024
_STEP_BYTES = 256 * 1024
_COMMITS_A_STEP = 256


@dataclass(frozen=True, slots=True)
class Window:
    """The oldest commits that are sealed together."""

    first_position: int
    last_position: int
    size: int
    entries: list[Entry]
    frames: dict[int, list[tuple[Entry, bytes]]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One row to write: sealed events of one run, perhaps in place of an earlier crumb."""

    run_key: int
    first: int
    last: int
    count: int
    size: int
    newest: str
    body: bytes
    replaces: int | None = None


def read_window(db: apsw.Connection, max_bytes: int = WINDOW_BYTES) -> Window | None:
    """The oldest commits, up to `max_bytes` of them, or None when all is sealed."""
    entries: list[Entry] = []
    frames: dict[int, list[tuple[Entry, bytes]]] = {}
    start = end = -1
    size = 0
    with snapshot(db):
        for position, count, packed, checksum, body in db.execute(
            "SELECT position, count, entries, checksum, body FROM commits "
            "WHERE position > (SELECT ifnull(max(last_position), -1) FROM feed) ORDER BY position"
        ):
            if crc32(body) != checksum:
                raise StoreCorrupt(f"commit {position}: its checksum does not fit its body")
            start = position if start < 0 else start
            end = position + count - 1
            at = 0
            for entry in unpack(packed):
                entries.append(entry)
                frames.setdefault(entry.run_key, []).append((entry, body[at : at + entry.length]))
                at += entry.length
            size += len(body)
            if size >= max_bytes:
                break
    return Window(start, end, size, entries, frames) if entries else None


def seal_window(
    db: apsw.Connection, window: Window, *, head_of: Callable[[str], Head | None], sealed: Callable[[], None]
) -> Iterator[Step]:
    """The transactions that seal a window, in order. What is between them needs no lock and may take its time.

    `head_of` tells what the writer knows of a run; `sealed` is called in the step that makes the window count as sealed.
    """
    pending: list[Chunk] = []
    size = 0
    for run_key, pieces in window.frames.items():
        for chunk in _chunks(db, run_key, pieces):
            pending.append(chunk)
            size += len(chunk.body)
            if size >= _STEP_BYTES:
                yield partial(_write_chunks, db, pending)
                pending, size = [], 0
    places = pack_places(window.entries)

    def finish() -> None:
        _finish(db, window, pending, places, head_of)
        sealed()

    yield finish
    positions = [row[0] for row in db.execute(_SEALED_COMMITS, (window.last_position,))]
    for start in range(0, len(positions), _COMMITS_A_STEP):
        yield partial(_delete_commits, db, positions[start : start + _COMMITS_A_STEP])


def _write_chunks(db: apsw.Connection, chunks: list[Chunk]) -> None:
    with writing(db):
        insert_chunks(db, chunks)


def _finish(
    db: apsw.Connection, window: Window, chunks: list[Chunk], places: bytes, head_of: Callable[[str], Head | None]
) -> None:
    with writing(db):
        insert_chunks(db, chunks)
        db.execute(
            "INSERT INTO feed (last_position, first_position, entries) VALUES (?, ?, ?)",
            (window.last_position, window.first_position, places),
        )
        for run_key, pieces in window.frames.items():
            row = db.execute("SELECT run_id FROM runs WHERE run_key = ?", (run_key,)).fetchone()
            head = None if row is None else head_of(str(row[0]))
            entry = pieces[-1][0]
            # The writer knows less than the window where another process has written last.
            if head is not None and head.sequence >= entry.last:
                # The story so far goes along: a restart then has only the unsealed events to tell.
                save_story(db, head)
                continue
            db.execute(
                "UPDATE runs SET head_sequence = ?, head_hash = ? WHERE run_key = ? AND head_sequence < ?",
                (entry.last, entry.hash, run_key, entry.last),
            )


def _delete_commits(db: apsw.Connection, positions: list[int]) -> None:
    with writing(db):
        db.executemany("DELETE FROM commits WHERE position = ?", [(position,) for position in positions])


def _chunks(db: apsw.Connection, run_key: int, pieces: list[tuple[Entry, bytes]]) -> Iterator[Chunk]:
    """A run's part of the window as chunks, without what a crash has left sealed already."""
    with snapshot(db):
        row = db.execute(
            "SELECT chunk_key, first_sequence, last_sequence, size, body FROM chunks "
            "WHERE run_key = ? ORDER BY last_sequence DESC LIMIT 1",
            (run_key,),
        ).fetchone()
    sealed = -1 if row is None else row[2]
    parts = [
        skip(frames, sealed) if entry.first <= sealed else frames for entry, frames in pieces if entry.last > sealed
    ]
    if not parts:
        return
    first = max(pieces[0][0].first, sealed + 1)
    replaces = None
    if row is not None and row[3] < _CRUMB_BYTES:
        replaces, first = row[0], row[1]
        parts.insert(0, inflate(row[4], row[3], run_key, first))
    frames = b"".join(parts)
    start = 0
    while start < len(frames):
        end = cut(frames, CHUNK_BYTES, start)
        part = frames[start:end]
        last = last_sequence(part, len(part))
        yield Chunk(run_key, first, last, part.count(END), len(part), _newest(part), deflate(part), replaces)
        start, first, replaces = end, last + 1, None


def _newest(frames: bytes) -> str:
    return occurred_at_of(frames[frames.rfind(END, 0, len(frames) - 2) + 2 :])


def insert_chunks(db: apsw.Connection, chunks: list[Chunk]) -> None:
    """Write chunks, inside the caller's transaction."""
    for chunk in chunks:
        if chunk.replaces is not None:
            db.execute("DELETE FROM chunks WHERE chunk_key = ?", (chunk.replaces,))
        db.execute(
            "INSERT INTO chunks (run_key, first_sequence, last_sequence, count, size, newest, body) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (chunk.run_key, chunk.first, chunk.last, chunk.count, chunk.size, chunk.newest, chunk.body),
        )


def give_back(db: apsw.Connection, pages: int) -> int:
    """Return up to `pages` free pages to the file system; say how many are still free."""
    with writing(db):
        if db.pragma("freelist_count"):
            db.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()
        return int(db.pragma("freelist_count"))


def checkpoint(db: apsw.Connection) -> int:
    """Copy what the WAL holds into the database, as far as no reader needs it, without making anyone wait.

    Returns up to where in the WAL that is now, in bytes.
    """
    copied = 0
    with translated(), impatient(db):
        _, copied = db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    return copied * FRAME_BYTES


def truncate_wal(db: apsw.Connection) -> None:
    """Copy all of the WAL and begin it anew, unless a reader still needs the old one."""
    with translated(), impatient(db):
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
