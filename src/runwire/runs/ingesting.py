"""Runs of agents that run elsewhere: their own stream comes in, and is kept as it comes. Nobody works on them here."""

from collections.abc import AsyncIterable, Awaitable, Sequence
from pathlib import Path

from runwire.agents.dialect import Dialect, Item, StreamEnd
from runwire.agents.normalising import WATCHER, Normaliser, birth, terminal
from runwire.agents.recording import Recorder
from runwire.errors import RunExists, RunFinished, RunwireError
from runwire.host import Failed
from runwire.journal.artifact import Draft, NewArtifact
from runwire.journal.disk import answering, make_folder
from runwire.journal.effects import together
from runwire.journal.records import RunBirth, RunInfo, Stored
from runwire.journal.store.lock import ProcessLock
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.run import RunStarted
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import Delta
from runwire.runs.ending import denials, totals
from runwire.runs.ending import terminal as ended
from runwire.runs.hosting import Ground
from runwire.runs.past import read_run
from runwire.runs.recovering import left_open, story_of_loss

LOST = "the gateway ended while the stream was coming in"
_SWEEP_MAX = 10_000


class Ingesting:
    """Takes streams in."""

    def __init__(self, *, ground: Ground, folder: Path) -> None:
        """Keep them on this ground; who takes one in holds a lock in the folder, for others to see that it is alive."""
        self._ground = ground
        self._folder = folder

    async def take(self, *, run_id: str, agent: str, dialect: Dialect, pieces: AsyncIterable[bytes]) -> RunInfo:
        """Make a run of a stream and keep what it tells, durable piece by piece, until it ends or breaks off."""
        with answering():
            make_folder(self._folder)
        lock = self._folder / f"{run_id}.lock"
        with ProcessLock(lock) as alone:
            if not alone:
                raise RunExists(run_id)
            try:
                return await self._take(run_id, agent, dialect, pieces)
            finally:
                lock.unlink(missing_ok=True)

    async def _take(self, run_id: str, agent: str, dialect: Dialect, pieces: AsyncIterable[bytes]) -> RunInfo:
        journal, clock = self._ground.journal, self._ground.clock
        began_ns = clock.now_ns()
        await journal.create_run(RunBirth(run_id, None, None, agent), birth(agent))
        place = _Place(self._ground, run_id)
        recorder, normaliser = Recorder(place), Normaliser(dialect)
        end = StreamEnd()
        try:
            async for piece in pieces:
                await recorder.record(normaliser.feed(piece, clock.now_ns()))
                await place.settled()
        except BaseException as broken:
            why = broken.message if isinstance(broken, RunwireError) else "whoever sent it went away"
            end = StreamEnd(lost=f"the stream broke off: {why}")
            raise
        finally:
            # However it ended, the run must not stay open: nobody else would ever close it.
            items, outcome = normaliser.end(end, clock.now_ns())
            last = terminal(outcome, dialect, (clock.now_ns() - began_ns) // 1_000_000)
            await self._finish(recorder, place, [*items, last])
        return await journal.reader.run(run_id)

    async def sweep(self) -> int:
        """End the runs whose stream a former process was taking in; say how many there were."""
        swept = 0
        with answering():
            make_folder(self._folder)
        where = "task_id IS NULL AND status IN ('queued', 'running', 'awaiting_approval')"
        for info in await self._ground.journal.reader.runs(where, (), _SWEEP_MAX):
            with ProcessLock(self._folder / f"{info.birth.run_id}.lock") as alone:
                swept += alone and await self._end_lost(info)
        return swept

    async def _finish(self, recorder: Recorder, place: "_Place", items: Sequence[Item]) -> None:
        try:
            await recorder.record(items)
            await place.settled()
        except RunFinished:
            # Somebody has ended it already.
            return

    async def _end_lost(self, info: RunInfo) -> bool:
        run_id, journal, now_ns = info.birth.run_id, self._ground.journal, self._ground.clock.now_ns()
        past = await read_run(journal, run_id)
        if not any(isinstance(one.payload, RunStarted) and one.payload.worker_id == WATCHER for one in past):
            # A log that was imported before its end: somebody may still bring the rest.
            return False
        asked: dict[str, None] = {}
        for one in past:
            match one.payload:
                case ApprovalRequested(approval_id=approval):
                    asked[approval] = None
                case ApprovalResolved(approval_id=approval) | ApprovalTimedOut(approval_id=approval):
                    asked.pop(approval, None)
                case _:
                    pass
        state = info.story.run
        sums = totals(
            turns=state.turns, cost_micros_usd=state.cost_micros_usd, started_ns=state.started_ns, now_ns=now_ns
        )
        story = story_of_loss(info, left_open(past, run_id), now_ns, reason=LOST, will_retry=False)
        last = ended(Failed("stream_lost", LOST, retriable=True), sums)
        await journal.append_all(run_id, [*story, *denials(asked, by="system", comment=LOST), last])
        return True


class _Place:
    """A run without a lease, as recording sees it."""

    def __init__(self, ground: Ground, run_id: str) -> None:
        self._ground = ground
        self._run_id = run_id
        self._last: Awaitable[Stored] | None = None

    def emit(self, *payloads: Payload | Opaque, kept: Sequence[Draft] = ()) -> Awaitable[Stored]:
        also = together(*(one.effect for one in kept)) if kept else None
        told = [*(one.event for one in kept), *payloads]
        self._last = self._ground.journal.append_all(self._run_id, told, also=also)
        return self._last

    async def offer(self, delta: Delta) -> None:
        await self._ground.journal.offer(self._run_id, delta)

    async def draft(self, new: NewArtifact, body: bytes) -> Draft:
        return await self._ground.artifacts.prepare(self._run_id, new, body)

    def spend(self, cost_micros_usd: int) -> None:
        """Nobody's budget: it is spent elsewhere."""

    async def settled(self) -> None:
        """Wait until what was told last is durable, and all before it."""
        last, self._last = self._last, None
        if last is not None:
            await last
