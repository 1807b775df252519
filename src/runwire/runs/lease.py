"""The worker's lease: one heartbeat for all its runs, a lock that the system drops when the process dies, and their loss."""

import asyncio
import fcntl
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw

from runwire.clock import Clock
from runwire.errors import RunwireError
from runwire.journal.disk import answering, make_folder
from runwire.journal.journal import Journal
from runwire.journal.store.lock import ProcessLock
from runwire.runs.rows.workers import WorkerRow, remove, renew

_NS = 1_000_000_000
_CLOSE_S = 5.0

_log = logging.getLogger(__name__)


class Lease:
    """Says until when a worker's runs are its own, and that it lives."""

    def __init__(self, *, journal: Journal, clock: Clock, worker_id: str, folder: Path, lease_s: float = 30.0) -> None:
        """Keep the lease of one worker; `folder` holds a lock for each that lives."""
        self.worker_id = worker_id
        self.folder = folder
        self.host = socket.gethostname()
        self._journal = journal
        self._clock = clock
        self._lease_s = lease_s
        self._lock = ProcessLock(folder / worker_id)
        self._started_ns = clock.now_ns()
        self._until_ns = 0
        self._until_s = 0.0
        self._kept = False

    def open(self) -> None:
        """Take the lock that says: this worker lives."""
        with answering():
            make_folder(self.folder)
            if not self._lock.acquire():
                raise RuntimeError(f"there is a worker {self.worker_id} already")

    async def close(self) -> None:
        """Forget the worker. Its runs must have been given back."""
        with suppress(RunwireError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._journal.write(lambda db: remove(db, self.worker_id))
        (self.folder / self.worker_id).unlink(missing_ok=True)
        self._lock.release()

    def row(self, *, renewing: bool = True) -> WorkerRow:
        """The row that keeps the lease from now on; without `renewing` the one that is stored."""
        until_ns = self._clock.now_ns() + int(self._lease_s * _NS) if renewing else self._until_ns
        return WorkerRow(self.worker_id, os.getpid(), self.host, self._started_ns, until_ns)

    def renewed(self, row: WorkerRow, began_s: float) -> None:
        """The row is stored; `began_s` is the loop's time when it was made."""
        self._kept = True
        self._until_ns = max(self._until_ns, row.lease_until_ns)
        self._until_s = max(self._until_s, began_s + self._lease_s)

    def young(self) -> bool:
        """Whether the row that is stored holds for so long, by both clocks, that the next heartbeat renews it early enough."""
        half_s = self._lease_s / 2
        return (
            self._kept
            and self._clock.now_ns() < self._until_ns - int(half_s * _NS)
            and asyncio.get_running_loop().time() < self._until_s - half_s
        )

    def alive(self) -> bool:
        """Whether the runs are still ours, by the machine's clock and by one that nobody sets."""
        return self._clock.now_ns() < self._until_ns and asyncio.get_running_loop().time() < self._until_s

    async def keep(self, holding: Callable[[], bool], lost: Callable[[], None]) -> None:
        """Renew the lease while runs are held, and say when it is lost. No row is kept while there are none."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._lease_s / 3)
            if not self._kept:
                continue
            if not holding():
                await self._forget()
                continue
            began_s, row = loop.time(), self.row()
            try:
                async with asyncio.timeout(max(0.0, self._until_s - began_s)):
                    await self._journal.write(_renewing(row))
                self.renewed(row, began_s)
            except Exception as failure:  # noqa: BLE001 - a task's root: whatever it was, the lease was not renewed
                _log.warning("the lease could not be renewed: %s", str(failure) or type(failure).__name__)
            if not self.alive() and holding():
                lost()

    async def _forget(self) -> None:
        self._kept = False
        with suppress(RunwireError):
            await self._journal.write(lambda db: remove(db, self.worker_id))


def worker_lives(folder: Path, worker_id: str) -> bool:
    """Whether a worker of this machine still holds its lock."""
    try:
        file = os.open(folder / worker_id, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two who ask at once do not take each other for the worker.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(file)


def _renewing(row: WorkerRow) -> Callable[[apsw.Connection], None]:
    return lambda db: renew(db, row)
