"""The composition root: the only file that names every concrete class."""

import asyncio
import gc
import os
import secrets
import signal
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.types import ASGIApp

from runwire.clock import SystemClock
from runwire.config import Config
from runwire.errors import GatewayRunning, StoreError
from runwire.gateway.app import create_app
from runwire.gateway.logs import set_up_logs
from runwire.gateway.server import serve as serve_app
from runwire.gateway.services import Services
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
from runwire.journal.retention import Policy, Retention
from runwire.journal.store.lock import ProcessLock
from runwire.journal.tokens import Tokens


@asynccontextmanager
async def open_services(config: Config, *, environ: Mapping[str, str]) -> AsyncGenerator[Services]:
    """Everything that a gateway serves from, opened on the configured data directory and closed at the end."""
    with answering():
        make_folder(config.data)
    clock = SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    known = SecretSet(secrets_of_environment(environ))
    settings = JournalSettings(coalesce_s=config.coalesce_ms / 1000, coalesce_chars=config.coalesce_bytes)
    database = database_of(config.data)
    async with open_journal(database, redactor=Redactor(known), clock=clock, ids=ids, settings=settings) as journal:
        yield Services(
            config=config,
            clock=clock,
            ids=ids,
            journal=journal,
            artifacts=Artifacts(journal=journal, folder=bodies_of(config.data), config=config, clock=clock, ids=ids),
            tokens=Tokens(journal=journal, secrets=known, config=config, clock=clock, ids=ids),
            replies=Replies(journal=journal, clock=clock),
            importer=Importer(journal=journal),
            retention=Retention(journal=journal, clock=clock, ids=ids),
        )


@asynccontextmanager
async def open_app(config: Config) -> AsyncGenerator[tuple[ASGIApp, str]]:
    """The gateway without a socket, for commands that run where no gateway does, and the token that it accepts."""
    async with open_services(config, environ=os.environ) as services:
        token = await services.tokens.start()
        yield create_app(services), token


async def serve(config: Config, *, started: Callable[[int, str], None]) -> signal.Signals | None:
    """Serve until a signal, which is returned; `started` is told the port and the admin token.

    Of all processes on a data directory one may be the gateway: what another one commits would not ring its bells.
    """
    with answering():
        make_folder(config.data)
    with ProcessLock(config.data / "gateway.lock") as alone:
        if not alone:
            raise GatewayRunning()
        return await _serve(config, started)


async def _serve(config: Config, started: Callable[[int, str], None]) -> signal.Signals | None:
    async with open_services(config, environ=os.environ) as services:
        set_up_logs(services.journal.redactor.scrub)
        token = await services.tokens.start()
        app = create_app(services)
        # What is here now stays: without it in the collector's rounds, those are short.
        gc.collect()
        gc.freeze()
        housekeeping = asyncio.get_running_loop().create_task(_housekeeping(services))
        try:
            return await serve_app(app, services, started=lambda port: started(port, token))
        finally:
            housekeeping.cancel()
            with suppress(asyncio.CancelledError):
                await housekeeping


async def _housekeeping(services: Services) -> None:
    """Apply the retention settings and collect what nothing names any more, now and then."""
    config = services.config
    policy = Policy(config.retention_max_age_s, config.retention_max_events, config.retention_max_bytes)
    while True:
        await asyncio.sleep(config.retention_every_s)
        # A store that fails now is tried again at the next round; appends tell of it in the meantime.
        with suppress(StoreError):
            if policy != Policy():
                await services.retention.apply(policy)
            await services.artifacts.prune()


def backup(config: Config, destination: Path) -> backups.Copied:
    """Copy the data directory to `destination`, also while a gateway runs on it."""
    return backups.backup(config.data, destination)


def restore(config: Config, source: Path) -> backups.Copied:
    """Make the data directory out of a backup; one that is in use or not empty is refused."""
    return backups.restore(source, config.data)
