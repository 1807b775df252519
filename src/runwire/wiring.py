"""The composition root: the only file that names every concrete class."""

import asyncio
import gc
import os
import random
import secrets
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from runwire.clock import SystemClock
from runwire.config import Config
from runwire.errors import GatewayRunning
from runwire.gateway.app import create_app
from runwire.gateway.housekeeping import keep_house
from runwire.gateway.logs import set_up_logs
from runwire.gateway.server import serve as serve_app
from runwire.gateway.services import Runtime, Services
from runwire.host import Executor
from runwire.ids import Ids
from runwire.journal import backup as backups
from runwire.journal.artifacts import Artifacts
from runwire.journal.disk import answering, make_folder
from runwire.journal.importing import Importer
from runwire.journal.journal import JournalSettings, open_journal
from runwire.journal.layout import bodies_of, database_of
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet, secrets_of_environment
from runwire.journal.replies import Replies
from runwire.journal.retention import Retention
from runwire.journal.store.lock import ProcessLock
from runwire.journal.tokens import Tokens
from runwire.native.models.catalogue import Catalogue
from runwire.runs.accepting import Acceptance
from runwire.runs.approvals import Approvals
from runwire.runs.cancelling import Cancelling
from runwire.runs.claiming import Ending
from runwire.runs.demo import start_demo
from runwire.runs.edits import PolicedEdits, read_by_tool
from runwire.runs.grants import Grants
from runwire.runs.hiring import Job, hire
from runwire.runs.hooks import Hooks
from runwire.runs.hosting import Deciding, Ground
from runwire.runs.lease import Lease
from runwire.runs.messages import Messages
from runwire.runs.patches import Patches
from runwire.runs.permitting import Permits, Surroundings
from runwire.runs.policies import Policies
from runwire.runs.settling import Settles
from runwire.runs.starting import Starter
from runwire.runs.supervisor import Manners
from runwire.runs.tasks import Tasks
from runwire.runs.vault import Vault
from runwire.runs.worker import Worker
from runwire.runs.workplaces import MadeWorkplaces
from runwire.workspace.limits import Groups
from runwire.workspace.locking import Locks
from runwire.workspace.making import Maker
from runwire.workspace.probing import Probe, unwatched
from runwire.workspace.sandbox.choosing import choose
from runwire.workspace.sandbox.hiding import hidden_paths
from runwire.workspace.sandbox.layer import Sandbox
from runwire.workspace.tree import become_subreaper

if TYPE_CHECKING:
    from runwire.native.tools.catalogue import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """An open data directory, and what everything stands on that is done in it."""

    config: Config
    environ: Mapping[str, str]
    known: SecretSet
    ground: Ground
    retention: Retention
    models: Catalogue
    sandbox: Sandbox | None
    """None where nobody works."""

    @property
    def workers(self) -> Path:
        """Where workers show that they live."""
        return self.config.data / "workers"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Office:
    """Who decides and who hands out work."""

    policies: Policies
    approvals: Approvals
    grants: Grants
    vault: Vault
    starter: Starter
    cancelling: Cancelling
    patches: Patches
    tasks: Tasks
    surroundings: Surroundings


@asynccontextmanager
async def _opened(
    config: Config, environ: Mapping[str, str], *, to_work: bool, probe: Probe = unwatched
) -> AsyncGenerator[_Opened]:
    with answering():
        make_folder(config.data)
    clock = SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    known = SecretSet(secrets_of_environment(environ))
    models = Catalogue(providers=config.models, environ=environ, ids=ids, idle_s=config.model_idle_s)
    known.register_all(models.secrets())
    settings = JournalSettings(coalesce_s=config.coalesce_ms / 1000, coalesce_chars=config.coalesce_bytes)
    database = database_of(config.data)
    try:
        async with open_journal(database, redactor=Redactor(known), clock=clock, ids=ids, settings=settings) as journal:
            artifacts = Artifacts(journal=journal, folder=bodies_of(config.data), config=config, clock=clock, ids=ids)
            yield _Opened(
                config=config,
                environ=environ,
                known=known,
                ground=Ground(journal, artifacts, clock, ids, probe),
                retention=Retention(journal=journal, clock=clock, ids=ids),
                models=models,
                sandbox=await choose() if to_work else None,
            )
    finally:
        await models.close()


def _office(opened: _Opened) -> _Office:
    config, ground = opened.config, opened.ground
    journal, clock = ground.journal, ground.clock
    policies = Policies(
        configured=config.policy,
        hooks=config.hooks,
        approval_timeout_s=config.approval_timeout_s,
        max_turns=config.max_turns,
        allow_unconfined=config.allow_unconfined,
    )
    surroundings = Surroundings(data=config.data, unconfined=opened.sandbox is not None and not opened.sandbox.confines)
    edits = PolicedEdits(journal=journal, read_ask=read_by_tool, policies=policies, surroundings=surroundings)
    vault = Vault(folder=config.data / "vault", secrets=opened.known, redactor=journal.redactor)
    places = MadeWorkplaces(maker=Maker(environ=opened.environ), folder=config.workspaces or config.data / "workspaces")
    patches = _patches(opened)
    starter = Starter(ground=ground, workplaces=places, vault=vault, replay=patches.replay)
    ending = Ending(ground=ground, folder=opened.workers, host=socket.gethostname())
    acceptance = Acceptance(agents=("native",), models=opened.models, cwd=Path.cwd())
    return _Office(
        policies=policies,
        approvals=Approvals(journal=journal, clock=clock, ids=ground.ids, edits=edits),
        grants=Grants(journal=journal, clock=clock),
        vault=vault,
        starter=starter,
        cancelling=Cancelling(ground=ground, ending=ending),
        patches=patches,
        tasks=Tasks(
            ground=ground,
            starter=starter,
            vault=vault,
            workplaces=places,
            retention=opened.retention,
            accept=acceptance.accept,
        ),
        surroundings=surroundings,
    )


def _patches(opened: _Opened) -> Patches:
    config = opened.config
    return Patches(
        ground=opened.ground,
        locks=Locks(config.data / "locks"),
        undo=config.data / "undo",
    )


# What only a worker needs is loaded where one begins: most commands and a good part of the start have no use for it.


def _worker(opened: _Opened, office: _Office, sandbox: Sandbox, slots: int) -> Worker:
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


def _workbench(opened: _Opened, office: _Office, sandbox: Sandbox) -> "Workbench":
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


@asynccontextmanager
async def _working(opened: _Opened, office: _Office, slots: int, begin: asyncio.Event | None) -> AsyncGenerator[None]:
    """Have runs carried out while the body runs, from `begin` on; at its end they come to rest first."""
    if opened.sandbox is None:
        yield
        return
    become_subreaper()
    await office.tasks.sweep()
    await office.patches.settle_all()
    begin, stop, sandbox = begin or _at_once(), asyncio.Event(), opened.sandbox

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


def _at_once() -> asyncio.Event:
    now = asyncio.Event()
    now.set()
    return now


@asynccontextmanager
async def open_services(
    config: Config, *, environ: Mapping[str, str], workers: int | None = None, begin: asyncio.Event | None = None
) -> AsyncGenerator[Services]:
    """Everything that a gateway serves from, opened on the configured data directory and closed at the end.

    With `workers` it also carries runs out, so many at a time and from `begin` on; with 0 it only lets things expire.
    """
    async with _opened(config, environ, to_work=workers is not None) as opened:
        office, ground = _office(opened), opened.ground
        runtime = Runtime(
            tasks=office.tasks,
            starter=office.starter,
            cancelling=office.cancelling,
            messages=Messages(ground=ground),
            approvals=office.approvals,
            grants=office.grants,
            patches=office.patches,
            sandbox_layer="" if opened.sandbox is None else opened.sandbox.layer,
        )
        services = Services(
            config=config,
            clock=ground.clock,
            ids=ground.ids,
            journal=ground.journal,
            artifacts=ground.artifacts,
            tokens=Tokens(
                journal=ground.journal, secrets=opened.known, config=config, clock=ground.clock, ids=ground.ids
            ),
            replies=Replies(journal=ground.journal, clock=ground.clock),
            importer=Importer(journal=ground.journal),
            retention=opened.retention,
            runtime=runtime,
        )
        async with _working(opened, office, workers or 0, begin):
            yield services


@asynccontextmanager
async def open_app(config: Config, *, workers: int | None = None) -> AsyncGenerator[tuple[ASGIApp, str]]:
    """The gateway without a socket, for commands that run where no gateway does, and the token that it accepts."""
    async with open_services(config, environ=os.environ, workers=workers) as services:
        token = await services.tokens.start()
        yield create_app(services), token


async def work(config: Config, *, started: Callable[[str], None], probe: Probe = unwatched) -> None:
    """Carry runs out, and do nothing else, until SIGINT or SIGTERM; `started` is told the worker's name."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    async with _opened(config, os.environ, to_work=True, probe=probe) as opened:
        office = _office(opened)
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(one, stop.set)
        async with _working(opened, office, config.workers, None):
            started(f"{socket.gethostname()}:{os.getpid()}")
            await stop.wait()


async def serve(config: Config, *, started: Callable[[int, str], None], demo: bool = False) -> signal.Signals | None:
    """Serve until a signal, which is returned; `started` is told the port and the admin token.

    Of all processes on a data directory one may be the gateway; others may work beside it.
    """
    with answering():
        make_folder(config.data)
    with ProcessLock(config.data / "gateway.lock") as alone:
        if not alone:
            raise GatewayRunning()
        return await _serve(config, started, demo)


async def _serve(config: Config, started: Callable[[int, str], None], demo: bool) -> signal.Signals | None:
    # Callers come first: what a worker needs is loaded once they are answered.
    listening = asyncio.Event()

    def announce(port: int) -> None:
        started(port, token)
        listening.set()

    async with open_services(config, environ=os.environ, workers=config.workers, begin=listening) as services:
        set_up_logs(services.journal.redactor.scrub)
        token = await services.tokens.start()
        app = create_app(services)
        if demo:
            await start_demo(services.runtime.tasks, config.data / "demo")
        # What is here now stays: without it in the collector's rounds, those are short.
        gc.collect()
        gc.freeze()
        housekeeping = asyncio.get_running_loop().create_task(keep_house(services))
        try:
            return await serve_app(app, services, started=announce)
        finally:
            housekeeping.cancel()
            with suppress(asyncio.CancelledError):
                await housekeeping


def backup(config: Config, destination: Path) -> backups.Copied:
    """Copy the data directory to `destination`, also while a gateway runs on it."""
    return backups.backup(config.data, destination)


def restore(config: Config, source: Path) -> backups.Copied:
    """Make the data directory out of a backup; one that is in use or not empty is refused."""
    return backups.restore(source, config.data)
