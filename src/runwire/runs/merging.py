"""What the patches of a run add up to: one diff, or the same changes made once more in another place."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
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
from runwire.workspace.patch import (
    FilePatch,
    PatchMalformed,
    PatchMismatch,
    apply_file,
    blob_id,
    git_mode,
    parse,
    render,
)
from runwire.workspace.root import Root

_PAGE = 500


def steps_of(past: Iterable[Past]) -> list[str]:
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
            case _:
                pass
    return steps


async def applied_patches(artifacts: Artifacts, run_id: str) -> list[Artifact]:
    """The same as the artifacts themselves tell it, whatever has been pruned from the log.

    Each moment was noted while its workspace was held, so their order is the order of the changes.
    """
    found = await _all(artifacts, ArtifactFilter(kind="patch", run_id=run_id, status="applied"))
    return sorted(found, key=lambda one: (one.meta.applied_at or "", one.created_ns, one.artifact_id))


async def read_patch(artifacts: Artifacts, artifact_id: str) -> tuple[Artifact, bytes]:
    """A patch as it was made; PatchUnavailable when it is gone, or a secret was taken out of it."""
    try:
        artifact = await artifacts.get(artifact_id)
        if not is_whole(artifact):
            raise PatchUnavailable(artifact_id)
        async with await artifacts.open(artifact_id) as body:
            return artifact, await body.read()
    except ArtifactNotFound:
        raise PatchUnavailable(artifact_id) from None


def is_whole(artifact: Artifact) -> bool:
    """Whether the stored body is the one that was made."""
    return not artifact.meta.redactions and not artifact.meta.truncated


async def _all(artifacts: Artifacts, which: ArtifactFilter) -> list[Artifact]:
    found: list[Artifact] = []
    cursor: int | None = None
    while True:
        page = await artifacts.list(which, cursor=cursor, limit=_PAGE)
        found += page.artifacts
        cursor = page.next_cursor
        if cursor is None:
            return found


class _NotKept(Exception):
    """Nobody has kept the bytes that a patch was made for."""


@dataclass(slots=True)
class Merging:
    """Follows the files of a run from patch to patch."""

    artifacts: Artifacts
    base: dict[str, FileState | None] = field(default_factory=dict)
    now: dict[str, FileState | None] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=dict)
    """Every state that a path was in, as far as patches tell."""
    alone: dict[str, tuple[str, FilePatch]] = field(default_factory=dict)
    """Files whose bytes nobody has kept, so that their one patch is all there is to say."""
    _renamed: dict[str, str] = field(default_factory=dict)
    _snapshots: dict[str, dict[tuple[str, str], str]] = field(default_factory=dict)

    async def take(self, artifact_id: str) -> None:
        """Let one patch happen."""
        artifact, body = await read_patch(self.artifacts, artifact_id)
        try:
            for patch in parse(body):
                await self._step(artifact, patch)
        except (PatchMalformed, PatchMismatch) as error:
            raise PatchUnavailable(artifact_id) from error

    async def _step(self, artifact: Artifact, patch: FilePatch) -> None:
        paths = [path for path in dict.fromkeys((patch.old_path, patch.new_path)) if path is not None]
        for path in paths:
            if path in self.alone:
                self._follow_alone(path, patch)
                return
        try:
            before = None if patch.old_path is None else await self._before(artifact, patch, patch.old_path)
        except _NotKept:
            if len(paths) > 1 or paths[0] in self.now:
                raise PatchUnavailable(artifact.artifact_id) from None
            self.alone[paths[0]] = (artifact.artifact_id, patch)
            return
        after = apply_file(patch, before)
        for path in paths:
            state = before if path == patch.old_path else None
            self.base.setdefault(path, state)
            self.now[path] = after if path == patch.new_path else None
            self.seen.setdefault(path, set()).update((revision_of(state), revision_of(self.now[path])))
        if patch.old_path is not None and patch.new_path not in {None, patch.old_path}:
            self._renamed[patch.new_path or ""] = patch.old_path

    def _follow_alone(self, path: str, patch: FilePatch) -> None:
        artifact_id, first = self.alone.pop(path)
        undone = first.inverted()
        if (patch.old_path, patch.new_path) != (undone.old_path, undone.new_path):
            raise PatchUnavailable(artifact_id)
        if (patch.old_blob, patch.new_blob, patch.new_mode) != (undone.old_blob, undone.new_blob, undone.new_mode):
            raise PatchUnavailable(artifact_id)

    async def _before(self, artifact: Artifact, patch: FilePatch, path: str) -> FileState:
        known = self.now.get(path)
        if known is None or (patch.old_blob != patch.new_blob and blob_id(known.body) != patch.old_blob):
            # The first touch, or something else changed the file between two patches; either way its bytes were kept.
            known = FileState(await self._kept(artifact, patch, path), patch.old_mode)
        # Only where a patch changes the mode does it say exactly what that was.
        return known if patch.old_mode == patch.new_mode else FileState(known.body, patch.old_mode)

    async def _kept(self, artifact: Artifact, patch: FilePatch, path: str) -> bytes:
        if patch.binary is not None:
            return patch.binary[0]
        run_id = artifact.run_id or ""
        if run_id not in self._snapshots:
            found = await _all(self.artifacts, ArtifactFilter(kind="file_snapshot", run_id=run_id))
            self._snapshots[run_id] = {
                (one.meta.path or "", one.meta.revision or ""): one.artifact_id for one in found if is_whole(one)
            }
        artifact_id = self._snapshots[run_id].get((path, artifact.meta.base_revision or ABSENT))
        if artifact_id is None:
            raise _NotKept
        async with await self.artifacts.open(artifact_id) as body:
            return await body.read()

    def diff(self) -> bytes:
        """All of it as one patch, paths in order, in modes that git knows."""
        moved = self._moved()
        gone = set(moved.values())
        parts: list[bytes] = []
        for path in sorted({*self.now, *self.alone}):
            if path in self.alone:
                parts.append(_rendered(self.alone[path][1]))
            elif path not in gone:
                old = moved.get(path)
                before, after = plain_modes(self.base[old or path]), plain_modes(self.now[path])
                if before != after or old is not None:
                    parts.append(diff(before, after, path, renamed_from=old).body)
        return b"".join(parts)

    def _moved(self) -> dict[str, str]:
        """New names, and the old ones that they are still told by; one old name has one new one."""
        moved: dict[str, str] = {}
        for new, old in self._renamed.items():
            came = self.base.get(new) is None and self.now.get(new) is not None
            went = self.base.get(old) is not None and self.now.get(old) is None
            if came and went and old not in moved.values():
                moved[new] = old
        return moved


def _rendered(patch: FilePatch) -> bytes:
    """A patch in modes that git knows; nothing when it changes nothing that git would see."""
    old_mode, new_mode = git_mode(patch.old_mode), git_mode(patch.new_mode)
    if patch.old_path == patch.new_path and old_mode == new_mode and patch.old_blob == patch.new_blob:
        return b""
    return render(replace(patch, old_mode=old_mode, new_mode=new_mode))


async def replay(artifacts: Artifacts, steps: Sequence[str], place: Path) -> None:
    """Bring a workspace to where these patches have led, all of it or nothing.

    A file there must be in one of the states that it had on the way; one that only the old workspace had is made.
    """
    merging = Merging(artifacts)
    for artifact_id in steps:
        await merging.take(artifact_id)
    await asyncio.to_thread(_replay, merging, place)


def _replay(merging: Merging, place: Path) -> None:
    with Root.open(place) as root:
        ends = [(path, *_end_of(merging, root, path)) for path in sorted({*merging.now, *merging.alone})]
        for path, there, end in ends:
            if end is None and there is not None:
                root.remove(path)
            elif end is not None and end != there:
                root.replace(path, end.body, end.mode)


def _end_of(merging: Merging, root: Root, path: str) -> tuple[FileState | None, FileState | None]:
    """What stands at a path of another place, and what is to stand there."""
    there = root.read(path)
    if path in merging.alone:
        return there, _alone(merging.alone[path][1], there)
    base, end = merging.base[path], merging.now[path]
    if there is not None and revision_of(there) not in merging.seen[path]:
        raise WorkspaceDrifted(path, expected=revision_of(base), actual=revision_of(there))
    if there is not None and end is not None and base is not None and base.mode == end.mode:
        # No patch has a say in the mode, so the place's own stays.
        end = FileState(end.body, there.mode)
    return there, end


def _alone(patch: FilePatch, there: FileState | None) -> FileState | None:
    if there is not None and patch.new_path is not None and blob_id(there.body) == patch.new_blob:
        return there
    try:
        return apply_file(patch, there)
    except PatchMismatch:
        actual = ABSENT if there is None else f"git:{blob_id(there.body)}"
        raise WorkspaceDrifted(patch.path, expected=f"git:{patch.old_blob}", actual=actual) from None
