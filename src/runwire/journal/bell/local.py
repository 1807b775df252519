"""The doorbell within one process. It says that a run has grown; the store says what it grew by."""

import asyncio
from collections.abc import Iterable

ANY_RUN = ""
"""Listen here for growth of any run."""

_TICK_S = 0.5


class LocalBell:
    """Wakes readers. One coarse timer serves every waiter, so that a thousand idle readers cost one wake-up a tick."""

    def __init__(self) -> None:
        """Silent until somebody waits."""
        self._waiting: dict[str, dict[asyncio.Future[bool], float]] = {}
        self._tick: asyncio.TimerHandle | None = None

    @property
    def awaited(self) -> bool:
        """Whether anybody waits at all."""
        return bool(self._waiting)

    def ring(self, run_ids: Iterable[str]) -> None:
        """Wake whoever waits for these runs, or for any run."""
        for run_id in run_ids:
            if run_id in self._waiting:
                self._wake(run_id)
        self._wake(ANY_RUN)

    def ring_all(self) -> None:
        """Wake everybody: something happened that concerns all, such as the end of service."""
        for run_id in list(self._waiting):
            self._wake(run_id)

    def signal(self, topic: str) -> None:
        """Wake whoever waits for the topic."""
        if topic in self._waiting:
            self._wake(topic)

    async def wait(self, run_id: str, patience_s: float) -> bool:
        """Return True at the next ring, False when `patience_s` have passed without one."""
        rung = self.listen(run_id, patience_s)
        try:
            return await rung
        finally:
            self._waiting.get(run_id, {}).pop(rung, None)

    def listen(self, run_id: str, patience_s: float) -> "asyncio.Future[bool]":
        """Begin to wait at once: what rings between this call and the moment it is awaited is not missed."""
        loop = asyncio.get_running_loop()
        rung: asyncio.Future[bool] = loop.create_future()
        self._waiting.setdefault(run_id, {})[rung] = loop.time() + patience_s
        if self._tick is None:
            self._tick = loop.call_later(_TICK_S, self._look)
        return rung

    def _wake(self, run_id: str) -> None:
        for rung in self._waiting.pop(run_id, ()):
            if not rung.done():
                rung.set_result(True)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for run_id in list(self._waiting):
            waiting = self._waiting[run_id]
            for rung in [rung for rung, deadline in waiting.items() if deadline <= now]:
                del waiting[rung]
                if not rung.done():
                    rung.set_result(False)
            if not waiting:
                del self._waiting[run_id]
        self._tick = loop.call_later(_TICK_S, self._look) if self._waiting else None
