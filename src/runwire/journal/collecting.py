"""Collecting: bodies that no artifact names any more go, and so does what a crash has left behind.

Rows go first and files last, so a crash in between leaves a file without a row, which the next collection finds. A file
is unlinked only under the database's write lock; whoever adds a row looks for the file under the same lock. So neither
can miss the other, whichever process it is in.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import apsw

from runwire.journal.bodies import INCOMING, Bodies
from runwire.journal.disk import PRIVATE_FILE, answering, make_folder
from runwire.journal.store.database import snapshot, writing

_T = TypeVar("_T")
_LOCK = ".lock"
# Few enough that an append which has to wait for one slice does not notice.
_SLICE = 64
_ABANDONED_NS = 3_600 * 1_000_000_000
_UNNAMED = "NOT EXISTS (SELECT 1 FROM artifacts WHERE artifacts.digest = bodies.digest)"


@dataclass(frozen=True, slots=True)
class Collected:
    """What collecting has removed; `held` when a backup was under way, so that nothing was touched."""

    bodies: int = 0
    size_bytes: int = 0
    held: bool = False


def collect(db: apsw.Connection, bodies: Bodies, *, now_ns: int) -> Collected:
    """Remove the bodies that no artifact names, in small transactions."""
    with answering():
        make_folder(bodies.folder)
        with _lock(bodies, fcntl.LOCK_EX | fcntl.LOCK_NB) as alone:
            if not alone:
                return Collected(held=True)
            inline = _drop_rows(db)
            files = [size for path in _slices(_files(bodies)) for size in _unlink(db, path)]
            _sweep(bodies.folder / INCOMING, now_ns)
    return Collected(len(inline) + len(files), sum(inline) + sum(files))


@contextmanager
def no_collecting(bodies: Bodies) -> Iterator[None]:
    """Keep every process from collecting while the block runs, as a backup needs: it copies bodies by their names."""
    with answering():
        make_folder(bodies.folder)
    with _lock(bodies, fcntl.LOCK_SH):
        yield


@contextmanager
def _lock(bodies: Bodies, how: int) -> Iterator[bool]:
    file = os.open(bodies.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        try:
            fcntl.flock(file, how)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(file)


def _drop_rows(db: apsw.Connection) -> list[int]:
    """Delete the rows of unnamed bodies; the sizes of those that lay in their row."""
    with snapshot(db):
        unnamed = [(digest,) for (digest,) in db.execute(f"SELECT digest FROM bodies WHERE {_UNNAMED}")]
    sizes: list[int] = []
    for some in _slices(iter(unnamed)):
        with writing(db):
            # Somebody may have named one of them since we looked.
            gone = f"DELETE FROM bodies WHERE digest = ? AND {_UNNAMED} RETURNING size, inline IS NOT NULL"
            sizes += [size for size, inline in db.executemany(gone, some) if inline]
    return sizes


def _unlink(db: apsw.Connection, paths: list[Path]) -> list[int]:
    """Unlink those files that have no row; their sizes."""
    with snapshot(db):
        orphans = [path for path in paths if not _has_row(db, path)]
    if not orphans:
        return []
    sizes: list[int] = []
    with writing(db):
        for path in orphans:
            if not _has_row(db, path):
                sizes.append(path.stat().st_size)
                path.unlink()
    return sizes


def _has_row(db: apsw.Connection, path: Path) -> bool:
    digest = bytes.fromhex(path.name)
    return db.execute("SELECT 1 FROM bodies WHERE digest = ?", (digest,)).fetchone() is not None


def _files(bodies: Bodies) -> Iterator[Path]:
    """Every file that is named as a body and lies where that body belongs."""
    for folder in sorted(bodies.folder.iterdir()):
        if folder.is_dir() and folder.name != INCOMING:
            yield from (path for path in sorted(folder.iterdir()) if _is_body(bodies, path))


def _is_body(bodies: Bodies, path: Path) -> bool:
    try:
        return bodies.path(bytes.fromhex(path.name)) == path and len(path.name) == 64
    except ValueError:
        return False


def _slices(items: Iterator[_T]) -> Iterator[list[_T]]:
    while some := list(islice(items, _SLICE)):
        yield some


def _sweep(incoming: Path, now_ns: int) -> None:
    """Remove what was being written when its process died. A live writer is never an hour behind."""
    if incoming.is_dir():
        for path in incoming.iterdir():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime_ns < now_ns - _ABANDONED_NS:
                    path.unlink()
