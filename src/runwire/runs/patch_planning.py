"""What patches come to in a workspace: followed in memory first, so that a batch that does not fit writes nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from runwire.journal.artifact import Artifact
from runwire.workspace.changes import FileChange, FileState, revision_of
from runwire.workspace.patch import FilePatch, PatchMismatch, apply_file
from runwire.workspace.root import Root


@dataclass(frozen=True, slots=True)
class Wanted:
    """A patch that is to happen: as it was made, or turned round."""

    artifact: Artifact
    patches: Sequence[FilePatch]


class Unfit(Exception):
    """A file is not the one that a patch was made for."""

    def __init__(self, wanted: Wanted, patch: FilePatch, path: str, actual: FileState | None) -> None:
        super().__init__(f"{wanted.artifact.artifact_id} does not fit {path}")
        self.wanted = wanted
        self.patch = patch
        self.path = path
        self.actual = actual


@dataclass(slots=True)
class Planned:
    """Files as they are, and as they will be."""

    root: Root
    before: dict[str, FileState | None] = field(default_factory=dict)
    now: dict[str, FileState | None] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    """For each patch by its id: which bytes it was given."""

    @property
    def changes(self) -> list[FileChange]:
        """What is to be written, each path once."""
        return [FileChange(path, self.before[path], now) for path, now in self.now.items() if self.before[path] != now]

    def take(self, wanted: Wanted) -> None:
        """Let a patch happen in memory."""
        for patch in wanted.patches:
            self._step(wanted, patch)

    def _step(self, wanted: Wanted, patch: FilePatch) -> None:
        old = None if patch.old_path is None else self._state(patch.old_path)
        if patch.new_path is not None and patch.new_path != patch.old_path:
            there = self._state(patch.new_path)
            if there is not None:
                raise Unfit(wanted, patch, patch.new_path, there)
        try:
            after = apply_file(patch, old)
        except PatchMismatch:
            raise Unfit(wanted, patch, patch.old_path or patch.path, old) from None
        self.bases[wanted.artifact.artifact_id] = revision_of(old)
        if patch.old_path is not None:
            self.now[patch.old_path] = None
        if patch.new_path is not None:
            self.now[patch.new_path] = after

    def _state(self, path: str) -> FileState | None:
        if path not in self.now:
            self.before[path] = self.now[path] = self.root.read(path)
        return self.now[path]


def plan(root: Root, wanted: Iterable[Wanted]) -> Planned:
    """Follow patches one after the other from what the workspace holds; Unfit at the first that does not fit."""
    planned = Planned(root)
    for one in wanted:
        planned.take(one)
    return planned
