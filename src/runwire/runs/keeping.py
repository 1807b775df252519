"""Agents that are always there: a run of each begins with the gateway, and another whenever it has ended."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from msgspec.structs import replace

from runwire.clock import Clock
from runwire.errors import RunActive, RunwireError
from runwire.journal.journal import Journal
from runwire.journal.records import RunInfo
from runwire.runs.starting import Starter
from runwire.runs.task import NewTask, Task, decode_task, encode_task, settled
from runwire.runs.tasks import Tasks

_FIRST_S = 1.0
_LONGEST_S = 300.0
_STEADY_S = 600.0
"""One that has lived so long was no failure to start."""
_SPREAD = 0.1
_LISTEN_S = 60.0
_PAGE = 50
_NS = 1_000_000_000

_log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]


def session_of(name: str) -> str:
    """The session that holds the runs of an agent that is kept; by it they are found again."""
    return f"chat_autospawn.{name}"


@dataclass(frozen=True, slots=True)
class Kept:
    """An agent that is to be there always, and what it is there for."""

    name: str
    task: NewTask

    @property
    def wanted(self) -> NewTask:
        """Its task, in a session of its own."""
        return replace(
            self.task, session_id=session_of(self.name), title=self.task.title or f"{self.name}, kept running"
        )


class Backoff:
    """How long to wait before the next start: longer each time, until one has lived."""

    def __init__(self, rng: Callable[[], float]) -> None:
        """Begin at the shortest wait; `rng` spreads the waits so that not everybody comes back at once."""
        self._rng = rng
        self._next_s = _FIRST_S

    def after(self, lived_s: float) -> float:
        """The wait after a run that has lived so long."""
        if lived_s >= _STEADY_S:
            self._next_s = _FIRST_S
        wait_s, self._next_s = self._next_s, min(self._next_s * 2, _LONGEST_S)
        return wait_s * (1 + _SPREAD * self._rng())


class Keeping:
    """Starts agents again and again."""

    def __init__(
        self,
        *,
        journal: Journal,
        tasks: Tasks,
        starter: Starter,
        clock: Clock,
        rng: Callable[[], float],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Start runs by `starter`; `sleep` waits between them, for times that `rng` spreads."""
        self._journal = journal
        self._tasks = tasks
        self._starter = starter
        self._clock = clock
        self._rng = rng
        self._sleep = sleep

    async def keep(self, kept: Kept) -> None:
        """Have a run of the agent at all times. Returns when somebody has cancelled one: then it stays down."""
        backoff = Backoff(self._rng)
        while True:
            since_ns = self._clock.now_ns()
            try:
                info = await self._over(await self._begin(kept))
            except RunwireError as wrong:
                # A store or a workspace that fails now may be there later.
                ended = wrong.message
            else:
                if info.story.run.status == "cancelled":
                    _log.warning("%s was cancelled: it stays down until the gateway starts again", kept.name)
                    return
                ended = f"run {info.birth.run_id} {info.story.run.status}"
            wait_s = backoff.after((self._clock.now_ns() - since_ns) / _NS)
            _log.info("%s starts again in %.1f s: %s", kept.name, wait_s, ended)
            await self._sleep(wait_s)

    async def _begin(self, kept: Kept) -> str:
        """The run that is there, or else a new one."""
        task = await self._task(kept)
        if task is None:
            made = (await self._tasks.create(kept.wanted)).latest_run
            assert made is not None, "a task that is to start has a run"
            return made.birth.run_id
        try:
            return (await self._starter.another(task.task_id)).birth.run_id
        except RunActive as active:
            return str(active.details["run_id"])

    async def _task(self, kept: Kept) -> Task | None:
        """The task of an earlier start, as long as nobody has changed what the agent is there for."""
        wanted, redact = kept.wanted, self._journal.redactor.redact
        page = await self._tasks.list(session_id=wanted.session_id, agent=wanted.agent, limit=_PAGE)
        for task in (view.task for view in page.tasks):
            same = settled(wanted, task_id=task.task_id, created_ns=task.created_ns)
            # As it would be kept, without secrets; its budget alone may have been raised since.
            if replace(task, budget_micros_usd=None) == decode_task(redact(encode_task(same))):
                return task
        return None

    async def _over(self, run_id: str) -> RunInfo:
        """Wait for the end of a run."""
        journal = self._journal
        while True:
            # Listen before reading: what happens between the two rings a bell that we already hold.
            ring = journal.bell.listen(run_id, _LISTEN_S)
            info = await journal.reader.run(run_id)
            if info.story.finished:
                return info
            await ring
