"""An open data directory: what everything stands on that is done in it."""

import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from runwire.clock import SystemClock
from runwire.config import Config
from runwire.ids import Ids
from runwire.journal.artifacts import Artifacts
from runwire.journal.disk import answering, make_folder
from runwire.journal.journal import JournalSettings, open_journal
from runwire.journal.layout import bodies_of, database_of
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet, secrets_of_environment
from runwire.journal.retention import Retention
from runwire.native.models.catalogue import Catalogue
from runwire.runs.hosting import Ground
from runwire.workspace.probing import Probe, unwatched
from runwire.workspace.sandbox.choosing import choose
from runwire.workspace.sandbox.layer import Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
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


@asynccontextmanager
async def open_data(
    config: Config, environ: Mapping[str, str], *, to_work: bool, probe: Probe = unwatched
) -> AsyncGenerator[Opened]:
    """Open the directory, which is made if need be, and close it at the end; `to_work` looks for a sandbox."""
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
            yield Opened(
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
