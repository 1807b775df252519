"""Cancelling: at once when nobody works on the run, otherwise by telling whoever does, who then tells the end."""

import asyncio
from dataclasses import dataclass

import apsw

from runwire.errors import Conflict, RunFinished
from runwire.journal.bell.topics import QUEUE, control
from runwire.journal.effects import together
from runwire.journal.records import Effect, RunInfo
from runwire.runs.claiming import Ending
from runwire.runs.hosting import Ground
from runwire.runs.rows.queue import ask_to_cancel, children_of, find_entry

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Cancelled:
    """What came of it: the run as it is now, and whether it is over."""

    info: RunInfo
    settled: bool


class Cancelling:
    """Stops runs on request."""

    def __init__(self, *, ground: Ground, ending: Ending, patience_s: float = 5.0) -> None:
        """End runs that nobody holds by `ending`; wait so long for those that somebody does."""
        self._ground = ground
        self._ending = ending
        self._patience_s = patience_s

    async def cancel(self, run_id: str, *, by: str, reason: str = "", also: Effect | None = None) -> Cancelled:
        """Stop a run and its children. One that was cancelled before is answered alike; one that ended otherwise is refused."""
        info = await self._ground.journal.reader.run(run_id)
        if info.story.finished:
            return self._over(info)
        await self._require_queued(run_id)
        await self.ask(run_id, by=by, reason=reason, also=also)
        for _ in range(_TRIES):
            if await self._end_if_free(run_id):
                break
        return await self._wait(run_id)

    async def ask(self, run_id: str, *, by: str, reason: str, also: Effect | None = None) -> None:
        """Write down that the run is to stop, and its children, and ring for whoever holds them."""
        now_ns = self._ground.clock.now_ns()
        asked: list[str] = []

        def effect(db: apsw.Connection) -> None:
            asked[:] = [run_id]
            for one in asked:
                ask_to_cancel(db, one, by, reason, now_ns)
                asked.extend(children_of(db, one))

        await self._ground.journal.write(together(also, effect) or effect)
        for one in asked:
            self._ground.journal.signal(control(one))
        self._ground.journal.signal(QUEUE)

    async def _require_queued(self, run_id: str) -> None:
        """Refuse a run that is carried out elsewhere, such as one that was imported: nobody here could end it."""
        reader = self._ground.journal.reader
        if (
            await reader.query(lambda db: find_entry(db, run_id)) is None
            and not (await reader.run(run_id)).story.finished
        ):
            raise Conflict(f"{run_id} is not carried out here", hint="end it where it was started")

    async def _end_if_free(self, run_id: str) -> bool:
        """End the run right here unless a living worker holds it; say whether there is nothing more to try."""
        try:
            await self._ending.end(run_id)
        except Conflict:
            # It has moved on between the look and the act.
            return False
        return True

    async def _wait(self, run_id: str) -> Cancelled:
        bell, reader = self._ground.journal.bell, self._ground.journal.reader
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience_s
        while True:
            ring = bell.listen(run_id, self._patience_s)
            info = await reader.run(run_id)
            left = until - loop.time()
            if info.story.finished:
                return self._over(info)
            if left <= 0:
                return Cancelled(info, settled=False)
            await asyncio.wait([ring], timeout=left)

    def _over(self, info: RunInfo) -> Cancelled:
        if info.story.run.status != "cancelled":
            raise RunFinished(info.birth.run_id)
        return Cancelled(info, settled=True)
