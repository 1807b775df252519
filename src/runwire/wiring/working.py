"""Workers: when they begin to carry runs out, and how they come to rest."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from runwire.config import Config
from runwire.wiring.office import Office, office_of
from runwire.wiring.opening import Opened, open_data
from runwire.workspace.probing import Probe, unwatched
from runwire.workspace.sandbox.layer import Sandbox
from runwire.workspace.tree import become_subreaper

if TYPE_CHECKING:
    from runwire.runs.worker import Worker

    Hiring = Callable[[Opened, Office, Sandbox, int], Worker]


async def work(config: Config, *, started: Callable[[str], None], probe: Probe = unwatched) -> None:
    """Carry runs out, and do nothing else, until SIGINT or SIGTERM; `started` is told the worker's name."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    async with open_data(config, os.environ, to_work=True, probe=probe) as opened:
        office = office_of(opened)
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(one, stop.set)
        async with working(opened, office, config.workers, None):
            started(f"{socket.gethostname()}:{os.getpid()}")
            await stop.wait()


@asynccontextmanager
async def working(opened: Opened, office: Office, slots: int, begin: asyncio.Event | None) -> AsyncGenerator[None]:
    """Have runs carried out while the body runs, from `begin` on; at its end they come to rest first."""
    if opened.sandbox is None:
        yield
        return
    become_subreaper()
    await office.tasks.sweep()
    await office.patches.settle_all()
    begin, stop, sandbox = begin or at_once(), asyncio.Event(), opened.sandbox

    async def employ() -> None:
        await begin.wait()
        # What a worker needs is loaded in a thread: callers are answered meanwhile.
        worker_of = await asyncio.to_thread(_load)
        worker = worker_of(opened, office, sandbox, slots)
        if opened.models.secrets():
            # The prices take half a second to load, so they are there before a model that costs something is called.
            group.create_task(asyncio.to_thread(opened.models.warm))
        await worker.work(stop)

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(employ())
            try:
                yield
            finally:
                stop.set()
                begin.set()
    except ExceptionGroup as failures:
        # Of tasks that fail together, the first is the cause and the others its victims.
        first = failures.exceptions[0]
        raise first from first.__cause__


def at_once() -> asyncio.Event:
    now = asyncio.Event()
    now.set()
    return now


def _load() -> "Hiring":
    from runwire.wiring.employing import worker_of

    return worker_of
