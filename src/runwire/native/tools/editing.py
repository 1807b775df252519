"""What the editing tools share: a change of files becomes patches, proposed, and applied where the run may do that."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from runwire.clock import rfc3339
from runwire.errors import RunwireError
from runwire.ids import Ids
from runwire.journal.artifact import ArtifactMeta, Draft, NewArtifact, PatchStats
from runwire.journal.effects import together
from runwire.native.tools.outcome import refused
from runwire.native.tools.tool import ToolContext, ToolResult
from runwire.protocol.events.edit import EditApplied, EditProposed, MultiEditApplied, MultiEditProposed
from runwire.protocol.events.file import FileWriteProposed
from runwire.protocol.payload import Payload
from runwire.workspace.applying import Applier, Intent, PlannedPatch, WritePlan, plan_writes
from runwire.workspace.changes import FileChange, FileState, revision_of
from runwire.workspace.diff import Patch, diff, is_binary
from runwire.workspace.locking import Locks
from runwire.workspace.root import Root

WRITE_LIMIT_BYTES = 8 * 1024 * 1024

Changing = Callable[[Root], Sequence[FileChange] | ToolResult]
"""Reads the workspace and says what is to change, or why it cannot."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A change of one file, its patch and the artifact that keeps it."""

    change: FileChange
    patch: Patch
    draft: Draft


@dataclass(slots=True)
class Editor:
    """Changes the files of one run."""

    applier: Applier
    locks: Locks
    ids: Ids
    _known: set[tuple[str, str]] = field(default_factory=set)
    """States of files that the run's own patches and snapshots tell of."""

    async def edit(self, context: ToolContext, changing: Changing, *, several: bool = False) -> ToolResult:
        """Propose a change, apply it where the run may, and say what became of it; `several` tells it as one batch."""
        root = context.root
        try:
            if not context.host.facts.auto_apply:
                return await self._propose(context, await asyncio.to_thread(changing, root), several)
            # Held from reading to writing, so that nobody's change is lost in between.
            async with self.locks.hold(root.path):
                return await self._propose(context, await asyncio.to_thread(changing, root), several)
        except RunwireError as error:
            return refused(error)

    async def _propose(
        self, context: ToolContext, changes: Sequence[FileChange] | ToolResult, several: bool
    ) -> ToolResult:
        if isinstance(changes, ToolResult):
            return changes
        changes = [change for change in changes if change.before != change.after]
        for change in changes:
            # Before anything is told: a proposal that nobody may apply is none.
            context.root.writable(change.path)
        if not changes:
            return ToolResult(summary="nothing changes", output="the file is as asked already; nothing changes")
        kept = [await self._snapshot(context, change) for change in changes if self._is_new(change)]
        proposals = [await _proposal(context, change) for change in changes]
        drafts = [*kept, *(one.draft for one in proposals)]
        told = _proposed(context, proposals, several)
        if context.host.facts.auto_apply:
            await self._apply(context, proposals, drafts, told)
        else:
            await context.host.emit(told, kept=drafts)
        for change in changes:
            self._known |= {(change.path, revision_of(change.before)), (change.path, revision_of(change.after))}
        return _result(context, proposals)

    async def _apply(
        self, context: ToolContext, proposals: Sequence[_Proposal], drafts: Sequence[Draft], told: Payload
    ) -> None:
        host, ledger = context.host, self.applier.ledger
        batch_id = self.ids.new("batch")
        intent = Intent(
            batch_id=batch_id,
            run_id=host.facts.run_id,
            workspace=str(context.root.path),
            verb="apply",
            patches=tuple(
                PlannedPatch(
                    one.draft.artifact.artifact_id, WritePlan(writes=plan_writes(batch_id, [one.change], first=at))
                )
                for at, one in enumerate(proposals)
            ),
        )
        settled = [ledger.applied(one.draft.artifact.artifact_id) for one in proposals]
        applied = _applied(context, proposals, several=isinstance(told, MultiEditProposed))
        await self.applier.write(
            context.root,
            intent,
            [one.change for one in proposals],
            begin=lambda effect: host.emit(told, kept=drafts, also=effect),
            tell=lambda effect: host.emit(
                applied, *(one.event for one in settled), also=together(*(one.effect for one in settled), effect)
            ),
        )

    def _is_new(self, change: FileChange) -> bool:
        return change.before is not None and (change.path, change.before.revision) not in self._known

    async def _snapshot(self, context: ToolContext, change: FileChange) -> Draft:
        before = change.before or FileState(b"")
        meta = ArtifactMeta(
            mime="application/octet-stream" if is_binary(before.body) else "text/plain; charset=utf-8",
            summary=f"{change.path} before it was changed",
            produced_by_tool_call_id=context.tool_call_id,
            path=change.path,
            revision=before.revision,
        )
        return await context.host.draft(NewArtifact("file_snapshot", meta), before.body)


async def _proposal(context: ToolContext, change: FileChange) -> _Proposal:
    patch = await asyncio.to_thread(diff, change.before, change.after, change.path)
    stats = PatchStats(additions=patch.stats.additions, deletions=patch.stats.deletions, hunks=patch.stats.hunks)
    meta = ArtifactMeta(
        mime="text/x-diff",
        summary=patch.summary,
        produced_by_tool_call_id=context.tool_call_id,
        target_path=change.path,
        base_revision=revision_of(change.before),
        stats=stats,
    )
    return _Proposal(change, patch, await context.host.draft(NewArtifact("patch", meta), patch.body))


def _proposed(context: ToolContext, proposals: Sequence[_Proposal], several: bool) -> Payload:
    call, auto = context.tool_call_id, context.host.facts.auto_apply
    if several:
        return MultiEditProposed(
            tool_call_id=call,
            paths=[one.change.path for one in proposals],
            patch_artifact_ids=[one.draft.artifact.artifact_id for one in proposals],
            summary=_summary(proposals),
            auto_apply=auto,
        )
    (one,) = proposals
    kind = FileWriteProposed if one.change.before is None else EditProposed
    return kind(
        tool_call_id=call,
        path=one.change.path,
        patch_artifact_id=one.draft.artifact.artifact_id,
        summary=one.patch.summary,
        auto_apply=auto,
    )


def _applied(context: ToolContext, proposals: Sequence[_Proposal], *, several: bool) -> Payload:
    ids = [one.draft.artifact.artifact_id for one in proposals]
    at = rfc3339(context.clock.now_ns())
    if several:
        return MultiEditApplied(tool_call_id=context.tool_call_id, patch_artifact_ids=ids, applied_at=at)
    return EditApplied(tool_call_id=context.tool_call_id, patch_artifact_id=ids[0], applied_at=at)


def _summary(proposals: Sequence[_Proposal]) -> str:
    if len(proposals) == 1:
        return f"{proposals[0].change.path}: {proposals[0].patch.summary}"
    stats = [one.patch.stats for one in proposals]
    return f"{len(proposals)} files, +{sum(s.additions for s in stats)}/-{sum(s.deletions for s in stats)} lines"


def _result(context: ToolContext, proposals: Sequence[_Proposal]) -> ToolResult:
    lines = []
    for one in proposals:
        artifact_id = one.draft.artifact.artifact_id
        if context.host.facts.auto_apply:
            lines.append(f"{one.change.path}: {one.patch.summary} (applied, {artifact_id})")
        else:
            lines.append(f"{one.change.path}: {one.patch.summary} (proposed as {artifact_id}, not applied yet)")
    if not context.host.facts.auto_apply:
        lines.append("A person decides about it; until then the file is as it was.")
    summary = _summary(proposals)
    if any(one.draft.artifact.meta.redactions for one in proposals):
        # The files hold the true bytes, the stored patch does not.
        summary += "; the kept patch is redacted, so it cannot be applied or reverted from the store"
    return ToolResult(summary=summary, output="\n".join(lines))
