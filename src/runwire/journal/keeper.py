"""The keeper: seals settled commits, copies the WAL back and returns free space, in small steps beside the writer.

Of all processes on a store one at a time does so. None of them keeps that to itself: it lets go when it is done.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import apsw

from runwire.errors import StoreBusy, StoreError
from runwire.journal.committer import Committer
from runwire.journal.store.database import open_writer, translated
from runwire.journal.store.lock import ProcessLock
from runwire.journal.store.log import Log
from runwire.journal.store.sealing import (
    checkpoint,
    give_back,
    read_window,
    seal_window,
    truncate_wal,
)

_T = TypeVar("_T")
# While events keep coming, sealing waits until so much has gathered, and then takes this share of one core at most; past
# the second mark it may take half. Every start goes through the entries of what is unsealed, so the marks bound that, too.
_GATHERED_BYTES = 256 * 1024 * 1024
_SHARE = 0.15
_BACKLOG_BYTES = 512 * 1024 * 1024
# The WAL is copied back when so much of it is in use, most of it beside the writer. The file stays as it is, because to
# overwrite it is cheaper than to grow it, unless it has become longer than it should ever be or nothing happens any more.
_USED_BYTES = 32 * 1024 * 1024
_REST_BYTES = 4 * 1024 * 1024
_PASSES = 4
_WAL_BYTES = 128 * 1024 * 1024
_QUIET_WAL_BYTES = 1024 * 1024
_FREE_PAGES = 256
_LOCK_WAIT_S = 5.0
_LOCK_LOOK_S = 0.01
_LOOK_S = 0.25


class Keeper:
    """Runs in the background for as long as the journal is open."""

    def __init__(self, *, path: Path, log: Log, committer: Committer, settle_s: float) -> None:
        """Keep the database at `path`; a quiet log is sealed whole after `settle_s`."""
        self._path = path
        self._log = log
        self._unsealed = log.unsealed
        self._committer = committer
        self._settle_s = settle_s
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="runwire-keep")
        self._grown = asyncio.Event()
        self._grown_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._alone = asyncio.Lock()
        self._db: apsw.Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._lock = ProcessLock(path.with_name(path.name + ".keeper"))
        self._holders = 0
        self.failure: StoreError | None = None

    def start(self) -> None:
        """Begin."""
        if self._unsealed.bytes:
            self.notice()
        self._task = self._loop.create_task(self._keep(), name="runwire-keeper")

    async def close(self) -> None:
        """Stop between two steps."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._committer.drained()
        async with self._alone:
            await self._do(self._close)
        self._thread.shutdown()
        self._lock.release()

    def notice(self) -> None:
        """The log has grown."""
        self._grown_at = self._loop.time()
        self._grown.set()

    async def seal_all(self) -> None:
        """Seal everything that is durable now."""
        async with self.held(), self._alone:
            # What other processes have committed is durable, too.
            await self._committer.exclusively(self._log.look)
            through = self._log.next_position - 1
            while self._unsealed.sealed_through < through and await self._seal_one(pausing=False):
                pass
            await self._tidy(lambda: True)

    async def exclusively(self, work: Callable[[apsw.Connection], _T]) -> _T:
        """Run `work` on the keeper's connection while nothing is being sealed; refused when another process takes long."""
        async with self.held(), self._alone:
            return await self._do(lambda: work(self._connection()))

    @asynccontextmanager
    async def held(self, wait_s: float = _LOCK_WAIT_S) -> AsyncGenerator[None]:
        """Have it that no other process seals, prunes or imports; one that does is waited for, and then it is a StoreBusy."""
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_s
        while not self._lock.acquire():
            if loop.time() >= until:
                raise StoreBusy()
            await asyncio.sleep(_LOCK_LOOK_S)
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if not self._holders:
                self._lock.release()

    async def _keep(self) -> None:
        while True:
            await self._grown.wait()
            self._grown.clear()
            try:
                await self._seal_while_growing()
            except StoreBusy:
                # Another process is at it. Should it leave something, that is sealed here.
                await asyncio.sleep(1.0)
                self.notice()
            except StoreError as failure:
                # The next growth tries again; until then the commits hold everything.
                self.failure = failure
                await asyncio.sleep(1.0)

    async def _seal_while_growing(self) -> None:
        while self._unsealed.bytes:
            if self._log.wal_bytes > _USED_BYTES:
                await self._copy_back()
            if self._unsealed.bytes < _GATHERED_BYTES and not await self._settled():
                continue
            self._grown.clear()
            async with self.held(wait_s=0), self._alone:
                if not await self._seal_one(pausing=True):
                    # Another process was faster, and this one only has to learn of it.
                    await self._committer.exclusively(self._log.look)
                    return
                await self._tidy(self._still)
            self.failure = None

    async def _copy_back(self) -> None:
        """Copy the WAL back while others append to it, and its end while nobody does: the next commit begins it anew."""
        async with self.held(wait_s=0), self._alone:
            for _ in range(_PASSES):
                copied = await self._do(lambda: checkpoint(self._connection()))
                if self._log.wal_bytes - copied < _REST_BYTES:
                    break
            await self._exclusively(checkpoint)

    async def _settled(self) -> bool:
        """Wait a while for the log to settle and say whether it has. No commit wakes the keeper: there may be thousands."""
        left_s = self._grown_at + self._settle_s - self._loop.time()
        if left_s <= 0:
            return True
        await asyncio.sleep(min(left_s, _LOOK_S))
        return False

    async def _seal_one(self, *, pausing: bool) -> bool:
        window = await self._do(lambda: read_window(self._connection()))
        if window is None:
            return False
        steps = seal_window(
            self._connection(),
            window,
            head_of=self._log.head,
            sealed=lambda: self._unsealed.drop(window.last_position, window.size),
        )
        while True:
            start = perf_counter()
            step = await self._do(lambda: next(steps, None))
            if step is None:
                break
            await asyncio.shield(self._committer.exclusively(step))
            if pausing and self._grown.is_set():
                share = _SHARE if self._unsealed.bytes < _BACKLOG_BYTES else 0.5
                await asyncio.sleep((perf_counter() - start) * (1 - share) / share)
        return True

    async def _tidy(self, quiet: Callable[[], bool]) -> None:
        """As long as it is quiet, return free space; then copy the WAL back, and cut it when it has grown long."""
        while quiet() and await self._exclusively(lambda db: give_back(db, _FREE_PAGES) > 0):
            pass
        await self._do(lambda: checkpoint(self._connection()))
        wal = self._path.with_name(self._path.name + "-wal")
        if wal.exists() and wal.stat().st_size > (_QUIET_WAL_BYTES if quiet() else _WAL_BYTES):
            # Most of it has just been copied, so the appends wait for little.
            await self._exclusively(truncate_wal)

    def _still(self) -> bool:
        return not self._grown.is_set()

    async def _exclusively(self, work: Callable[[apsw.Connection], _T]) -> _T:
        return await asyncio.shield(self._committer.exclusively(lambda: work(self._connection())))

    async def _do(self, work: Callable[[], _T]) -> _T:
        # Shielded: a step that has begun is finished, so that closing never leaves a transaction behind.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))

    def _connection(self) -> apsw.Connection:
        if self._db is None:
            self._db = open_writer(self._path)
        return self._db

    def _close(self) -> None:
        if self._db is not None:
            with translated():
                checkpoint(self._db)
            self._db.close()
