"""Waiting for decisions: how long a run has, and when its worker is better given back. It knows nothing of the decisions."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from msgspec import Struct

from runwire.host import Stopped
from runwire.runs.recovering import LeftOpen


class _Wait(Struct):
    """One call that waits."""

    since_s: float
    parks: bool
    stopping: bool = False


class Waits:
    """The calls of one run that wait for a decision."""

    def __init__(self, *, park_after_s: float, left: LeftOpen) -> None:
        """Give the worker back after so long, unless calls are under way or a turn is."""
        self._park_after_s = park_after_s
        self._left = left
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[asyncio.Task[object], _Wait] = {}
        self._closing = False
        self._since_s = 0.0
        self._total_s = 0.0

    @contextmanager
    def waiting(self, *, parks: bool) -> Generator[None]:
        """Count the block as a wait. Stopped(parked) when the worker is given back, Stopped(closing) if it closes."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a host is asked from within a task")
        now = self._loop.time()
        if not self._tasks:
            self._since_s = now
        wait = self._tasks[task] = _Wait(now, parks)
        timer = self._loop.call_later(self._park_after_s, self._consider) if parks else None
        try:
            yield
        except asyncio.CancelledError:
            if wait.stopping and task.uncancel() == 0:
                raise Stopped("parked" if parks else "closing") from None
            raise
        finally:
            if timer is not None:
                timer.cancel()
            del self._tasks[task]
            if not self._tasks:
                self._total_s += self._loop.time() - self._since_s

    def total_s(self) -> float:
        """How long there was somebody waiting."""
        return self._total_s + (self._loop.time() - self._since_s if self._tasks else 0.0)

    def close(self) -> None:
        """The worker ends: who only waits stops now."""
        self._closing = True
        self._consider()

    def _consider(self) -> None:
        """Give the worker back when every call that is left waits for a decision, has for long, and can be taken up again."""
        if not self._tasks:
            return
        if self._left.calls or not (self._closing or self._resting()):
            self._loop.call_later(self._park_after_s, self._consider)
            return
        youngest_s = max(wait.since_s for wait in self._tasks.values())
        if not self._closing and self._loop.time() - youngest_s < self._park_after_s * 0.99:
            # The youngest has a timer of its own.
            return
        for task, wait in self._tasks.items():
            if not wait.stopping:
                wait.stopping = True
                task.cancel()

    def _resting(self) -> bool:
        return not self._left.turns and all(wait.parks for wait in self._tasks.values())
