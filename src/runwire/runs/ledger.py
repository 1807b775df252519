"""The store's memory of files that are being written, and where patches must stand for it."""

import apsw

from runwire.errors import Conflict
from runwire.journal.artifact import Artifact, Change
from runwire.journal.artifacts import Artifacts
from runwire.journal.journal import Journal
from runwire.journal.records import Effect
from runwire.journal.store.artifacts import find_artifact
from runwire.runs.rows.writes import delete_writes, insert_writes, is_being_written
from runwire.workspace.applying import Intent, Verb


class WriteLedger:
    """Remembers in the store what is being written. It implements `runwire.workspace.applying.Ledger`."""

    def __init__(self, *, journal: Journal, artifacts: Artifacts) -> None:
        """Keep rows beside the log."""
        self._journal = journal
        self._artifacts = artifacts

    def opening(self, intent: Intent) -> Effect:
        """Remember a batch, unless one of its patches is being written or stands otherwise than it must."""

        def effect(db: apsw.Connection) -> None:
            for patch in intent.patches:
                artifact = find_artifact(db, patch.artifact_id)
                if is_being_written(db, patch.artifact_id):
                    raise being_written(patch.artifact_id)
                require_standing(artifact, intent.verb)
            insert_writes(db, intent)

        return effect

    def closing(self, intent: Intent) -> Effect:
        """Forget a batch."""
        return lambda db: delete_writes(db, intent.batch_id)

    async def forget(self, intent: Intent) -> None:
        """Forget a batch that was taken back."""
        await self._journal.write(self.closing(intent))

    def applied(self, artifact_id: str) -> Change:
        """The change of a proposed patch that was applied."""
        return self._artifacts.applied(artifact_id)


def being_written(artifact_id: str) -> Conflict:
    """Somebody is at it, or was when the machine stopped."""
    return Conflict(
        f"{artifact_id} is being written",
        hint="read it again in a moment and decide anew",
        details={"artifact_id": artifact_id},
    )


def require_standing(artifact: Artifact, verb: Verb) -> None:
    """Refuse a patch that was decided about already, or not yet."""
    if verb == "apply":
        fits = artifact.status == "proposed"
    else:
        fits = artifact.status == "applied" and artifact.meta.reverted_at is None
    if not fits:
        now = f"{artifact.status}{' and reverted' if artifact.meta.reverted_at else ''}"
        wanted = "proposed" if verb == "apply" else "applied and not reverted"
        raise Conflict(
            f"{artifact.artifact_id} is {now}, and this needs it to be {wanted}",
            details={"artifact_id": artifact.artifact_id, "status": artifact.status},
        )
