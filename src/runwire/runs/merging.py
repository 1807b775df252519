"""What the patches of a run add up to: one diff, or the same changes made once more in another place."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import UnsetType

from runwire.errors import ArtifactNotFound
from runwire.host import Past
from runwire.journal.artifact import Artifact, ArtifactFilter
from runwire.journal.artifacts import Artifacts
from runwire.protocol.events.edit import EditApplied, EditReverted, MultiEditApplied, MultiEditReverted
from runwire.workspace.changes import ABSENT, FileState, revision_of
from runwire.workspace.diff import diff, plain_modes
from runwire.workspace.errors import PatchUnavailable, WorkspaceDrifted
from runwire.workspace.patch import FilePatch, PatchMalformed, PatchMismatch, apply_file, blob_id, parse
from runwire.workspace.root import Root

_PAGE = 500


def steps_of(past: Sequence[Past]) -> list[str]:
    """The patches that took effect, in that order: those that were applied, and the inverses of those taken back."""
    steps: list[str] = []
    for event in past:
        match event.payload:
            case EditApplied(patch_artifact_id=one):
                steps.append(one)
            case MultiEditApplied(patch_artifact_ids=several):
                steps += several
            case EditReverted(inverse_artifact_id=inverse) if not isinstance(inverse, UnsetType):
                steps.append(inverse)
            case MultiEditReverted(inverse_artifact_ids=inverses) if not isinstance(inverses, UnsetType):
                steps += inverses
    return steps


async def read_patch(artifacts: Artifacts, artifact_id: str) -> tuple[Artifact, bytes]:
    """A patch as it was made; PatchUnavailable when it is gone, or a secret was taken out of it."""
    try:
        artifact = await artifacts.get(artifact_id)
        if artifact.meta.redactions or artifact.meta.truncated:
            raise PatchUnavailable(artifact_id)
        async with await artifacts.open(artifact_id) as body:
            return artifact, await body.read()
    except ArtifactNotFound:
        raise PatchUnavailable(artifact_id) from None


async def snapshot_of(artifacts: Artifacts, run_id: str, path: str, revision: str) -> bytes | None:
    """The bytes of a file at a revision, where the run has kept them whole."""
    cursor: int | None = None
    while True:
        page = await artifacts.list(ArtifactFilter(kind="file_snapshot", run_id=run_id), cursor=cursor, limit=_PAGE)
        for artifact in page.artifacts:
            meta = artifact.meta
            whole = not meta.redactions and not meta.truncated
            if meta.path == path and meta.revision == revision and whole:
                async with await artifacts.open(artifact.artifact_id) as body:
                    return await body.read()
        cursor = page.next_cursor
        if cursor is None:
            return None


@dataclass(slots=True)
class Merging:
    """Follows the files of a run from patch to patch."""

    artifacts: Artifacts
    base: dict[str, FileState | None] = field(default_factory=dict)
    now: dict[str, FileState | None] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)

    async def take(self, artifact_id: str) -> None:
        """Let one patch happen."""
        artifact, body = await read_patch(self.artifacts, artifact_id)
        try:
            for patch in parse(body):
                await self._step(artifact, patch)
        except (PatchMalformed, PatchMismatch) as error:
            raise PatchUnavailable(artifact_id) from error

    async def _step(self, artifact: Artifact, patch: FilePatch) -> None:
        before = None
        if patch.old_path is not None:
            before = await self._before(artifact, patch, patch.old_path)
        after = apply_file(patch, before)
        for path in (patch.old_path, patch.new_path):
            if path is not None:
                self.base.setdefault(path, before if path == patch.old_path else None)
        if patch.old_path is not None:
            self.now[patch.old_path] = None
        if patch.new_path is not None:
            self.now[patch.new_path] = after
            if patch.old_path not in {None, patch.new_path}:
                self.renamed[patch.new_path] = patch.old_path or ""

    async def _before(self, artifact: Artifact, patch: FilePatch, path: str) -> FileState:
        known = self.now.get(path)
        if known is not None and (patch.old_blob == patch.new_blob or blob_id(known.body) == patch.old_blob):
            return known
        if patch.binary is not None:
            return FileState(patch.binary[0], patch.old_mode)
        # The first touch, or something else changed the file between two patches; either way its bytes were kept.
        revision = artifact.meta.base_revision or ABSENT
        kept = await snapshot_of(self.artifacts, artifact.run_id or "", path, revision)
        if kept is None:
            raise PatchUnavailable(artifact.artifact_id)
        return FileState(kept, patch.old_mode)

    def diff(self) -> bytes:
        """All of it as one patch, paths in order, in modes that git knows."""
        moved = {
            new: old
            for new, old in self.renamed.items()
            if self.base.get(new) is None and self.now.get(new) is not None and self.now.get(old) is None
        }
        gone = {old for old in moved.values() if self.base.get(old) is not None}
        parts = []
        for path in sorted(self.now):
            old = moved.get(path)
            before = plain_modes(self.base.get(old if old in gone and old is not None else path))
            after = plain_modes(self.now[path])
            if path in gone or (before == after and old not in gone):
                continue
            parts.append(diff(before, after, path, renamed_from=old if old in gone else None).body)
        return b"".join(parts)


async def replay(artifacts: Artifacts, steps: Sequence[str], place: Path) -> None:
    """Make the changes of patches once more, in a workspace that is as it was before them."""
    with Root.open(place) as root:
        for artifact_id in steps:
            _, body = await read_patch(artifacts, artifact_id)
            for patch in parse(body):
                _replay_file(root, patch)


def _replay_file(root: Root, patch: FilePatch) -> None:
    before = None if patch.old_path is None else root.read(patch.old_path)
    if patch.new_path is not None and patch.old_path in {None, patch.new_path}:
        there = root.read(patch.new_path)
        if there is not None and blob_id(there.body) == patch.new_blob:
            # Committed meanwhile, so the place was made with it.
            return
    try:
        after = apply_file(patch, before)
    except PatchMismatch:
        actual = revision_of(before)
        raise WorkspaceDrifted(patch.path, expected=f"git:{patch.old_blob}", actual=actual) from None
    if patch.old_path is not None and patch.old_path != patch.new_path:
        root.remove(patch.old_path)
    if patch.new_path is not None and after is not None:
        root.replace(patch.new_path, after.body, after.mode)
