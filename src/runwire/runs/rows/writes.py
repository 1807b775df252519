"""Rows of files that are being written for patches. SQL, nothing else."""

from collections.abc import Sequence

import apsw
import msgspec

from runwire.workspace.applying import Intent, PlannedPatch, Verb, WritePlan

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(WritePlan)


def insert_writes(db: apsw.Connection, intent: Intent) -> None:
    """Remember a batch, a row for each of its patches."""
    db.executemany(
        "INSERT INTO writes (batch_id, run_id, artifact_id, workspace, verb, plan) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                intent.batch_id,
                intent.run_id,
                patch.artifact_id,
                intent.workspace,
                intent.verb,
                _ENCODER.encode(patch.plan),
            )
            for patch in intent.patches
        ],
    )


def is_being_written(db: apsw.Connection, artifact_id: str) -> bool:
    """Whether a patch is in a batch that is not over."""
    return db.execute("SELECT 1 FROM writes WHERE artifact_id = ?", (artifact_id,)).fetchone() is not None


def delete_writes(db: apsw.Connection, batch_id: str) -> None:
    """Forget a batch."""
    db.execute("DELETE FROM writes WHERE batch_id = ?", (batch_id,))


def is_open(db: apsw.Connection, batch_id: str) -> bool:
    """Whether a batch is not over."""
    return db.execute("SELECT 1 FROM writes WHERE batch_id = ? LIMIT 1", (batch_id,)).fetchone() is not None


def open_batches(db: apsw.Connection) -> Sequence[Intent]:
    """Every batch that is not over, the oldest first."""
    rows = db.execute("SELECT batch_id, run_id, workspace, verb, artifact_id, plan FROM writes ORDER BY write_key")
    found: dict[str, tuple[str, str, Verb, list[PlannedPatch]]] = {}
    for batch_id, owner, workspace, verb, artifact_id, plan in rows:
        _, _, _, patches = found.setdefault(batch_id, (owner, workspace, verb, []))
        patches.append(PlannedPatch(artifact_id, _DECODER.decode(plan)))
    return [
        Intent(batch_id=batch_id, run_id=owner, workspace=workspace, verb=verb, patches=tuple(patches))
        for batch_id, (owner, workspace, verb, patches) in found.items()
    ]
