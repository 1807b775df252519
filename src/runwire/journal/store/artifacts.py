"""Artifact rows."""

import apsw
import msgspec

from runwire.errors import ArtifactNotFound, QuotaExceeded, StoreCorrupt
from runwire.journal.artifact import Artifact, ArtifactFilter, ArtifactPage, decode_meta, encode_meta
from runwire.journal.store.prefix import prefix_range

_COLUMNS = "artifact_id, task_id, run_id, kind, status, pinned, created_ns, size, digest, meta"
_Row = tuple[str, str | None, str | None, str, str | None, int, int, int, bytes, bytes]
_OF_NO_RUN = (
    "pinned = 0 AND run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = artifacts.run_id)"
)


def insert_artifact(db: apsw.Connection, artifact: Artifact) -> None:
    """A new row; its body must have one already."""
    db.execute(
        f"INSERT INTO artifacts ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            artifact.artifact_id,
            artifact.task_id,
            artifact.run_id,
            artifact.kind,
            artifact.status,
            int(artifact.pinned),
            artifact.created_ns,
            artifact.size,
            artifact.digest,
            encode_meta(artifact.meta),
        ),
    )


def require_room(db: apsw.Connection, artifact: Artifact, quota: int) -> None:
    """Refuse an artifact that would take its task, or a run that has no task, past the quota."""
    column, owner = ("task_id", artifact.task_id) if artifact.task_id is not None else ("run_id", artifact.run_id)
    taken = db.execute(f"SELECT ifnull(sum(size), 0) FROM artifacts WHERE {column} = ?", (owner,)).get
    if taken + artifact.size > quota:
        raise QuotaExceeded(str(owner), quota_bytes=quota)


def find_artifact(db: apsw.Connection, artifact_id: str) -> Artifact:
    """One artifact, or ArtifactNotFound."""
    row = db.execute(f"SELECT {_COLUMNS} FROM artifacts WHERE artifact_id = ?", (artifact_id,)).fetchone()
    if row is None:
        raise ArtifactNotFound(artifact_id)
    return _artifact(row)


def find_with_body(db: apsw.Connection, artifact_id: str) -> tuple[Artifact, bytes | None]:
    """One artifact and its body, if a row holds that."""
    artifact = find_artifact(db, artifact_id)
    row = db.execute("SELECT inline FROM bodies WHERE digest = ?", (artifact.digest,)).fetchone()
    if row is None:
        raise StoreCorrupt(f"the body of {artifact_id} has no row")
    return artifact, row[0]


def list_artifacts(db: apsw.Connection, which: ArtifactFilter, before: int | None, limit: int) -> ArtifactPage:
    """The newest artifacts that fit the filter, before a cursor."""
    first, beyond = (None, None) if which.id_prefix is None else prefix_range(which.id_prefix)
    asked: list[tuple[str, str | int | None]] = [
        ("kind = ?", which.kind),
        ("run_id = ?", which.run_id),
        ("task_id = ?", which.task_id),
        ("status = ?", which.status),
        ("pinned = ?", None if which.pinned is None else int(which.pinned)),
        ("artifact_key < ?", before),
        ("artifact_id >= ?", first),
        ("artifact_id < ?", beyond),
    ]
    terms = [(term, value) for term, value in asked if value is not None]
    where = " AND ".join(term for term, _ in terms) or "1"
    query = f"SELECT artifact_key, {_COLUMNS} FROM artifacts WHERE {where} ORDER BY artifact_key DESC LIMIT ?"
    # One more than asked for tells whether there is a next page.
    rows = list(db.execute(query, (*(value for _, value in terms), limit + 1)))
    return ArtifactPage([_artifact(row[1:]) for row in rows[:limit]], rows[limit - 1][0] if len(rows) > limit else None)


def save_artifact(db: apsw.Connection, artifact: Artifact) -> None:
    """Write what can change of an artifact: its status, its pin and its metadata."""
    db.execute(
        "UPDATE artifacts SET status = ?, pinned = ?, meta = ? WHERE artifact_id = ?",
        (artifact.status, int(artifact.pinned), encode_meta(artifact.meta), artifact.artifact_id),
    )


def orphans(db: apsw.Connection) -> list[int]:
    """The keys of those artifacts that nobody has pinned and whose run is gone."""
    return [key for (key,) in db.execute(f"SELECT artifact_key FROM artifacts WHERE {_OF_NO_RUN}")]


def delete_orphans(db: apsw.Connection, keys: list[int]) -> int:
    """Delete those of the given artifacts that are still orphans; say how many."""
    return sum(
        len(db.execute(f"DELETE FROM artifacts WHERE artifact_key = ? AND {_OF_NO_RUN} RETURNING 1", (key,)).fetchall())
        for key in keys
    )


def _artifact(row: _Row) -> Artifact:
    artifact_id, task_id, run_id, kind, status, pinned, created_ns, size, digest, meta = row
    try:
        known = decode_meta(meta)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"the metadata of {artifact_id} cannot be read: {error}") from error
    return Artifact(artifact_id, task_id, run_id, kind, status, bool(pinned), created_ns, size, digest, known)
