"""The watch: asks the store itself, once a second, whether it has changed. It is there for rings that got lost."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import apsw

from runwire.errors import StoreError
from runwire.journal.store.database import open_reader, translated

_EVERY_S = 1.0


class Watch:
    """Tells of changes that anybody has made, this process included. A look costs some microseconds."""

    def __init__(self, *, path: Path, changed: Callable[[], None]) -> None:
        """Watch the database at `path`."""
        self._path = path
        self._changed = changed
        self._db: apsw.Connection | None = None
        self._version = -1
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Begin with the store as it is now."""
        self._db = open_reader(self._path)
        self._version = self._look()
        self._timer = self._loop.call_later(_EVERY_S, self._tick)

    def close(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
        if self._db is not None:
            self._db.close()

    def _tick(self) -> None:
        version = self._look()
        if version != self._version:
            self._version = version
            self._changed()
        self._timer = self._loop.call_later(_EVERY_S, self._tick)

    def _look(self) -> int:
        try:
            with translated():
                # The pragma begins a look of its own; what the connection remembers would be the version of its last one.
                return int(self._db.pragma("data_version")) if self._db is not None else -1
        except StoreError:
            return -1
