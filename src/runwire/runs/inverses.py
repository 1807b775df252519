"""Patches that take others back."""

from runwire.clock import rfc3339
from runwire.journal.artifact import Artifact, ArtifactMeta, Draft, NewArtifact, PatchStats
from runwire.runs.hosting import Ground
from runwire.runs.merging import Merging, applied_patches, read_patch
from runwire.workspace.changes import ABSENT, FileState, revision_of
from runwire.workspace.errors import PatchUnavailable
from runwire.workspace.patch import invert, parse


class Inverses:
    """Makes the artifacts of reverts."""

    def __init__(self, *, ground: Ground) -> None:
        """Keep them beside the patches that they take back."""
        self._artifacts, self._clock = ground.artifacts, ground.clock

    async def draft(self, artifact: Artifact, base: str) -> Draft:
        """The patch that takes another back from the bytes `base`, as one that stands as applied."""
        _, body = await read_patch(self._artifacts, artifact.artifact_id)
        inverse = invert(body)
        stats = artifact.meta.stats
        if stats is not None:
            stats = PatchStats(additions=stats.deletions, deletions=stats.additions, hunks=stats.hunks)
        meta = ArtifactMeta(
            mime="text/x-diff",
            summary=f"takes {artifact.artifact_id} back",
            produced_by_tool_call_id=artifact.meta.produced_by_tool_call_id,
            target_path=parse(inverse)[-1].path,
            base_revision=base,
            stats=stats,
            applied_at=rfc3339(self._clock.now_ns()),
            inverse_of=artifact.artifact_id,
        )
        new = NewArtifact("patch", meta, status="applied")
        return await self._artifacts.prepare(artifact.run_id or "", new, inverse)

    async def base_of(self, artifact: Artifact) -> str:
        """Which bytes an applied patch has left behind, where the run's patches and snapshots tell; else git's name for them."""
        path, merging = artifact.meta.target_path or "", Merging(self._artifacts)
        try:
            for one in await applied_patches(self._artifacts, artifact.run_id or ""):
                if one.meta.target_path == path:
                    await merging.take(one.artifact_id)
                if one.artifact_id == artifact.artifact_id and path in merging.now:
                    return revision_of(merging.now[path])
        except PatchUnavailable:
            # A patch before this one lost a secret.
            pass
        _, body = await read_patch(self._artifacts, artifact.artifact_id)
        patch = parse(body)[-1]
        if patch.new_path is None:
            return ABSENT
        if patch.old_blob == patch.new_blob:
            return artifact.meta.base_revision or ABSENT
        return f"git:{patch.new_blob}" if patch.binary is None else FileState(patch.binary[1]).revision
