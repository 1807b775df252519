"""Patches and what people decide about them: applied, rejected, taken back, and put together into one diff.

Files, status and log change together or not at all; what a crash cut short is finished or taken back by whoever comes next.
"""

from collections.abc import Sequence
from pathlib import Path

import apsw

from runwire.clock import rfc3339
from runwire.errors import Conflict, InvalidContent, RunwireError
from runwire.journal.artifact import Artifact, ArtifactMeta, Draft, NewArtifact, PatchStats
from runwire.journal.bell.topics import control
from runwire.journal.effects import together
from runwire.journal.records import Effect
from runwire.runs.hosting import Ground
from runwire.runs.ledger import WriteLedger, require_standing
from runwire.runs.merging import Merging, read_patch, replay, snapshot_of, steps_of
from runwire.runs.messages import Messages
from runwire.runs.past import read_run, resumed_from
from runwire.runs.patch_telling import PatchTelling
from runwire.runs.rows.queue import active_run
from runwire.runs.rows.tasks import find_workplace
from runwire.runs.rows.writes import is_being_written, open_batches
from runwire.workspace.applying import Applier, Intent, PlannedPatch, Verb, WritePlan, carry_out, plan_writes
from runwire.workspace.changes import ABSENT, FileChange, FileState, revision_of
from runwire.workspace.errors import PatchRedacted, PatchUnavailable, WorkspaceDrifted
from runwire.workspace.locking import Locks
from runwire.workspace.patch import FilePatch, PatchMalformed, PatchMismatch, apply_file, blob_id, invert, parse
from runwire.workspace.root import Root

_BATCH_MAX = 500


class Patches:
    """Decides about patches for people, and settles what a crash has left."""

    def __init__(self, *, ground: Ground, locks: Locks, undo: Path) -> None:
        """Write under `locks`, with the old bytes in `undo` meanwhile."""
        self._journal, self._artifacts = ground.journal, ground.artifacts
        self._clock, self._ids = ground.clock, ground.ids
        self._messages = Messages(ground=ground)
        self._telling = PatchTelling(ground=ground)
        self.locks = locks
        self.applier = Applier(ledger=WriteLedger(journal=ground.journal, artifacts=ground.artifacts), undo=undo)

    async def apply(self, ids: Sequence[str], *, by: str) -> list[Artifact]:
        """Write proposed patches of one run into its workspace, all or none."""
        patches = await self._patches(ids, "apply")
        await self._write(patches, "apply", by=by, reason="")
        return [await self._artifacts.get(patch.artifact_id) for patch in patches]

    async def revert(self, artifact_id: str, *, by: str, reason: str = "") -> tuple[Artifact, str]:
        """Take an applied patch back; give it and the id of the patch that did it."""
        ((artifact, inverse),) = await self.revert_all([artifact_id], by=by, reason=reason)
        return artifact, inverse

    async def revert_all(self, ids: Sequence[str], *, by: str, reason: str = "") -> list[tuple[Artifact, str]]:
        """Take applied patches of one run back, all or none, the newest first."""
        patches = await self._patches(ids, "revert")
        inverses = await self._write(patches[::-1], "revert", by=by, reason=reason)
        return [(await self._artifacts.get(one.artifact_id), inverses[one.artifact_id]) for one in patches]

    async def reject(self, artifact_id: str, *, by: str, reason: str = "") -> Artifact:
        """Refuse a proposed patch; the agent is told at its next turn."""
        (artifact,) = await self.reject_all([artifact_id], by=by, reason=reason)
        return artifact

    async def reject_all(self, ids: Sequence[str], *, by: str, reason: str = "") -> list[Artifact]:
        """Refuse proposed patches of one run, all at once."""
        patches = await self._patches(ids, "apply", whole=False)
        run_id, task_id = patches[0].run_id or "", patches[0].task_id or ""
        changes = [self._artifacts.rejected(patch.artifact_id) for patch in patches]
        names = ", ".join(f"{patch.artifact_id} to {patch.meta.target_path}" for patch in patches)
        text = f"The patch {names} was rejected by {by}" + (f": {reason}" if reason.strip() else ".")

        def unwritten(db: apsw.Connection) -> None:
            for patch in patches:
                if is_being_written(db, patch.artifact_id):
                    raise Conflict(f"{patch.artifact_id} is being written")

        effects = together(
            unwritten,
            *(change.effect for change in changes),
            self._messages.rejection(task_id, run_id, text, by=by),
        )
        await self._telling.rejected(patches, changes, by, reason, effects)
        listener = await self._journal.reader.query(lambda db: active_run(db, task_id))
        if listener is not None:
            self._journal.signal(control(listener))
        return [await self._artifacts.get(patch.artifact_id) for patch in patches]

    async def batch_of(self, artifact_id: str) -> list[str]:
        """The patches that one tool call has made together, in their order."""
        return await self._telling.batch_of(artifact_id)

    async def merged(self, run_id: str) -> bytes:
        """All that a run's patches have changed, as one diff that `git apply` takes."""
        merging = Merging(self._artifacts)
        for artifact_id in steps_of(await read_run(self._journal, run_id)):
            await merging.take(artifact_id)
        return merging.diff()

    async def replay(self, run_id: str, sequence: int, place: Path) -> None:
        """Make the changes that a run, and those it was resumed from, had applied up to a sequence once more elsewhere."""
        past = await read_run(self._journal, run_id, through=sequence)
        steps = steps_of(past)
        while (before := resumed_from(past)) is not None:
            past = await read_run(self._journal, before.from_run_id, through=before.from_sequence)
            steps = steps_of(past) + steps
        await replay(self._artifacts, steps, place)

    # What a crash has left.

    async def settle(self, run_id: str) -> int:
        """Finish or take back what was being written for a run whose worker is gone; say how many batches."""
        settled = 0
        for intent in await self._journal.reader.query(lambda db: open_batches(db, run_id)):
            async with self.locks.hold(Path(intent.workspace)):
                settled += await self._settle(intent)
        return settled

    async def settle_all(self) -> int:
        """The same for every run, but for workspaces that somebody is writing to."""
        settled = 0
        for intent in await self._journal.reader.query(open_batches):
            async with self.locks.try_hold(Path(intent.workspace)) as held:
                settled += await self._settle(intent) if held else 0
        return settled

    async def _settle(self, intent: Intent) -> int:
        still = await self._journal.reader.query(lambda db: open_batches(db, intent.run_id))
        if intent.batch_id not in {one.batch_id for one in still}:
            return 0
        try:
            root = Root.open(intent.workspace)
        except RunwireError:
            # The workspace is gone, and with it what was to be written.
            await self.applier.ledger.forget(intent)
            return 1
        with root:
            if not self.applier.may_go_on(root, intent):
                self.applier.take_back(root, intent)
                await self.applier.ledger.forget(intent)
                return 1
            carry_out(root, intent.writes)
            patches = [await self._artifacts.get(patch.artifact_id) for patch in intent.patches]
            plan = intent.patches[0].plan
            try:
                if intent.verb == "apply":
                    await self._telling.applied(patches, plan.by, self.applier.ledger.closing(intent))
                else:
                    drafts = [await self._inverse(patch, root) for patch in patches]
                    closing = self.applier.ledger.closing(intent)
                    await self._telling.reverted(patches, drafts, plan.by or "", plan.reason, closing)
            except Conflict:
                self.applier.take_back(root, intent)
                await self.applier.ledger.forget(intent)
                return 1
            self.applier.clear(root, intent)
        return 1

    # Writing.

    async def _patches(self, ids: Sequence[str], verb: Verb, *, whole: bool = True) -> list[Artifact]:
        """The patches in the order of their creation, each fit for what is wanted of it."""
        if not ids or len(ids) > _BATCH_MAX:
            raise InvalidContent(
                f"name 1 to {_BATCH_MAX} patches", hint="leave artifact_ids out for all that are proposed"
            )
        found = [await self._artifacts.get(artifact_id) for artifact_id in dict.fromkeys(ids)]
        for artifact in found:
            if artifact.kind != "patch":
                raise InvalidContent(
                    f"{artifact.artifact_id} is a {artifact.kind} and no patch", hint="name an artifact of kind patch"
                )
            require_standing(artifact, verb)
            if whole and (artifact.meta.redactions or artifact.meta.truncated):
                raise PatchRedacted(artifact.artifact_id)
        if len({artifact.run_id for artifact in found}) > 1:
            raise InvalidContent(
                "the patches are of several runs", hint="decide about the patches of one run at a time"
            )
        return sorted(found, key=lambda artifact: (artifact.created_ns, artifact.artifact_id))

    async def _write(self, patches: Sequence[Artifact], verb: Verb, *, by: str, reason: str) -> dict[str, str]:
        """Write a batch and tell of it; for a revert, say which patch undid which."""
        run_id = patches[0].run_id or ""
        place = await self._journal.reader.query(lambda db: find_workplace(db, run_id))
        if place is None:
            raise Conflict(
                f"the workspace of {run_id} is not known any more", hint="the patch itself can still be read"
            )
        made: dict[str, str] = {}
        async with self.locks.hold(place.path):
            with Root.open(place.path) as root:
                changes = await self._changes(root, patches, verb)
                drafts = [await self._inverse(patch, root) for patch in patches] if verb == "revert" else []
                intent = self._intent(run_id, root, verb, patches, WritePlan(writes=[], by=by, reason=reason), changes)

                async def tell(closing: Effect) -> None:
                    if verb == "apply":
                        await self._telling.applied(patches, by, closing)
                    else:
                        await self._telling.reverted(patches, drafts, by, reason, closing)

                await self.applier.write(root, intent, changes, begin=self._journal.write, tell=tell)
                made = {
                    patch.artifact_id: draft.artifact.artifact_id for patch, draft in zip(patches, drafts, strict=False)
                }
        return made

    def _intent(
        self,
        run_id: str,
        root: Root,
        verb: Verb,
        patches: Sequence[Artifact],
        plan: WritePlan,
        changes: Sequence[FileChange],
    ) -> Intent:
        batch_id = self._ids.new("batch")
        # Two patches may change one path, so the files belong to the batch; the first row carries all of them.
        first = WritePlan(writes=plan_writes(batch_id, changes), by=plan.by, reason=plan.reason)
        return Intent(
            batch_id=batch_id,
            run_id=run_id,
            workspace=str(root.path),
            verb=verb,
            patches=tuple(
                PlannedPatch(patch.artifact_id, first if number == 0 else plan) for number, patch in enumerate(patches)
            ),
        )

    async def _changes(self, root: Root, patches: Sequence[Artifact], verb: Verb) -> list[FileChange]:
        before: dict[str, FileState | None] = {}
        now: dict[str, FileState | None] = {}

        def state(path: str) -> FileState | None:
            if path not in now:
                before[path] = now[path] = root.read(path)
            return now[path]

        for artifact in patches:
            for patch in await self._file_patches(artifact, verb):
                paths = [path for path in (patch.old_path, patch.new_path) if path is not None]
                old = None if patch.old_path is None else state(patch.old_path)
                target = patch.new_path if patch.new_path != patch.old_path else None
                try:
                    if target is not None and state(target) is not None:
                        raise PatchMismatch(target, "there is a file already")
                    after = apply_file(patch, old)
                except PatchMismatch as wrong:
                    raise await self._drifted(artifact, patch, state(wrong.path or paths[0]), verb) from None
                for path in paths:
                    now[path] = None
                if patch.new_path is not None:
                    now[patch.new_path] = after
        return [FileChange(path, before[path], now[path]) for path in now if before[path] != now[path]]

    async def _file_patches(self, artifact: Artifact, verb: Verb) -> list[FilePatch]:
        try:
            _, body = await read_patch(self._artifacts, artifact.artifact_id)
            return parse(body if verb == "apply" else invert(body))
        except (PatchMalformed, PatchUnavailable):
            raise PatchRedacted(artifact.artifact_id) from None

    async def _drifted(
        self, artifact: Artifact, patch: FilePatch, actual: FileState | None, verb: Verb
    ) -> WorkspaceDrifted:
        expected = artifact.meta.base_revision or ABSENT
        if verb == "revert":
            expected = await self._after(artifact)
        found = revision_of(actual)
        if found == expected and actual is not None:
            expected, found = f"mode {patch.old_mode:o}", f"mode {actual.mode:o}"
        return WorkspaceDrifted(patch.path, expected=expected, actual=found)

    async def _after(self, artifact: Artifact) -> str:
        """Which bytes a patch has left behind, as far as that can be told."""
        path, revision = artifact.meta.target_path or "", artifact.meta.base_revision or ABSENT
        (patch,) = await self._file_patches(artifact, "apply")
        if patch.new_path is None:
            return ABSENT
        kept = None
        if revision != ABSENT:
            kept = await snapshot_of(self._artifacts, artifact.run_id or "", path, revision)
            if kept is None and patch.binary is None:
                return f"git:{patch.new_blob}"
        before = None if revision == ABSENT else FileState(kept or b"", patch.old_mode)
        if patch.binary is not None:
            return revision_of(FileState(patch.binary[1]))
        return revision_of(apply_file(patch, before))

    async def _inverse(self, artifact: Artifact, root: Root) -> Draft:
        """The patch that takes another back, as an artifact that stands as applied."""
        _, body = await read_patch(self._artifacts, artifact.artifact_id)
        inverse = invert(body)
        (patch,) = parse(inverse)
        there = None if patch.old_path is None else root.read(patch.old_path)
        base = None if there is None or blob_id(there.body) != patch.old_blob else there.revision
        stats = artifact.meta.stats
        meta = ArtifactMeta(
            mime="text/x-diff",
            summary=f"takes {artifact.artifact_id} back",
            produced_by_tool_call_id=artifact.meta.produced_by_tool_call_id,
            target_path=patch.path,
            base_revision=ABSENT if patch.old_path is None else base or await self._after(artifact),
            stats=None
            if stats is None
            else PatchStats(additions=stats.deletions, deletions=stats.additions, hunks=stats.hunks),
            applied_at=rfc3339(self._clock.now_ns()),
            inverse_of=artifact.artifact_id,
        )
        return await self._artifacts.prepare(
            artifact.run_id or "", NewArtifact("patch", meta, status="applied"), inverse
        )
