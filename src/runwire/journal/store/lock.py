"""Locks between processes: of all on one data directory, one seals, prunes and imports, and one is the gateway."""

import fcntl
import os
from pathlib import Path
from types import TracebackType


class ProcessLock:
    """An advisory lock on a file. The system lets go of it when the process dies."""

    def __init__(self, path: Path) -> None:
        """Not held yet."""
        self._path = path
        self._file: int | None = None

    def acquire(self) -> bool:
        """Take the lock if it is free; say whether it is held now."""
        if self._file is not None:
            return True
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let go of it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> bool:
        """Try to take it."""
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of it."""
        self.release()
