"""Files that survive power loss: written aside, flushed, and only then given their name."""

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runwire.errors import StoreFull, StoreReadOnly, StoreUnavailable

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
# On macOS fsync leaves data in the drive's cache; this call empties that, too.
_FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)


@contextmanager
def answering() -> Iterator[None]:
    """Turn the disk's errors into ours, each with what to do about it."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull() from error
        if error.errno in _READ_ONLY:
            raise StoreReadOnly() from error
        raise StoreUnavailable(f"{error.strerror}: {error.filename}") from error


def sync(file: int) -> None:
    """Return when the file's bytes would survive power loss."""
    if _FULL_SYNC is not None:
        fcntl.fcntl(file, _FULL_SYNC)
    else:
        os.fsync(file)


def sync_path(path: Path) -> None:
    """Return when a file's bytes, or a folder's names, would survive power loss."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        sync(file)
    finally:
        os.close(file)


def make_folder(path: Path) -> None:
    """Make a private folder, and those above it, that would survive power loss; one that is there stays as it is."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        sync_path(folder.parent)


@contextmanager
def set_aside(content: bytes, *, folder: Path, mode: int) -> Iterator[Path]:
    """A flushed file of `content` under a passing name; link or rename it, or it is gone at the end of the block."""
    file, name = tempfile.mkstemp(dir=folder)
    path = Path(name)
    try:
        with os.fdopen(file, "wb", buffering=0) as out:
            rest = memoryview(content)
            while rest:
                rest = rest[out.write(rest) :]
            os.fchmod(out.fileno(), mode)
            sync(out.fileno())
        yield path
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
