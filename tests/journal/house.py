"""A data directory with everything opened on it, as a process would."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from runwire.clock import Clock
from runwire.config import Config
from runwire.ids import Ids
from runwire.journal.artifact import Artifact, ArtifactMeta, Kind, NewArtifact
from runwire.journal.artifacts import Artifacts
from runwire.journal.journal import Journal, JournalSettings, open_journal
from runwire.journal.layout import bodies_of, database_of
from runwire.journal.records import RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from runwire.journal.replies import Replies
from runwire.journal.retention import Retention
from runwire.journal.tokens import Tokens
from runwire.protocol.events.run import RunQueued
from runwire.testing.clock import ManualClock

QUEUED = RunQueued(kind="shell", model=None, provider=None, workspace_path=None, workspace_mode=None)

# No sealing by itself: a test says when.
_UNHURRIED = JournalSettings(settle_s=3_600)


@dataclass(frozen=True, slots=True)
class House:
    """One process on one data directory."""

    data: Path
    clock: Clock
    secrets: SecretSet
    journal: Journal
    artifacts: Artifacts
    tokens: Tokens
    replies: Replies
    retention: Retention

    async def run(self, run_id: str = "run_1", *, task_id: str | None = None) -> str:
        """Begin a run and return its id."""
        await self.journal.create_run(RunBirth(run_id, task_id=task_id), [QUEUED])
        return run_id

    async def keep(self, body: bytes, *, run_id: str = "run_1", kind: Kind = "command_output") -> Artifact:
        """Keep a body as an artifact of plain text."""
        return await self.artifacts.create(run_id, NewArtifact(kind, ArtifactMeta(mime="text/plain")), body)

    async def read(self, artifact: Artifact) -> bytes:
        """The whole body of an artifact."""
        async with await self.artifacts.open(artifact.artifact_id) as body:
            return await body.read()


@asynccontextmanager
async def open_house(
    data: Path, *, clock: Clock | None = None, config: Config | None = None, settings: JournalSettings = _UNHURRIED
) -> AsyncGenerator[House]:
    """Open everything on a data directory, which is made if need be."""
    data.mkdir(exist_ok=True)
    clock = clock or ManualClock()
    config = config or Config(data=data)
    known = SecretSet()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    database = database_of(data)
    async with open_journal(database, redactor=Redactor(known), clock=clock, ids=ids, settings=settings) as journal:
        yield House(
            data=data,
            clock=clock,
            secrets=known,
            journal=journal,
            artifacts=Artifacts(journal=journal, folder=bodies_of(data), config=config, clock=clock, ids=ids),
            tokens=Tokens(journal=journal, secrets=known, config=config, clock=clock, ids=ids),
            replies=Replies(journal=journal, clock=clock),
            retention=Retention(journal=journal, clock=clock, ids=ids),
        )
