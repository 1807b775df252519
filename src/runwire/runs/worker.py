"""The worker: slots that claim runs and carry them, one lease for all, and an end in order. It polls nothing."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from runwire.errors import RunwireError
from runwire.journal.bell.topics import QUEUE
from runwire.runs.hosting import Ground
from runwire.runs.lease import Lease
from runwire.runs.queue import Queue
from runwire.runs.rows.queue import Candidate
from runwire.runs.supervisor import Control, Supervisor

_NS = 1_000_000_000
_IDLE_S = 15.0
_LEAST_S = 0.2
_STUMBLE_S = 1.0
_PATIENCE_S = 3_600.0

_log = logging.getLogger(__name__)

Expire = Callable[[int], Awaitable[object]]
"""Lets approvals time out that nobody has decided by now."""


class Worker:
    """Works on so many runs at once."""

    def __init__(
        self,
        *,
        slots: int,
        ground: Ground,
        queue: Queue,
        supervisor: Supervisor,
        lease: Lease,
        expire: Expire | None = None,
    ) -> None:
        """Claim from `queue` under `lease` and let `supervisor` carry what is claimed; without slots only let things expire."""
        self._slots = slots
        self._ground = ground
        self._queue = queue
        self._supervisor = supervisor
        self._lease = lease
        self._expire = expire
        self._held: set[str] = set()
        self._tasks: asyncio.TaskGroup | None = None
        self._closing = False
        self._rings = 0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def busy(self) -> int:
        """How many runs it holds."""
        return len(self._held)

    async def work(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; then let every run come to rest, and return when the last has."""
        self._lease.open()
        self._closing = False
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                keeping = tasks.create_task(self._lease.keep(lambda: bool(self._held), self._supervisor.lose))
                listening = tasks.create_task(self._listen())
                async with asyncio.TaskGroup() as endings:
                    self._tasks = endings
                    for _ in range(self._slots):
                        endings.create_task(self._slot(asyncio.Event()))
                    await stop.wait()
                    self._closing = True
                    listening.cancel()
                    self._wake()
                    self._supervisor.close()
                keeping.cancel()
        finally:
            self._tasks = None
            await self._lease.close()

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[None]:
        """Another slot for as long as one of them only waits for a run of its own."""
        if self._tasks is None:
            raise RuntimeError("the worker is not at work")
        enough = asyncio.Event()
        self._tasks.create_task(self._slot(enough))
        try:
            yield
        finally:
            enough.set()
            self._wake()

    async def _listen(self) -> None:
        """Wake the slots when the queue rings, and when something falls due that nobody rings for."""
        bell = self._ground.journal.bell
        ring = bell.listen(QUEUE, _PATIENCE_S)
        while True:
            await self._look()
            done, _ = await asyncio.wait([ring], timeout=await self._deadline_s())
            if done:
                # Listen before looking: what comes meanwhile rings a bell we already hold.
                ring = bell.listen(QUEUE, _PATIENCE_S)

    async def _look(self) -> None:
        if self._expire is not None:
            try:
                await self._expire(self._ground.clock.now_ns())
            except RunwireError as failure:
                _log.warning("approvals could not be expired: %s", failure)
        self._queue.ring()
        self._wake()

    async def _deadline_s(self) -> float:
        try:
            deadline_ns = await self._queue.deadline()
        except RunwireError:
            return _STUMBLE_S
        if deadline_ns is None:
            return _IDLE_S
        return min(_IDLE_S, max(_LEAST_S, (deadline_ns - self._ground.clock.now_ns()) / _NS))

    def _wake(self) -> None:
        self._rings += 1
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def _slot(self, enough: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        while not (enough.is_set() or self._closing):
            rings = self._rings
            try:
                candidate = await self._queue.next(self._held)
                if candidate is not None and not self._closing:
                    await self._take(candidate)
                    continue
            except RunwireError as failure:
                _log.warning("the queue cannot be worked on: %s", failure)
                await asyncio.sleep(_STUMBLE_S)
                self._queue.ring()
                continue
            if rings == self._rings and not (enough.is_set() or self._closing):
                waiter: asyncio.Future[None] = loop.create_future()
                self._waiting.append(waiter)
                await waiter

    async def _take(self, candidate: Candidate) -> None:
        """Claim a run and carry it. How its stay ends is told while the slot goes on."""
        run_id = candidate.run_id
        word = Control(journal=self._ground.journal, run_id=run_id)
        self._held.add(run_id)
        ending: Awaitable[None] | None = None
        try:
            held = await self._queue.claim(candidate)
            if held is not None:
                ending = await self._supervisor.carry(held, self._lease.alive, word)
        finally:
            word.close()
            if ending is None:
                self._held.discard(run_id)
        if ending is not None and self._tasks is not None:
            self._tasks.create_task(self._end(run_id, ending))

    async def _end(self, run_id: str, ending: Awaitable[None]) -> None:
        try:
            await ending
        except Exception as failure:  # noqa: BLE001 - a task's root: the run is taken up again, by us or by another
            _log.warning("the end of %s could not be stored: %s", run_id, failure)
            await asyncio.sleep(_STUMBLE_S)
            self._queue.ring()
        finally:
            self._held.discard(run_id)
            self._wake()
