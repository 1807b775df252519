"""Artifacts: objects that runs produce and use, kept beside the log and named by its events.

An artifact's row appears in the transaction of the event that names it; its body is durable before that, and never changes.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import apsw
import msgspec

from runwire.clock import Clock, rfc3339
from runwire.config import Config
from runwire.errors import Conflict, RunNotFound, StoreCorrupt
from runwire.ids import Ids
from runwire.journal.artifact import (
    Artifact,
    ArtifactFilter,
    ArtifactMeta,
    ArtifactPage,
    Change,
    Draft,
    NewArtifact,
    decode_meta,
    encode_meta,
    is_text,
    shortened,
)
from runwire.journal.bodies import Bodies, Body, Placed
from runwire.journal.collecting import collect
from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from runwire.journal.store.artifacts import (
    delete_orphans,
    find_artifact,
    find_with_body,
    insert_artifact,
    list_artifacts,
    orphans,
    require_room,
    save_artifact,
)
from runwire.journal.store.database import snapshot, writing
from runwire.protocol.events.artifact import ArtifactCreated, ArtifactUpdated

_SLICE = 256


@dataclass(frozen=True, slots=True)
class ArtifactsPruned:
    """What pruning has removed; `held` when a backup was under way, so that the bodies wait for the next time."""

    artifacts: int
    bodies: int
    size_bytes: int
    held: bool


class Artifacts:
    """Keeps artifacts and gives them back."""

    def __init__(self, *, journal: Journal, folder: Path, config: Config, clock: Clock, ids: Ids) -> None:
        """Keep rows in the journal's database and large bodies in `folder`."""
        self._journal = journal
        self._bodies = Bodies(folder=folder)
        self._limit = config.artifact_limit_bytes
        self._quota = config.artifact_quota_bytes
        self._clock = clock
        self._ids = ids

    async def prepare(self, run_id: str, new: NewArtifact, body: bytes, *, birth: RunBirth | None = None) -> Draft:
        """Redact, shorten and place a body, and say what to append so that the artifact exists.

        A run that is about to be born with the artifact is told by its `birth`.

        The quota is checked when the draft is appended, in that transaction. A draft that is never appended leaves a body
        behind that the next pruning collects.
        """
        born = birth or (await self._journal.reader.run(run_id)).birth
        placed, meta = await asyncio.to_thread(self._place, new.meta, body)
        artifact = Artifact(
            artifact_id=self._ids.new("art"),
            task_id=born.task_id,
            run_id=run_id,
            kind=new.kind,
            status=new.status or ("proposed" if new.kind == "patch" else None),
            pinned=False,
            created_ns=self._clock.now_ns(),
            size=len(placed.content),
            digest=placed.digest,
            meta=meta,
        )
        event = ArtifactCreated(
            artifact_id=artifact.artifact_id,
            kind=artifact.kind,
            size_bytes=artifact.size,
            summary=meta.summary,
            created_by_event_id=new.created_by_event_id,
        )

        def effect(db: apsw.Connection) -> None:
            require_room(db, artifact, self._quota)
            self._bodies.keep(db, placed)
            insert_artifact(db, artifact)

        return Draft(artifact, event, effect)

    async def create(self, run_id: str, new: NewArtifact, body: bytes, *, lease: int | None = None) -> Artifact:
        """Keep an artifact and tell of it, in one transaction."""
        draft = await self.prepare(run_id, new, body)
        await self._journal.append(run_id, draft.event, lease=lease, also=draft.effect)
        return draft.artifact

    async def get(self, artifact_id: str) -> Artifact:
        """One artifact."""
        return await self._journal.reader.query(lambda db: find_artifact(db, artifact_id))

    async def list(self, which: ArtifactFilter, *, cursor: int | None = None, limit: int = 100) -> ArtifactPage:
        """The newest artifacts that fit, from where an earlier page has ended."""
        return await self._journal.reader.query(lambda db: list_artifacts(db, which, cursor, limit))

    async def open(self, artifact_id: str) -> Body:
        """An artifact's body, checked from end to end; close it after use. A damaged one is a StoreCorrupt."""
        artifact, inline = await self._journal.reader.query(lambda db: find_with_body(db, artifact_id))
        try:
            return await asyncio.to_thread(self._bodies.open, artifact.digest, artifact.size, inline)
        except FileNotFoundError as error:
            # Pruned between the two looks, and then this says so; otherwise the file should be there.
            await self.get(artifact_id)
            raise StoreCorrupt(f"the body of {artifact_id} is gone") from error

    async def pin(self, artifact_id: str, pinned: bool) -> Artifact:
        """Keep an artifact even when its run is pruned, or no longer."""
        changed: list[Artifact] = []

        def effect(db: apsw.Connection) -> None:
            changed.append(replace(find_artifact(db, artifact_id), pinned=pinned))
            save_artifact(db, changed[0])

        await self._journal.write(effect)
        return changed[0]

    def applied(self, artifact_id: str) -> Change:
        """A proposed patch was applied."""
        return self._settled(artifact_id, "applied")

    def rejected(self, artifact_id: str) -> Change:
        """A proposed patch was rejected."""
        return self._settled(artifact_id, "rejected")

    def reverted(self, artifact_id: str) -> Change:
        """An applied patch was taken back. It stays applied and says when that ended; the inverse is a patch of its own."""
        at = rfc3339(self._clock.now_ns())

        def revert(artifact: Artifact) -> Artifact:
            if artifact.status != "applied" or artifact.meta.reverted_at is not None:
                raise _not_so(artifact, "applied and not reverted")
            return replace(artifact, meta=_with(artifact.meta, reverted_at=at))

        event = ArtifactUpdated(artifact_id=artifact_id, field="reverted_at", old_value=None, new_value=at)
        return Change(artifact_id, event, _changing(artifact_id, revert))

    async def update(self, change: Change, *, lease: int | None = None) -> Artifact:
        """Carry a change out and tell of it in the artifact's run, in one transaction."""
        artifact = await self.get(change.artifact_id)
        try:
            await self._journal.append(artifact.run_id or "", change.event, lease=lease, also=change.effect)
        except RunNotFound:
            # A pinned artifact outlives its run, and then there is no log to tell of it in.
            await self._journal.write(change.effect)
        return await self.get(change.artifact_id)

    async def prune(self) -> ArtifactsPruned:
        """Remove the unpinned artifacts of runs that are gone, then every body that no artifact names."""
        gone = await self._journal.keeper.exclusively(_prune_rows)
        now_ns = self._clock.now_ns()
        found = await self._journal.keeper.exclusively(lambda db: collect(db, self._bodies, now_ns=now_ns))
        return ArtifactsPruned(gone, found.bodies, found.size_bytes, found.held)

    def _settled(self, artifact_id: str, status: Literal["applied", "rejected"]) -> Change:
        at = rfc3339(self._clock.now_ns())

        def settle(artifact: Artifact) -> Artifact:
            if artifact.status != "proposed":
                raise _not_so(artifact, "proposed")
            return replace(artifact, status=status, meta=_with(artifact.meta, **{f"{status}_at": at}))

        event = ArtifactUpdated(artifact_id=artifact_id, field="status", old_value="proposed", new_value=status)
        return Change(artifact_id, event, _changing(artifact_id, settle))

    def _place(self, meta: ArtifactMeta, body: bytes) -> tuple[Placed, ArtifactMeta]:
        text = is_text(meta.mime)
        # Redacted before it is cut: half a secret would not be recognised.
        clean, redactions = self._journal.redactor.redact_body(body, is_text=text)
        kept = shortened(clean, self._limit, text=text)
        meta = _with(meta, redactions=redactions)
        if kept is not clean:
            meta = _with(meta, truncated=True, original_size=len(body))
        meta = decode_meta(self._journal.redactor.redact(encode_meta(meta)))
        return self._bodies.place(kept), meta


def _with(meta: ArtifactMeta, **fields: str | int | bool) -> ArtifactMeta:
    return msgspec.structs.replace(meta, **fields)


def _changing(artifact_id: str, change: Callable[[Artifact], Artifact]) -> Callable[[apsw.Connection], None]:
    """An effect that looks at the artifact and writes it back changed, unless `change` refuses."""
    return lambda db: save_artifact(db, change(find_artifact(db, artifact_id)))


def _not_so(artifact: Artifact, wanted: str) -> Conflict:
    now = f"is a {artifact.kind}" if artifact.status is None else f"is {artifact.status}"
    if artifact.meta.reverted_at is not None:
        now += " and reverted"
    return Conflict(
        f"{artifact.artifact_id} {now}, and this needs it to be {wanted}",
        hint="read the artifact again and decide anew",
        details={"artifact_id": artifact.artifact_id, "status": artifact.status},
    )


def _prune_rows(db: apsw.Connection) -> int:
    with snapshot(db):
        keys = orphans(db)
    gone = 0
    for start in range(0, len(keys), _SLICE):
        with writing(db):
            # A pin that came since we looked still counts.
            gone += delete_orphans(db, keys[start : start + _SLICE])
    return gone
