"""What an agent that writes straight to disk has changed, told as the native agent's own edits are.

The bytes are in the workspace already, so nothing is written here: a look finds what has changed since the last one and
tells it as patches that were applied. They can then be listed, merged and taken back like any other.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from runwire.clock import Clock, rfc3339
from runwire.errors import ArtifactNotFound, RunwireError
from runwire.host import RunHost
from runwire.ids import Ids
from runwire.journal.artifact import Change, Draft
from runwire.journal.effects import together
from runwire.workspace.changes import FileChange, FileState, revision_of
from runwire.workspace.errors import WorkspaceInvalid, shortened
from runwire.workspace.locking import Locks
from runwire.workspace.proposing import REDACTED, Proposal, applied, keep_before, propose, proposed
from runwire.workspace.snapshot import Shadow, Unpatchable

FILES_MAX = 1000
"""The most files that one look tells of: so many can be taken back at once."""
BYTES_MAX = 256 * 1024 * 1024
"""The most bytes, before and after together, that one look makes patches of."""

Applied = Callable[[str], Change]
"""The change of a proposed patch that was applied, by its id."""

_TOO_MUCH = "too much has changed at once"
_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look has found."""

    patches: Sequence[str] = ()
    """The artifacts that it has made, in the order of their paths."""
    unpatchable: Sequence[Unpatchable] = ()
    """What has changed, too, but no patch can tell."""


@dataclass(frozen=True, slots=True)
class _Stood:
    """A file at one moment, without its bytes."""

    revision: str
    mode: int


@dataclass(frozen=True, slots=True)
class _Told:
    """One patch that was told, and what it led from and to."""

    artifact_id: str
    before: _Stood | None
    after: _Stood | None


class EditWatch:
    """Watches the workspace of one run."""

    def __init__(
        self, *, shadow: Shadow, host: RunHost, applied: Applied, locks: Locks, clock: Clock, ids: Ids
    ) -> None:
        """Compare by `shadow` under the workspace's lock, and tell through `host`."""
        self._shadow = shadow
        self._host = host
        self._applied = applied
        self._locks = locks
        self._clock = clock
        self._ids = ids
        self._last: str | None = None
        self._told: dict[str, list[_Told]] = {}
        self._known: set[tuple[str, str]] = set()
        """States of files that the run's own patches and snapshots tell of."""

    async def begin(self) -> None:
        """Remember the workspace as it is; without that, or where it cannot be looked through, a look finds nothing."""
        async with self._locks.hold(self._shadow.workspace):
            try:
                self._last = await self._shadow.take()
            except WorkspaceInvalid:
                self._last = None

    async def look(self, tool_call_id: str | None = None) -> Looked:
        """Tell what has changed since the last look, all of it or nothing; several files are one batch.

        Without a call that is known to have made the change, it is told under an id of its own. When telling is refused,
        or somebody else writes to the workspace all the while, that rises, and the next look tells it.
        """
        if self._last is None:
            return Looked()
        # Held from looking to telling: the order of what is told is then the order of the changes.
        async with self._locks.hold(self._shadow.workspace):
            before = self._last
            try:
                after = await self._shadow.take()
            except WorkspaceInvalid:
                self._last = None
                return Looked()
            if after == before:
                return Looked()
            batch = _Batch(self._host, tool_call_id or self._ids.new("call"))
            unpatchable = await self._gather(batch, before, after)
            if batch.proposals:
                await self._tell(batch, unpatchable, before, after)
            else:
                self._advance(batch, before, after)
            return Looked(tuple(one.artifact_id for one in batch.proposals), tuple(unpatchable))

    async def _gather(self, batch: "_Batch", before: str, after: str) -> list[Unpatchable]:
        """Make patches of what has changed, and say of what there are none."""
        unpatchable: list[Unpatchable] = []
        async for found in self._shadow.changes(before, after):
            if isinstance(found, Unpatchable):
                unpatchable.append(found)
                continue
            change = await self._own(found)
            if change.before == change.after:
                continue
            if batch.is_full:
                unpatchable.append(Unpatchable(change.path, _TOO_MUCH))
                continue
            await batch.take(change, is_known=(change.path, revision_of(change.before)) in self._known)
        return unpatchable

    async def _own(self, change: FileChange) -> FileChange:
        """A change without what people took back since the last look: that is told already, and not the agent's doing."""
        state = change.before
        for told in reversed(self._told.get(change.path, ())):
            if told.after != _stood(state) or not await self._is_reverted(told.artifact_id):
                break
            body = b"" if told.before is None else await self._shadow.body(told.before.revision)
            if body is None:
                break
            state = None if told.before is None else FileState(body, told.before.mode)
        return FileChange(change.path, state, change.after)

    async def _is_reverted(self, artifact_id: str) -> bool:
        try:
            artifact, _ = await self._host.body(artifact_id)
        except ArtifactNotFound:
            return False
        return artifact.meta.reverted_at is not None

    async def _tell(self, batch: "_Batch", unpatchable: Sequence[Unpatchable], before: str, after: str) -> None:
        call, proposals, several = batch.tool_call_id, batch.proposals, len(batch.proposals) > 1
        settled = [self._applied(one.artifact_id) for one in proposals]
        stored = self._host.emit(
            proposed(call, proposals, auto_apply=True, several=several, note=_note(proposals, unpatchable)),
            applied(call, proposals, at=rfc3339(self._clock.now_ns()), several=several),
            *(one.event for one in settled),
            kept=[*batch.snapshots, *(one.draft for one in proposals)],
            also=together(*(one.effect for one in settled)),
        )
        try:
            await stored
        except RunwireError:
            # Refused, so nothing of it is stored.
            raise
        except BaseException:
            # We are called off, but what was emitted is on its way.
            self._advance(batch, before, after)
            raise
        self._advance(batch, before, after)

    def _advance(self, batch: "_Batch", before: str, after: str) -> None:
        self._last = after
        self._shadow.forget(before)
        for path, told in batch.told:
            self._told.setdefault(path, []).append(told)
            self._known |= {(path, one.revision) for one in (told.before, told.after) if one is not None}


class _Batch:
    """What one look is about to tell."""

    def __init__(self, host: RunHost, tool_call_id: str) -> None:
        self._host = host
        self.tool_call_id = tool_call_id
        self.snapshots: list[Draft] = []
        self.proposals: list[Proposal] = []
        self.told: list[tuple[str, _Told]] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        return len(self.proposals) >= FILES_MAX or self._size >= BYTES_MAX

    async def take(self, change: FileChange, *, is_known: bool) -> None:
        """Make a patch of a change, and keep what was there before where nothing else tells it."""
        if change.before is not None and not is_known:
            self.snapshots.append(await keep_before(change, self.tool_call_id, self._host.draft))
        one = await propose(change, self.tool_call_id, self._host.draft)
        self.proposals.append(one)
        self.told.append((change.path, _Told(one.artifact_id, _stood(change.before), _stood(change.after))))
        self._size += sum(len(state.body) for state in (change.before, change.after) if state is not None)


@asynccontextmanager
async def watching(
    host: RunHost, *, folder: Path, applied: Applied, locks: Locks, clock: Clock, ids: Ids
) -> AsyncGenerator[EditWatch]:
    """Watch the workspace of a run from now on; what is needed for that lies on the disk of `folder`, without a name."""
    with Shadow(host.facts.workspace, folder) as shadow:
        watch = EditWatch(shadow=shadow, host=host, applied=applied, locks=locks, clock=clock, ids=ids)
        await watch.begin()
        yield watch


def _stood(state: FileState | None) -> _Stood | None:
    return None if state is None else _Stood(state.revision, state.mode)


def _note(proposals: Sequence[Proposal], unpatchable: Sequence[Unpatchable]) -> str:
    """What a person should know beyond the patches."""
    said = []
    if any(one.is_redacted for one in proposals):
        said.append(REDACTED)
    if unpatchable:
        named = ", ".join(f"{_shown(one.path)} ({one.reason})" for one in unpatchable[:_NAMED_MAX])
        more = len(unpatchable) - _NAMED_MAX
        said.append(f"changed too, without a patch: {named}" + (f" and {more} more" if more > 0 else ""))
    return "".join(f"; {one}" for one in said)


def _shown(path: str) -> str:
    """A name of any bytes, in letters that an event can hold."""
    text = path.encode(errors="surrogateescape").decode(errors="replace")
    return shortened("".join(letter if letter.isprintable() else "\ufffd" for letter in text), 100)
