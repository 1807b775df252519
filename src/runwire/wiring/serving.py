"""The gateway: everything that it serves from, without a socket and with one."""

import asyncio
import gc
import os
import signal
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress

from starlette.types import ASGIApp

from runwire.config import Config
from runwire.errors import GatewayRunning
from runwire.gateway.app import create_app
from runwire.gateway.housekeeping import keep_house
from runwire.gateway.logs import set_up_logs
from runwire.gateway.server import serve as serve_app
from runwire.gateway.services import Runtime, Services
from runwire.journal.disk import answering, make_folder
from runwire.journal.importing import Importer
from runwire.journal.replies import Replies
from runwire.journal.store.lock import ProcessLock
from runwire.journal.tokens import Tokens
from runwire.runs.demo.demo import Demo
from runwire.runs.ingesting import Ingesting
from runwire.runs.messages import Messages
from runwire.wiring.office import office_of
from runwire.wiring.opening import open_data
from runwire.wiring.registering import keeping_of, kept_agents, registry_of
from runwire.wiring.working import working


@asynccontextmanager
async def open_services(
    config: Config, *, environ: Mapping[str, str], workers: int | None = None, begin: asyncio.Event | None = None
) -> AsyncGenerator[Services]:
    """Everything that a gateway serves from, opened on the configured data directory and closed at the end.

    With `workers` it also carries runs out, so many at a time and from `begin` on; with 0 it only lets things expire.
    """
    async with open_data(config, environ, to_work=workers is not None) as opened:
        office, ground = office_of(opened), opened.ground
        runtime = Runtime(
            tasks=office.tasks,
            starter=office.starter,
            cancelling=office.cancelling,
            messages=Messages(ground=ground),
            ingesting=Ingesting(ground=ground, folder=config.data / "ingesting"),
            approvals=office.approvals,
            grants=office.grants,
            patches=office.patches,
            registry=registry_of(config, environ=environ, clock=ground.clock, sandbox=opened.sandbox),
            demo=Demo(
                ground=ground,
                tasks=office.tasks,
                cancelling=office.cancelling,
                patches=office.patches,
                grants=office.grants,
                folder=config.data / "demo",
            ),
            providers=opened.models.set_up(),
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
        async with working(opened, office, workers or 0, begin):
            yield services


@asynccontextmanager
async def open_app(config: Config, *, workers: int | None = None) -> AsyncGenerator[tuple[ASGIApp, str]]:
    """The gateway without a socket, for commands that run where no gateway does, and the token that it accepts."""
    async with open_services(config, environ=os.environ, workers=workers) as services:
        token = await services.tokens.start()
        yield create_app(services), token


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

    kept = list(kept_agents(config))
    # An agent that is kept takes a place for good, so it brings its own.
    slots = config.workers + len(kept) if config.workers else 0
    async with open_services(config, environ=os.environ, workers=slots, begin=listening) as services:
        set_up_logs(services.journal.redactor.scrub)
        token = await services.tokens.start()
        await services.runtime.ingesting.sweep()
        app = create_app(services)
        if demo and not (await services.runtime.demo.find()).task_ids:
            await services.runtime.demo.make()
        # What is here now stays: without it in the collector's rounds, those are short.
        gc.collect()
        gc.freeze()
        loop, keeping = asyncio.get_running_loop(), keeping_of(services)
        aside = [loop.create_task(keep_house(services)), loop.create_task(services.runtime.demo.attend())]
        aside += [loop.create_task(keeping.keep(one)) for one in kept]
        try:
            return await serve_app(app, services, started=announce)
        finally:
            for task in aside:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
