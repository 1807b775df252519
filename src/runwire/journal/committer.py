"""Group commit: requests that arrive while a commit is under way share the next one.

A commit happens right here in the event loop while the disk is fast, which saves two thread switches per group; it moves
to a thread when the disk is slow or the database is locked by somebody else, so that readers are never held up for long.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TypeVar

from runwire.errors import StoreBusy
from runwire.journal.records import Commit, Foreign
from runwire.journal.stamping import Request
from runwire.journal.store.log import Log, Outcome

_T = TypeVar("_T")

Prepare = Callable[[Sequence[Request]], Sequence[Request]]
"""The last thing that happens to requests before they are stamped."""

_FAST_S = 0.004
_GROUP_MAX = 8_192
# How often the loop goes round before a commit. One who is woken by the last commit may need some rounds to say more: one
# who appends again two, a slot whose run has ended five until it claims the next.
_ROUNDS = 6


def _group_end(waiting: Sequence[Request]) -> int:
    """How many share the next commit. A claim is told how its run stands, so nothing of that run comes before it."""
    end = min(len(waiting), _GROUP_MAX)
    for number in [number for number, request in enumerate(waiting[:end]) if request.claim is not None]:
        run_id = waiting[number].run_id
        if any(request.run_id == run_id for request in waiting[:number]):
            return number
    return end


class Committer:
    """Feeds the log, one group at a time, and tells each requester what came of it."""

    def __init__(
        self,
        *,
        log: Log,
        prepare: Prepare,
        published: Callable[[Commit], None],
        heard: Callable[[Foreign], None],
        lock_wait_s: float,
    ) -> None:
        """Prepare each group and append it, waiting so long for a locked database; call `published` once it is durable.

        What other processes have committed before a group is handed to `heard` before that.
        """
        self._log = log
        self._prepare = prepare
        self._published = published
        self._heard = heard
        self._lock_wait_s = lock_wait_s
        self._waiting: list[Request] = []
        self._works: deque[Callable[[], None]] = deque()
        self._busy = False
        self._usual = 0
        self._pace_s = 0.0
        self.commits = 0
        self.events = 0
        self.commit_s = 0.0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="runwire-commit")
        self._loop = asyncio.get_running_loop()
        self._idle = asyncio.Event()
        self._idle.set()

    def submit(self, request: Request) -> None:
        """Queue a request for the next commit."""
        self._waiting.append(request)
        if not self._busy:
            self._begin()

    def exclusively(self, work: Callable[[], _T]) -> "asyncio.Future[_T]":
        """Run `work` in the commit thread, between two commits, with the database to itself."""
        done: asyncio.Future[_T] = self._loop.create_future()

        def turn() -> None:
            running = self._loop.run_in_executor(self._thread, work)
            running.add_done_callback(lambda ran: self._settle_work(ran, done))

        self._works.append(turn)
        if not self._busy:
            self._begin()
        return done

    @property
    def backlog(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    async def drained(self) -> None:
        """Return when nothing waits any more."""
        await self._idle.wait()

    async def close(self) -> None:
        """Finish what waits and stop."""
        await self.drained()
        self._thread.shutdown()

    def _begin(self) -> None:
        self._busy = True
        self._idle.clear()
        self._gather()

    def _gather(self, rounds: int = _ROUNDS) -> None:
        """Commit when whoever is ready to run now has had the chance to join the group: every commit costs the same.

        One round is always given; when as many have come as usual, nobody is waited for any longer.
        """
        if rounds == _ROUNDS or (rounds and len(self._waiting) < self._usual):
            self._loop.call_soon(self._gather, rounds - 1)
        else:
            self._turn()

    def _turn(self) -> None:
        if self._works:
            self._works.popleft()()
        else:
            self._commit()

    def _next(self) -> None:
        if self._waiting or self._works:
            self._gather()
        else:
            self._busy = False
            self._idle.set()

    def _commit(self) -> None:
        end = _group_end(self._waiting)
        self._usual = max(end, self._usual * 7 // 8)
        group, self._waiting = self._waiting[:end], self._waiting[end:]
        if self._pace_s > _FAST_S:
            self._commit_in_thread(group)
            return
        try:
            outcome = self._timed(group, 0.0)
        except StoreBusy:
            self._commit_in_thread(group)
        except Exception as failure:  # noqa: BLE001 - this is a task's root: whatever it was, the requesters are told
            self._settle_failure(group, failure)
        else:
            self._settle(outcome)

    def _timed(self, group: list[Request], wait_s: float) -> Outcome:
        start = perf_counter()
        try:
            return self._log.append(self._prepare(group), wait_s=wait_s)
        finally:
            self.commit_s += perf_counter() - start
            self._pace_s += (self._log.sync_s - self._pace_s) / 8

    def _commit_in_thread(self, group: list[Request]) -> None:
        work = self._loop.run_in_executor(self._thread, self._timed, group, self._lock_wait_s)
        work.add_done_callback(lambda done: self._settle_thread(group, done))

    def _settle_thread(self, group: list[Request], done: "asyncio.Future[Outcome]") -> None:
        failure = done.exception()
        if failure is None:
            self._settle(done.result())
        else:
            self._settle_failure(group, failure)

    def _tell_foreign(self) -> None:
        foreign = self._log.take_foreign()
        if foreign is not None:
            self._heard(foreign)

    def _settle(self, outcome: Outcome) -> None:
        self._tell_foreign()
        if outcome.commit is not None:
            self.commits += 1
            self.events += outcome.commit.count
            self._published(outcome.commit)
        for request, stored in outcome.stored:
            if not request.done.done():
                request.done.set_result(stored)
        for request, refusal in outcome.refused:
            if not request.done.done():
                request.done.set_exception(refusal)
        self._next()

    def _settle_failure(self, group: list[Request], failure: BaseException) -> None:
        self._tell_foreign()
        for request in group:
            if not request.done.done():
                request.done.set_exception(failure)
        self._next()

    def _settle_work(self, ran: "asyncio.Future[_T]", done: "asyncio.Future[_T]") -> None:
        self._tell_foreign()
        failure = ran.exception()
        if done.done():
            pass
        elif failure is None:
            done.set_result(ran.result())
        else:
            done.set_exception(failure)
        self._next()
