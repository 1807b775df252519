"""SQLite connections: opened with the settings that durability needs, migrated, and their errors told in our words."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from time import monotonic, sleep

import apsw

from runwire.errors import (
    RunwireError,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)

PAGE_BYTES = 8192
FRAME_BYTES = PAGE_BYTES + 24
"""What a page takes in the WAL."""
BACKSTOP_PAGES = 16_384
"""Where a commit copies the WAL back by itself: far beyond what the sealer lets pile up, for processes that run none."""


class Patience:
    """How long a connection waits for a lock that another process holds. SQLite's own way sleeps ever longer."""

    def __init__(self) -> None:
        """Wait some seconds, unless told otherwise."""
        self._until = 0.0
        self.wait_s = 5.0

    def __call__(self, tries: int) -> bool:
        """Say whether to try once more."""
        now = monotonic()
        if tries == 0:
            self._until = now + self.wait_s
        if now >= self._until:
            return False
        sleep(0.001)
        return True


@contextmanager
def impatient(db: apsw.Connection) -> Iterator[None]:
    """Do without what is locked: leave the block at once instead of waiting for anybody."""
    db.set_busy_timeout(0)
    try:
        with suppress(apsw.BusyError):
            yield
    finally:
        db.set_busy_handler(Patience())


def open_writer(path: Path, patience: Patience | None = None) -> apsw.Connection:
    """A connection whose commits survive power loss: WAL with an fsync of the WAL at every commit."""
    with translated():
        # SQLite gives the files beside it the same rights. Whoever may read the data directory may not read the log.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        db = apsw.Connection(str(path))
        db.set_busy_handler(patience or Patience())
        db.pragma("page_size", PAGE_BYTES)
        db.pragma("auto_vacuum", 2)
        db.pragma("journal_mode", "wal")
        db.pragma("synchronous", "full")
        db.pragma("fullfsync", 1)
        db.pragma("checkpoint_fullfsync", 1)
        db.pragma("wal_autocheckpoint", BACKSTOP_PAGES)
        return db


def open_reader(path: Path) -> apsw.Connection:
    """A connection that can only read, never blocks a writer and is never blocked by one."""
    with translated():
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(5_000)
        return db


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's errors into ours, each with what to do about it."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy() from error
    except apsw.FullError as error:
        raise StoreFull() from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StoreReadOnly() from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreCorrupt(str(error)) from error
    except (apsw.IOError, apsw.CantOpenError, apsw.NoMemError) as error:
        raise StoreUnavailable(str(error)) from error


@contextmanager
def writing(db: apsw.Connection) -> Iterator[None]:
    """One write transaction: all of the block or nothing of it."""
    with translated():
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            roll_back(db)
            raise


@contextmanager
def snapshot(db: apsw.Connection) -> Iterator[None]:
    """One read transaction: every query of the block sees the same moment."""
    with translated():
        db.execute("BEGIN")
        try:
            yield
        finally:
            roll_back(db)


def roll_back(db: apsw.Connection) -> None:
    """End an open transaction, if there is one: some errors have ended it already."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def migrate(db: apsw.Connection) -> int:
    """Bring the layout up to the newest this release knows; refuse one from a later release. Returns its number."""
    scripts = migrations()
    newest = len(scripts)
    with writing(db):
        found = int(db.pragma("user_version"))
        if found > newest:
            raise StoreTooNew(found=found, known=newest)
        for number in range(found, newest):
            db.execute(scripts[number])
            db.pragma("user_version", number + 1)
    return newest


def migrations() -> list[str]:
    """The numbered SQL files, in order."""
    folder = files("runwire.journal.store") / "sql"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    for number, name in enumerate(names, start=1):
        if not name.startswith(f"{number:04d}_"):
            raise RunwireError(f"migration {name} is out of order: number {number:04d} was expected")
    return [(folder / name).read_text(encoding="utf-8") for name in names]
