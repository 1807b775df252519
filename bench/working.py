"""Runs as the product carries them: queued in a store, taken up by the workers of one process, read back as they were kept."""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench import ours
from runwire.config import Config
from runwire.gateway.services import Services
from runwire.journal.records import RunBirth
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, occurred_at_of, type_of
from runwire.protocol.events.assistant import AssistantTextDelta
from runwire.protocol.events.run import RunStarted
from runwire.protocol.moment import nanoseconds
from runwire.protocol.payload import Opaque, Payload
from runwire.runs.past import stored_events
from runwire.runs.task import NewTask, WorkspaceSpec
from runwire.wiring.serving import open_services

EVENTS_OF_A_RUN = 20
_AT_BIRTH = 2
_TURNS = [
    {
        "tools": [{"name": "todo_write", "input": {"todos": [{"content": "look", "status": "completed"}]}}],
        "usage": {"input": 900, "output": 40},
    },
    {"text": "Everything is as it should be.", "usage": {"input": 960, "output": 12}},
]
_NS = 1_000_000_000
_LOOK_S = 0.05

Batches = Sequence[Sequence[Payload | Opaque]]
"""What one run appends, commit by commit."""


def script(directory: Path) -> str:
    """The model of runs that have so many events: a turn with a call, and one with an answer."""
    path = directory / "script.json"
    path.write_text(json.dumps({"turns": _TURNS}))
    return f"scripted:{path}"


@dataclass(frozen=True, slots=True)
class Carried:
    """What was measured while runs were carried."""

    per_second: float
    """Events a second, from the first claim to the last end."""
    first_event_ms: list[float]
    """For each run, from its claim to the event after it."""


def carry(directory: Path, runs: int, slots: int) -> Carried:
    """Queue so many runs, then let so many slots carry them, and count what they append."""
    directory.mkdir(parents=True)
    names = uvloop.run(_queue(directory, runs))
    return uvloop.run(_carry(directory, names, slots))


async def _queue(directory: Path, runs: int) -> list[str]:
    (directory / "workspace").mkdir(exist_ok=True)
    new = NewTask(
        prompt="Look around.",
        model=script(directory),
        workspace=WorkspaceSpec(path=str(directory / "workspace"), mode="in_place"),
    )
    async with open_services(_config(directory), environ=os.environ) as services:
        views = [await services.runtime.tasks.create(new) for _ in range(runs)]
    return [view.latest_run.birth.run_id for view in views if view.latest_run is not None]


async def _carry(directory: Path, names: Sequence[str], slots: int) -> Carried:
    async with open_services(_config(directory), environ=os.environ, workers=slots) as services:
        await _until_over(services)
        logs = [await _log(services, name) for name in names]
    began = min(_moment(log, _AT_BIRTH) for log in logs)
    ended = max(_moment(log, -1) for log in logs)
    wrong = [log for log in logs if len(log) != EVENTS_OF_A_RUN or type_of(log[-1]) != "run.finished"]
    if wrong:
        raise RuntimeError(f"a run has {len(wrong[0])} events and ends with {type_of(wrong[0][-1])}")
    waits = [(_moment(log, _AT_BIRTH + 1) - _moment(log, _AT_BIRTH)) / 1e6 for log in logs]
    appended = len(logs) * (EVENTS_OF_A_RUN - _AT_BIRTH)
    return Carried(appended * _NS / (ended - began), waits)


async def _until_over(services: Services) -> None:
    # Now and then: to look after every commit would be work that nobody asked the workers to do.
    while True:
        left = await services.journal.reader.query(lambda db: next(db.execute("SELECT count(*) FROM queue"))[0])
        if not left:
            return
        await asyncio.sleep(_LOOK_S)


async def _log(services: Services, run_id: str) -> list[bytes]:
    return [envelope async for envelope in stored_events(services.journal, run_id)]


def _moment(log: Sequence[bytes], place: int) -> int:
    return nanoseconds(occurred_at_of(log[place]))


def _config(directory: Path) -> Config:
    return Config(data=directory / "data")


def batches(directory: Path) -> list[list[tuple[str, bytes]]]:
    """What a run that is alone appends after its birth, as type and data: one list for each commit."""
    directory.mkdir(parents=True)
    (name,) = uvloop.run(_queue(directory, 1))
    return uvloop.run(_batches(directory, name))


async def _batches(directory: Path, name: str) -> list[list[tuple[str, bytes]]]:
    async with open_services(_config(directory), environ=os.environ, workers=1) as services:
        await _until_over(services)
        log = await _log(services, name)
    found: dict[str, list[tuple[str, bytes]]] = {}
    for envelope in log[_AT_BIRTH:]:
        # The events of one commit have one moment.
        found.setdefault(occurred_at_of(envelope), []).append((type_of(envelope), bytes(data_of(envelope))))
    return list(found.values())


def appended(directory: Path, told: Sequence[Sequence[tuple[str, bytes]]], runs: int, producers: int) -> float:
    """Events a second when the journal alone is handed the same events in the same batches."""
    chosen = [[decode_payload(name, data) for name, data in batch] for batch in told]
    return uvloop.run(_appended(directory, chosen, runs, producers))


async def _appended(directory: Path, told: Batches, runs: int, producers: int) -> float:
    async with ours.journal(directory) as journal:
        names = [journal_id(number) for number in range(runs)]
        for name in names:
            await journal.create_run(RunBirth(name, f"task_{name}", agent="native"), [RunStarted(worker_id="bench")])

        async def produce(mine: Sequence[str]) -> None:
            for name in mine:
                for batch in told:
                    for delta in (one for one in batch if isinstance(one, AssistantTextDelta)):
                        await journal.offer(name, delta)
                    await journal.append_all(name, [one for one in batch if not isinstance(one, AssistantTextDelta)])

        started = time.perf_counter()
        await asyncio.gather(*(produce(names[start::producers]) for start in range(producers)))
        taken = time.perf_counter() - started
    return runs * sum(len(batch) for batch in told) / taken


def journal_id(number: int) -> str:
    """A run's name."""
    return f"run_{number:026d}"
