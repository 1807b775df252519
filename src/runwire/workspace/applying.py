"""Writing several files all or not at all, also when the machine stops in between.

What is about to be written is remembered first (`Ledger`), then the new bytes lie beside their targets and the old ones in a
folder of their own, and only then names move. Whoever comes after a crash can go on or go back from that.
"""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from runwire.errors import RunwireError
from runwire.journal.artifact import Change
from runwire.journal.records import Effect
from runwire.workspace.changes import ABSENT, FileChange, FileState, revision_of
from runwire.workspace.errors import PathRefused, WorkspaceDrifted
from runwire.workspace.probing import Probe, unwatched
from runwire.workspace.root import TEMP_PREFIX, Root

Verb = Literal["apply", "revert"]

_FOLDERS = "folders"
"""Where a batch's folder of undo copies says which folders were not there before."""
_FOLDERS_JSON = msgspec.json.Encoder()
_READ_FOLDERS = msgspec.json.Decoder(list[str])


class FileWrite(msgspec.Struct, frozen=True, kw_only=True):
    """One path that is about to change, as the store remembers it."""

    path: str
    before: str
    before_mode: int = 0
    after: str
    after_mode: int = 0
    temp: str
    """Where the new bytes lie until they take their place: a name in the same folder."""
    undo: str
    """Where the old bytes lie: a name in the batch's folder of undo copies."""


class WritePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one patch does to files, and what to tell when it is done."""

    writes: list[FileWrite]
    by: str | None = None
    """Who decided; None when the run itself applies what it proposed."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlannedPatch:
    """A patch of a batch."""

    artifact_id: str
    plan: WritePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A batch that is about to be written."""

    batch_id: str
    run_id: str
    workspace: str
    verb: Verb
    patches: tuple[PlannedPatch, ...]

    @property
    def writes(self) -> list[FileWrite]:
        """Every path, in order."""
        return [write for patch in self.patches for write in patch.plan.writes]


class Ledger(Protocol):
    """Remembers what is about to be written. Its effects belong into the transaction of the event that they go with."""

    def opening(self, intent: Intent) -> Effect:
        """Remember a batch; a Conflict when one of its patches is being written or stands otherwise than it must."""
        ...

    def closing(self, intent: Intent) -> Effect:
        """Forget a batch, because it is told of or taken back."""
        ...

    async def forget(self, intent: Intent) -> None:
        """Forget a batch that was taken back."""
        ...

    def applied(self, artifact_id: str) -> Change:
        """The change of a proposed patch that was applied."""
        ...


Store = Callable[[Effect], Awaitable[object]]
"""Makes an effect durable, together with whatever is told of it."""


def plan_writes(batch_id: str, changes: Iterable[FileChange], *, first: int = 0) -> list[FileWrite]:
    """Name the copies that a batch needs, numbered from `first`."""
    return [
        FileWrite(
            path=change.path,
            before=revision_of(change.before),
            before_mode=0 if change.before is None else change.before.mode,
            after=revision_of(change.after),
            after_mode=0 if change.after is None else change.after.mode,
            temp=f"{TEMP_PREFIX}{batch_id}-{number}",
            undo=str(number),
        )
        for number, change in enumerate(changes, first)
    ]


class Applier:
    """Writes batches into workspaces whose lock the caller holds."""

    def __init__(self, *, ledger: Ledger, undo: Path, probe: Probe = unwatched) -> None:
        """Remember batches in `ledger`, keep old bytes in `undo` while they are under way."""
        self.ledger = ledger
        self._undo = undo
        self._probe = probe

    async def write(
        self, root: Root, intent: Intent, changes: Sequence[FileChange], *, begin: Store, tell: Store
    ) -> None:
        """Carry a batch out: `begin` stores the intent, `tell` stores that it was done.

        A file that is not what the batch expects is a WorkspaceDrifted before anything is written. When telling fails, the
        files are as before. A cancellation waits until the batch is one or the other.
        """
        work = asyncio.create_task(self._write(root, intent, changes, begin, tell))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work})
            if not work.cancelled():
                work.exception()
            raise

    async def _write(
        self, root: Root, intent: Intent, changes: Sequence[FileChange], begin: Store, tell: Store
    ) -> None:
        await asyncio.to_thread(check_base, root, intent.writes)
        await begin(self.ledger.opening(intent))
        try:
            self._probe("write begun")
            await asyncio.to_thread(self._prepare, root, intent, changes)
            self._probe("write prepared")
            await asyncio.to_thread(carry_out, root, intent.writes, self._probe)
            await tell(self.ledger.closing(intent))
        except BaseException:
            await asyncio.to_thread(self.take_back, root, intent)
            await self.ledger.forget(intent)
            raise
        self._probe("write told")
        await asyncio.to_thread(self.clear, root, intent)

    def _prepare(self, root: Root, intent: Intent, changes: Sequence[FileChange]) -> None:
        folder = self._folder(intent)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for write, change in zip(intent.writes, changes, strict=True):
            if change.before is not None:
                _keep(folder / write.undo, change.before.body)
        _keep(folder / _FOLDERS, _FOLDERS_JSON.encode(_missing_folders(root, intent)))
        _sync_folder(folder)
        _sync_folder(self._undo)
        for write, change in zip(intent.writes, changes, strict=True):
            if change.after is not None:
                root.make_parents(write.path)
                root.write_temp(write.path, change.after.body, change.after.mode, name=write.temp)

    def may_go_on(self, root: Root, intent: Intent) -> bool:
        """Whether a batch that was cut short can be finished: nobody else has touched its files, and all is there."""
        return all(_stands(root, write) == "after" or _is_ready(root, write) for write in intent.writes)

    def take_back(self, root: Root, intent: Intent) -> None:
        """Give files that were written already their old bytes, unless somebody else has changed them since."""
        for write in reversed(intent.writes):
            if _stands(root, write) != "after":
                continue
            if write.before == ABSENT:
                root.remove(write.path)
                continue
            try:
                body = (self._folder(intent) / write.undo).read_bytes()
            except FileNotFoundError:
                continue
            if revision_of(FileState(body)) == write.before:
                root.replace(write.path, body, write.before_mode)
        self._clear_beside(root, intent)
        for folder in reversed(self._made_folders(intent)):
            root.remove_folder(folder)
        self.discard(intent)

    def clear(self, root: Root, intent: Intent) -> None:
        """Remove what the batch has left beside its files, and the old bytes."""
        self._clear_beside(root, intent)
        self.discard(intent)

    def discard(self, intent: Intent) -> None:
        """Remove the old bytes."""
        shutil.rmtree(self._folder(intent), ignore_errors=True)

    def kept(self) -> frozenset[str]:
        """The batches of which copies lie there."""
        try:
            return frozenset(os.listdir(self._undo))
        except FileNotFoundError:
            return frozenset()

    def drop(self, batch_ids: Iterable[str]) -> None:
        """Remove the copies of batches that are over."""
        for batch_id in batch_ids:
            shutil.rmtree(self._undo / batch_id, ignore_errors=True)

    def _clear_beside(self, root: Root, intent: Intent) -> None:
        for write in intent.writes:
            try:
                root.remove(beside(write))
            except PathRefused:
                # The folder itself is no longer what it was, so nothing of ours is in it.
                continue

    def _made_folders(self, intent: Intent) -> list[str]:
        try:
            return _READ_FOLDERS.decode((self._folder(intent) / _FOLDERS).read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            # Cut short before it was whole, and then no folder was made yet.
            return []

    def _folder(self, intent: Intent) -> Path:
        return self._undo / intent.batch_id


def check_base(root: Root, writes: Iterable[FileWrite]) -> None:
    """Refuse when a file is not what it was when the change to it was made."""
    for write in writes:
        state = root.read(write.path)
        actual = revision_of(state)
        if actual != write.before:
            raise WorkspaceDrifted(write.path, expected=write.before, actual=actual)
        changes_mode = ABSENT not in {write.before, write.after} and write.before_mode != write.after_mode
        if state is not None and changes_mode and state.mode != write.before_mode:
            raise WorkspaceDrifted(write.path, expected=f"mode {write.before_mode:o}", actual=f"mode {state.mode:o}")


def carry_out(root: Root, writes: Iterable[FileWrite], probe: Probe = unwatched) -> None:
    """Move every name that has not moved yet: what lies ready takes the place of what is there."""
    for write in writes:
        if write.after == ABSENT:
            root.remove(write.path)
        elif root.stat(beside(write)) is not None:
            root.rename(beside(write), write.path)
        elif _stands(root, write) != "after":
            # Somebody has tidied our copy away, so there is nothing to put there.
            raise PathRefused(write.path, "its new bytes are gone")
        probe("write renamed")


def beside(write: FileWrite) -> str:
    """The path of the copy that waits to take a file's place."""
    return os.path.join(os.path.dirname(write.path), write.temp)


def _missing_folders(root: Root, intent: Intent) -> list[str]:
    """The folders that the batch will make, outermost first."""
    missing: dict[str, None] = {}
    for write in intent.writes:
        parts = write.path.split("/")[:-1] if write.after != ABSENT else []
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if root.stat(folder) is None:
                missing[folder] = None
    return list(missing)


def _stands(root: Root, write: FileWrite) -> Literal["before", "after", "other"]:
    try:
        state = root.read(write.path)
    except RunwireError:
        return "other"
    actual = revision_of(state)
    if actual == write.after and (write.before != write.after or _has_mode(state, write)):
        return "after"
    return "before" if actual == write.before else "other"


def _is_ready(root: Root, write: FileWrite) -> bool:
    if _stands(root, write) != "before":
        return False
    if write.after == ABSENT:
        return True
    try:
        ready = root.read(beside(write))
    except RunwireError:
        return False
    # The mode comes after the bytes, so a copy may be whole but for that.
    return revision_of(ready) == write.after and _has_mode(ready, write)


def _has_mode(state: FileState | None, write: FileWrite) -> bool:
    return state is not None and state.mode & 0o777 == write.after_mode & 0o777


def _keep(path: Path, body: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
