"""Workers: what carries runs out, and the executors it does that with."""

import asyncio
import os
import random
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from runwire.config import Config
from runwire.host import Executor
from runwire.runs.hiring import Job, hire
from runwire.runs.hooks import Hooks
from runwire.runs.hosting import Deciding
from runwire.runs.lease import Lease
from runwire.runs.permitting import Permits
from runwire.runs.settling import Settles
from runwire.runs.supervisor import Manners
from runwire.runs.worker import Worker
from runwire.wiring.agents import agent_executors
from runwire.wiring.office import Office, office_of
from runwire.wiring.opening import Opened, open_data
from runwire.workspace.limits import Groups
from runwire.workspace.probing import Probe, unwatched
from runwire.workspace.sandbox.hiding import hidden_paths
from runwire.workspace.sandbox.layer import Sandbox
from runwire.workspace.tree import become_subreaper

if TYPE_CHECKING:
    from runwire.native.tools.catalogue import Workbench


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
        worker = _worker(opened, office, sandbox, slots)
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


# What only a worker needs is loaded where one begins: most commands and a good part of the start have no use for it.


def _worker(opened: Opened, office: Office, sandbox: Sandbox, slots: int) -> Worker:
    from runwire.native.direct import DirectExecutor
    from runwire.native.executor import AgentLoop, Pacing
    from runwire.native.tools.catalogue import Tools

    config, ground = opened.config, opened.ground
    journal, clock, ids = ground.journal, ground.clock, ground.ids
    hooks = Hooks(journal=journal, environ=opened.environ, known=lambda: opened.known.values)
    permits = Permits(
        approvals=office.approvals,
        grants=office.grants,
        policies=office.policies,
        hooks=hooks,
        ids=ids,
        surroundings=office.surroundings,
    )
    toolbox = Tools(_workbench(opened, office, sandbox))
    direct = DirectExecutor(toolbox=toolbox, clock=clock)
    pacing = Pacing(rng=random.random, max_attempts=config.max_attempts)
    executors: Mapping[str, Executor] = {
        **agent_executors(opened, office, sandbox),
        "native:agent_loop": AgentLoop(models=opened.models, toolbox=toolbox, clock=clock, ids=ids, pacing=pacing),
        "native:shell": direct,
        "native:git": direct,
        "native:file": direct,
    }
    lease = Lease(
        journal=journal, clock=clock, worker_id=ids.new("worker"), folder=opened.workers, lease_s=config.lease_s
    )
    return hire(
        Job(
            ground=ground,
            executors=executors,
            deciding=Deciding(permits, Settles(policies=office.policies, hooks=hooks), office.policies.terms),
            starter=office.starter,
            cancelling=office.cancelling,
            vault=office.vault,
            lease=lease,
            slots=slots,
            manners=Manners(park_after_s=config.park_after_s, close_grace_s=config.close_grace_s),
            expire=office.approvals.expire,
            settle_writes=office.patches.settle,
        )
    )


def _workbench(opened: Opened, office: Office, sandbox: Sandbox) -> "Workbench":
    from runwire.native.tools.catalogue import Workbench
    from runwire.native.tools.fetching import PinnedFetcher
    from runwire.native.tools.tool import ToolSettings
    from runwire.native.tools.web_search import Searxng

    config, ground = opened.config, opened.ground
    return Workbench(
        sandbox=sandbox,
        applier=office.patches.applier,
        locks=office.patches.locks,
        clock=ground.clock,
        ids=ground.ids,
        http=PinnedFetcher(),
        secrets=opened.known,
        inherited=opened.environ,
        search=None if config.search_url is None else Searxng(config.search_url),
        settings=ToolSettings(output_limit_bytes=config.output_limit_bytes),
        hidden=hidden_paths(data=config.data, home=Path.home()),
        groups=Groups.of_this_process(),
    )
