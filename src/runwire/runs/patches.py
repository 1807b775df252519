"""Patches and what people decide about them: applied, rejected, taken back, and put together into one diff.

Files, status and log change together or not at all; what a crash cut short is finished or taken back by whoever comes next.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from runwire.errors import Conflict, InvalidContent
from runwire.journal.artifact import Artifact, Draft
from runwire.journal.bell.topics import control
from runwire.journal.effects import together
from runwire.journal.records import Effect
from runwire.runs.hosting import Ground
from runwire.runs.inverses import Inverses
from runwire.runs.ledger import WriteLedger, being_written, require_standing
from runwire.runs.merging import Merging, applied_patches, is_whole, read_patch, replay, steps_of
from runwire.runs.messages import Messages
from runwire.runs.past import read_chain, read_run, resumed_from
from runwire.runs.patch_planning import Planned, Unfit, Wanted, plan
from runwire.runs.patch_telling import PatchTelling
from runwire.runs.rows.queue import active_run
from runwire.runs.rows.tasks import find_workplace
from runwire.runs.rows.writes import is_being_written
from runwire.runs.unfinished import Unfinished
from runwire.workspace.applying import Applier, Intent, PlannedPatch, Verb, WritePlan, plan_writes
from runwire.workspace.changes import ABSENT, FileChange, revision_of
from runwire.workspace.errors import PatchRedacted, WorkspaceDrifted, WorkspaceInvalid
from runwire.workspace.locking import Locks
from runwire.workspace.patch import PatchMalformed, invert, parse
from runwire.workspace.root import Root

_BATCH_MAX = 1000


class Patches:
    """Decides about patches for people, and settles what a crash has left."""

    def __init__(self, *, ground: Ground, locks: Locks, undo: Path) -> None:
        """Write under `locks`, with the old bytes in `undo` meanwhile."""
        self._journal, self._artifacts, self._ids = ground.journal, ground.artifacts, ground.ids
        self._messages = Messages(ground=ground)
        self._telling = PatchTelling(ground=ground)
        self._inverses = Inverses(ground=ground)
        ledger = WriteLedger(journal=ground.journal, artifacts=ground.artifacts)
        self.locks = locks
        self.applier = Applier(ledger=ledger, undo=undo, probe=ground.probe)
        self._unfinished = Unfinished(ground=ground, applier=self.applier, locks=locks, telling=self._telling)

    # What people decide.

    # `also` is stored when the decision begins to be carried out; what a crash cuts short after that is finished or taken back.

    async def apply(self, ids: Sequence[str], *, by: str, also: Effect | None = None) -> list[Artifact]:
        """Write proposed patches of one run into its workspace, all or none."""
        patches = await self._patches(ids, "apply")
        await self._write(patches, "apply", WritePlan(writes=[], by=by), also)
        return [await self._artifacts.get(patch.artifact_id) for patch in patches]

    async def revert(self, artifact_id: str, *, by: str, reason: str = "") -> tuple[Artifact, str]:
        """Take an applied patch back; give it and the id of the patch that did it."""
        ((artifact, inverse),) = await self.revert_all([artifact_id], by=by, reason=reason)
        return artifact, inverse

    async def revert_all(
        self, ids: Sequence[str], *, by: str, reason: str = "", also: Effect | None = None
    ) -> list[tuple[Artifact, str]]:
        """Take applied patches of one run back, all or none; each with the id of the patch that did it."""
        patches = await self._patches(ids, "revert")
        inverses = await self._write(patches, "revert", WritePlan(writes=[], by=by, reason=reason), also)
        return [(await self._artifacts.get(one.artifact_id), inverses[one.artifact_id]) for one in patches]

    async def reject(self, artifact_id: str, *, by: str, reason: str = "") -> Artifact:
        """Refuse a proposed patch; the agent is told at its next turn."""
        (artifact,) = await self.reject_all([artifact_id], by=by, reason=reason)
        return artifact

    async def reject_all(
        self, ids: Sequence[str], *, by: str, reason: str = "", also: Effect | None = None
    ) -> list[Artifact]:
        """Refuse proposed patches of one run, all at once."""
        patches = await self._patches(ids, "apply", whole=False)
        run_id, task_id = patches[0].run_id or "", patches[0].task_id or ""
        changes = [self._artifacts.rejected(patch.artifact_id) for patch in patches]

        def unwritten(db: apsw.Connection) -> None:
            for patch in patches:
                if is_being_written(db, patch.artifact_id):
                    raise being_written(patch.artifact_id)

        effects = together(
            unwritten,
            *(change.effect for change in changes),
            self._messages.rejection(task_id, run_id, _told_to_the_agent(patches, by, reason), by=by),
            also,
        )
        await self._telling.rejected(patches, changes, by, reason, effects)
        listener = await self._journal.reader.query(lambda db: active_run(db, task_id))
        if listener is not None:
            self._journal.signal(control(listener))
        return [await self._artifacts.get(patch.artifact_id) for patch in patches]

    async def check(self, ids: Sequence[str], verb: Verb) -> None:
        """Refuse what `apply` or `revert_all` would refuse now, and write nothing."""
        patches = await self._patches(ids, verb)
        place = await self._place(patches[0].run_id or "")
        with await asyncio.to_thread(_opened, place) as root:
            await self._planned(root, _ordered(patches, verb), verb)

    async def batch_of(self, artifact_id: str) -> list[str]:
        """The patches that one tool call has made together, in their order."""
        return await self._telling.batch_of(artifact_id)

    # What they add up to.

    async def merged(self, run_id: str) -> bytes:
        """All that a run's patches have changed, as one diff that `git apply` takes."""
        merging = Merging(self._artifacts)
        for artifact in await applied_patches(self._artifacts, run_id):
            await merging.take(artifact.artifact_id)
        return await asyncio.to_thread(merging.diff)

    async def replay(self, run_id: str, sequence: int, place: Path) -> None:
        """Make the changes that a run, and those it was resumed from, had applied up to a sequence once more elsewhere."""
        own = await read_run(self._journal, run_id, through=sequence)
        before = resumed_from(own)
        steps = [] if before is None else await self._steps_before(before.from_run_id, before.from_sequence)
        await replay(self._artifacts, [*steps, *steps_of(own)], place)

    async def _steps_before(self, run_id: str, sequence: int) -> list[str]:
        chain = await read_chain(self._journal, run_id)
        return steps_of(one for one in chain if one.run_id != run_id or one.sequence <= sequence)

    # What a crash has left.

    async def settle(self, run_id: str) -> int:
        """Finish or take back what was being written for a run whose worker is gone; say how many batches."""
        return await self._unfinished.settle(run_id)

    async def settle_all(self) -> int:
        """The same for every run, but for workspaces that somebody is writing to."""
        return await self._unfinished.settle_all()

    # Writing.

    async def _patches(self, ids: Sequence[str], verb: Verb, *, whole: bool = True) -> list[Artifact]:
        """The patches in the order of their creation, each fit for what is wanted of it."""
        if not 0 < len(ids) <= _BATCH_MAX:
            raise InvalidContent(f"name 1 to {_BATCH_MAX} patches", hint="decide about the rest in a second request")
        found = [await self._artifacts.get(artifact_id) for artifact_id in dict.fromkeys(ids)]
        for artifact in found:
            if artifact.kind != "patch":
                raise InvalidContent(
                    f"{artifact.artifact_id} is a {artifact.kind} and no patch", hint="name an artifact of kind patch"
                )
            require_standing(artifact, verb)
            if whole and not is_whole(artifact):
                raise PatchRedacted(artifact.artifact_id)
        if len({artifact.run_id for artifact in found}) > 1:
            raise InvalidContent(
                "the patches are of several runs", hint="decide about the patches of one run at a time"
            )
        return sorted(found, key=lambda artifact: (artifact.created_ns, artifact.artifact_id))

    async def _write(
        self, patches: Sequence[Artifact], verb: Verb, decided: WritePlan, also: Effect | None
    ) -> Mapping[str, str]:
        """Write a batch and tell of it; for a revert, say which patch undid which."""
        place = await self._place(patches[0].run_id or "")
        async with self.locks.hold(place):
            # Somebody may have decided while we waited; that is then the reason, and not the file that they have changed.
            patches = [await self._artifacts.get(patch.artifact_id) for patch in patches]
            for patch in patches:
                require_standing(patch, verb)
            patches = _ordered(patches, verb)
            with await asyncio.to_thread(_opened, place) as root:
                await self._unfinished.settle_held(root.path)
                return await self._write_held(root, patches, verb, decided, also)

    async def _write_held(
        self, root: Root, patches: Sequence[Artifact], verb: Verb, decided: WritePlan, also: Effect | None
    ) -> Mapping[str, str]:
        planned = await self._planned(root, patches, verb)
        drafts: list[Draft] = []
        if verb == "revert":
            drafts = [await self._inverses.draft(patch, planned.bases[patch.artifact_id]) for patch in patches]
        changes = planned.changes
        intent = self._intent(root, patches, verb, decided, changes)

        async def tell(closing: Effect) -> None:
            if verb == "apply":
                await self._telling.applied(patches, decided.by, closing)
            else:
                await self._telling.reverted(patches, drafts, decided.by or "", decided.reason, closing)

        async def begin(opening: Effect) -> None:
            await self._journal.write(together(opening, also) or opening)

        await self.applier.write(root, intent, changes, begin=begin, tell=tell)
        return {patch.artifact_id: draft.artifact.artifact_id for patch, draft in zip(patches, drafts, strict=False)}

    async def _place(self, run_id: str) -> Path:
        place = await self._journal.reader.query(lambda db: find_workplace(db, run_id))
        if place is None:
            raise Conflict(
                f"the workspace of {run_id} is not known any more", hint="the patch itself can still be read"
            )
        return place.path

    def _intent(
        self,
        root: Root,
        patches: Sequence[Artifact],
        verb: Verb,
        decided: WritePlan,
        changes: Sequence[FileChange],
    ) -> Intent:
        batch_id = self._ids.new("batch")
        # Two patches may change one path, so the files belong to the batch; the first row carries all of them.
        first = WritePlan(writes=plan_writes(batch_id, changes), by=decided.by, reason=decided.reason)
        return Intent(
            batch_id=batch_id,
            run_id=patches[0].run_id or "",
            workspace=str(root.path),
            verb=verb,
            patches=tuple(
                PlannedPatch(patch.artifact_id, decided if number else first) for number, patch in enumerate(patches)
            ),
        )

    async def _planned(self, root: Root, patches: Sequence[Artifact], verb: Verb) -> Planned:
        wanted = [await self._wanted(patch, verb) for patch in patches]
        try:
            return await asyncio.to_thread(plan, root, wanted)
        except Unfit as unfit:
            raise await self._drifted(unfit, verb) from None

    async def _wanted(self, artifact: Artifact, verb: Verb) -> Wanted:
        _, body = await read_patch(self._artifacts, artifact.artifact_id)
        try:
            return Wanted(artifact, parse(body if verb == "apply" else invert(body)))
        except PatchMalformed:
            raise PatchRedacted(artifact.artifact_id) from None

    async def _drifted(self, unfit: Unfit, verb: Verb) -> WorkspaceDrifted:
        """What was expected and what is there, as hashes of the bytes; as modes where only those differ."""
        artifact, patch, actual = unfit.wanted.artifact, unfit.patch, unfit.actual
        if unfit.path != patch.old_path:
            expected = ABSENT
        elif verb == "apply":
            expected = artifact.meta.base_revision or f"git:{patch.old_blob}"
        else:
            expected = await self._inverses.base_of(artifact)
        found = revision_of(actual)
        if found == expected and actual is not None:
            expected, found = f"mode {patch.old_mode:o}", f"mode {actual.mode:o}"
        return WorkspaceDrifted(unfit.path, expected=expected, actual=found)


def _ordered(patches: Sequence[Artifact], verb: Verb) -> Sequence[Artifact]:
    if verb == "apply":
        return patches
    # What was done last is undone first.
    return sorted(patches, key=lambda one: (one.meta.applied_at or "", one.artifact_id), reverse=True)


def _opened(place: Path) -> Root:
    try:
        return Root.open(place)
    except WorkspaceInvalid as gone:
        raise Conflict(gone.message, hint="the patch itself can still be read", details=gone.details) from gone


def _told_to_the_agent(patches: Sequence[Artifact], by: str, reason: str) -> str:
    names = ", ".join(f"{patch.artifact_id} to {patch.meta.target_path}" for patch in patches)
    what = f"The patch {names} was" if len(patches) == 1 else f"The patches {names} were"
    return f"{what} rejected by {by}" + (f": {reason}" if reason.strip() else ".")
