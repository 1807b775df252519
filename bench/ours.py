"""Our side of every in-process row, in one place: how the journal is opened, fed, settled and measured."""

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import uvloop

from bench.corpus import Draft, drafts, identifier, leaking, secrets
from bench.load.producers import Appended, Pace, Rate, Shape, drive, drive_bursts
from bench.rivals.sqlite_raw import Settings
from runwire.clock import SystemClock
from runwire.ids import Ids
from runwire.journal.journal import Journal, open_journal
from runwire.journal.layout import database_of
from runwire.journal.records import RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.journal.store.database import open_writer
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.events.run import RunFinished, RunStarted
from runwire.protocol.payload import Opaque, Payload

STARTED = RunStarted(worker_id="bench-1")
FINISHED = RunFinished(turns=1, cost_micros_usd=0, duration_ms=1)
_WARM_UP_S = 0.3
_STILL_S = 5.0


Redaction = Literal["default", "none", "200 secrets"]


class Unredacted(Redactor):
    """Lets everything through: what the journal would be without redaction."""

    def redact_all(self, payloads: Sequence[bytes]) -> Mapping[int, bytes]:  # noqa: ARG002 - the signature it replaces
        """Nothing is looked at, and nothing replaced."""
        return {}


_REDACTORS: dict[Redaction, Callable[[], Redactor]] = {
    "default": lambda: Redactor(SecretSet()),
    "none": lambda: Unredacted(SecretSet()),
    "200 secrets": lambda: Redactor(SecretSet(KnownValue("bench", value) for value in secrets(200))),
}


@asynccontextmanager
async def journal(directory: Path, redaction: Redaction = "default") -> AsyncGenerator[Journal]:
    """The journal of the product with its default settings."""
    clock = SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=os.urandom)
    redactor = _REDACTORS[redaction]()
    async with open_journal(_file_in(directory), redactor=redactor, clock=clock, ids=ids) as opened:
        yield opened


def _file_in(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return database_of(directory)


def settings(directory: Path) -> Settings:
    """The settings of our store that decide what a commit costs, read from a store of ours."""
    directory.mkdir(parents=True, exist_ok=True)
    connection = open_writer(directory / "settings.db")
    try:
        synchronous = {1: "NORMAL", 2: "FULL", 3: "EXTRA"}[int(connection.pragma("synchronous"))]
        return Settings(
            page_size=int(connection.pragma("page_size")),
            synchronous=synchronous,
            wal_autocheckpoint=int(connection.pragma("wal_autocheckpoint")),
        )
    finally:
        connection.close()


def payloads(chosen: Sequence[Draft]) -> list[Payload | Opaque]:
    """The drafts as typed payloads, the way an agent's dialect hands them over."""
    return [decode_payload(draft.type, draft.data) for draft in chosen]


async def start_runs(opened: Journal, count: int) -> list[str]:
    """Begin `count` runs of one task each."""
    rng = random.Random(os.urandom(8))
    births = [RunBirth(identifier(rng, "run"), identifier(rng, "task"), agent="bench") for _ in range(count)]
    for start in range(0, count, 512):
        await asyncio.gather(*(opened.create_run(birth, [STARTED]) for birth in births[start : start + 512]))
    return [birth.run_id for birth in births]


def append_rate(directory: Path, shape: Shape, seconds: float, redaction: Redaction = "default") -> Appended:
    """Events a second that this load makes durable in the store at `directory`, new or filled before."""
    return uvloop.run(_append_rate(directory, shape, seconds, redaction))


async def _append_rate(directory: Path, shape: Shape, seconds: float, redaction: Redaction) -> Appended:
    chosen = drafts(4096)
    events = payloads(chosen if redaction == "default" else leaking(chosen, secrets()))
    async with journal(directory, redaction) as opened:
        runs = shape.runs_of_each(await start_runs(opened, max(shape.runs, shape.producers)))

        async def load(duration: float) -> Rate:
            pace = Pace(runs, events, duration)
            if shape.burst == 1:
                return await drive(opened.append, pace)
            return await drive_bursts(opened.append_all, pace, shape.burst)

        await load(min(_WARM_UP_S, seconds))
        before = opened.figures().commits
        rate = await load(seconds)
        return Appended(rate.per_second, rate.events / (opened.figures().commits - before))


@dataclass(frozen=True, slots=True)
class Filled:
    """Runs that were stored, and what they took on disk when all was quiet and the journal still open."""

    runs: list[str]
    bytes_on_disk: int


def fill(directory: Path, runs: int, events_per_run: int, finish: bool = True, settle: bool = False) -> Filled:
    """Store `runs` runs of so many events each, sealed at once or, to `settle`, in the keeper's own time."""
    return uvloop.run(_fill(directory, runs, events_per_run, finish, settle))


async def _fill(directory: Path, runs: int, events_per_run: int, finish: bool, settle: bool) -> Filled:
    events = payloads(drafts(4096))
    batch = min(500, events_per_run)
    async with journal(directory) as opened:
        names = await start_runs(opened, runs)
        for start in range(0, runs, 16):
            group = names[start : start + 16]
            await asyncio.gather(*(_write(opened, name, events, events_per_run, batch) for name in group))
        if finish:
            for start in range(0, runs, 512):
                await asyncio.gather(*(opened.append(name, FINISHED) for name in names[start : start + 512]))
        if settle:
            size = await _settled_size(directory)
        else:
            await opened.keeper.seal_all()
            size = bytes_on_disk(directory)
    return Filled(names, size)


async def _settled_size(directory: Path) -> int:
    """The size of the store once it has stopped changing."""
    size, still_s = bytes_on_disk(directory), 0.0
    while still_s < _STILL_S:
        await asyncio.sleep(0.5)
        before, size = size, bytes_on_disk(directory)
        still_s = still_s + 0.5 if size == before else 0.0
    return size


async def _write(opened: Journal, name: str, events: list[Payload | Opaque], count: int, batch: int) -> None:
    """Write `count` events in all, the run's first and last included."""
    for start in range(0, count - 2, batch):
        size = min(batch, count - 2 - start)
        offset = start % (len(events) - batch)
        await opened.append_all(name, events[offset : offset + size])


def stored_frames(directory: Path, run_id: str) -> list[bytes]:
    """Every stored frame of a run, in big pieces."""
    return uvloop.run(_stored_frames(directory, run_id))


async def _stored_frames(directory: Path, run_id: str) -> list[bytes]:
    pieces, cursor = [], -1
    async with journal(directory) as opened:
        while (batch := await opened.reader.read(run_id, cursor, 1 << 20)) is not None:
            pieces.append(bytes(batch.frames))
            cursor = batch.last
    return pieces


def bytes_on_disk(directory: Path) -> int:
    """The size of everything in the directory: database, WAL and whatever lies beside them."""
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
