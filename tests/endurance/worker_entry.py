"""Workers and appliers of patches in processes of their own, which end themselves, without warning, where they are told.

The processes are forked from one that has loaded everything and done nothing, so that many of them are cheap.
"""

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from runwire.config import Config
from runwire.runs.patches import Patches
from runwire.wiring import working
from runwire.workspace.applying import Verb
from runwire.workspace.locking import Locks
from runwire.workspace.probing import Probe
from tests.patience import PATIENCE_S
from tests.runs.house import open_house

_FORKING = multiprocessing.get_context("forkserver")
_LOADED = [
    "pytest",
    "tests.endurance.worker_entry",
    "runwire.native.direct",
    "runwire.native.executor",
    "runwire.native.tools.catalogue",
    "runwire.native.tools.fetching",
    "runwire.native.tools.web_search",
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a worker dies: the so-manieth time that it comes to a place of this name."""

    name: str
    time: int = 1

    def __str__(self) -> str:
        return f"{self.name} {self.time}"


def _probe(death: Place | None, trace: Path | None = None) -> Probe:
    passed: list[str] = []

    def probe(name: str) -> None:
        passed.append(name)
        if trace is not None:
            with trace.open("a") as file:
                file.write(f"{name}\n")
        if death is not None and name == death.name and passed.count(name) == death.time:
            os.kill(os.getpid(), signal.SIGKILL)

    return probe


def _work(data: Path, slots: int, death: Place | None, trace: Path | None, began: Connection) -> None:
    config = Config(data=data, workers=slots, close_grace_s=0.2)
    asyncio.run(working.work(config, started=began.send, probe=_probe(death, trace)))


async def _decide(data: Path, verb: Verb, patches: Sequence[str], death: Place) -> None:
    async with open_house(data) as house:
        ground = replace(house.ground, probe=_probe(death))
        deciding = Patches(ground=ground, locks=Locks(data / "locks"), undo=data / "undo")
        await (deciding.apply if verb == "apply" else deciding.revert_all)(patches, by="somebody")


def _write(data: Path, verb: Verb, patches: Sequence[str], death: Place) -> None:
    asyncio.run(_decide(data, verb, patches, death))


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process."""

    process: ForkServerProcess

    async def died(self) -> None:
        """Wait until it has ended itself."""
        await _died(self.process)


async def _died(process: ForkServerProcess) -> None:
    await asyncio.to_thread(process.join, PATIENCE_S)
    assert process.exitcode == -signal.SIGKILL, f"it did not die where it was to: {process.exitcode}"


async def die_writing(data: Path, verb: Verb, patches: Sequence[str], death: Place) -> None:
    """Apply patches, or take them back, in a process that dies on the way."""
    _FORKING.set_forkserver_preload(_LOADED)
    process = _FORKING.Process(target=_write, args=(data, verb, patches, death))
    process.start()
    try:
        await _died(process)
    finally:
        process.kill()
        await asyncio.to_thread(process.join)
        process.close()


@asynccontextmanager
async def worker(
    data: Path, death: Place | None = None, *, slots: int = 1, trace: Path | None = None
) -> AsyncGenerator[Worker]:
    """A worker that is at work, or has been; one that is there at the end is killed. It writes its way into `trace`."""
    _FORKING.set_forkserver_preload(_LOADED)
    ours, theirs = _FORKING.Pipe(duplex=False)
    process = _FORKING.Process(target=_work, args=(data, slots, death, trace, theirs))
    process.start()
    theirs.close()
    try:
        assert await asyncio.to_thread(ours.poll, PATIENCE_S), "it did not begin"
        yield Worker(process)
    finally:
        process.kill()
        await asyncio.to_thread(process.join)
        process.close()
        ours.close()
