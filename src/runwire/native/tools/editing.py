"""What the editing tools share: a change of files becomes patches, proposed, and applied where the run may do that."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from runwire.clock import rfc3339
from runwire.errors import RunwireError
from runwire.ids import Ids
from runwire.journal.artifact import Draft
from runwire.journal.effects import together
from runwire.native.tools.outcome import refused
from runwire.native.tools.tool import ToolContext, ToolResult
from runwire.protocol.events.edit import MultiEditProposed
from runwire.protocol.payload import Payload
from runwire.workspace.applying import Applier, Intent, PlannedPatch, WritePlan, plan_writes
from runwire.workspace.changes import FileChange, revision_of
from runwire.workspace.locking import Locks
from runwire.workspace.proposing import REDACTED, Proposal, applied, keep_before, propose, proposed, summary_of
from runwire.workspace.root import Root

WRITE_LIMIT_BYTES = 8 * 1024 * 1024

Changing = Callable[[Root], Sequence[FileChange] | ToolResult]
"""Reads the workspace and says what is to change, or why it cannot."""


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
        call, draft = context.tool_call_id, context.host.draft
        kept = [await keep_before(change, call, draft) for change in changes if self._is_new(change)]
        proposals = [await propose(change, call, draft) for change in changes]
        drafts = [*kept, *(one.draft for one in proposals)]
        told = proposed(call, proposals, auto_apply=context.host.facts.auto_apply, several=several)
        if context.host.facts.auto_apply:
            await self._apply(context, changes, proposals, drafts, told)
        else:
            await context.host.emit(told, kept=drafts)
        for change in changes:
            self._known |= {(change.path, revision_of(change.before)), (change.path, revision_of(change.after))}
        return _result(context, proposals)

    async def _apply(
        self,
        context: ToolContext,
        changes: Sequence[FileChange],
        proposals: Sequence[Proposal],
        drafts: Sequence[Draft],
        told: Payload,
    ) -> None:
        host, ledger = context.host, self.applier.ledger
        batch_id = self.ids.new("batch")
        intent = Intent(
            batch_id=batch_id,
            run_id=host.facts.run_id,
            workspace=str(context.root.path),
            verb="apply",
            patches=tuple(
                PlannedPatch(one.artifact_id, WritePlan(writes=plan_writes(batch_id, [change], first=at)))
                for at, (one, change) in enumerate(zip(proposals, changes, strict=True))
            ),
        )
        settled = [ledger.applied(one.artifact_id) for one in proposals]
        done = applied(
            context.tool_call_id,
            proposals,
            at=rfc3339(context.clock.now_ns()),
            several=isinstance(told, MultiEditProposed),
        )
        await self.applier.write(
            context.root,
            intent,
            changes,
            begin=lambda effect: host.emit(told, kept=drafts, also=effect),
            tell=lambda effect: host.emit(
                done, *(one.event for one in settled), also=together(*(one.effect for one in settled), effect)
            ),
        )

    def _is_new(self, change: FileChange) -> bool:
        return change.before is not None and (change.path, change.before.revision) not in self._known


def _result(context: ToolContext, proposals: Sequence[Proposal]) -> ToolResult:
    lines = []
    for one in proposals:
        if context.host.facts.auto_apply:
            lines.append(f"{one.path}: {one.summary} (applied, {one.artifact_id})")
        else:
            lines.append(f"{one.path}: {one.summary} (proposed as {one.artifact_id}, not applied yet)")
    if not context.host.facts.auto_apply:
        lines.append("A person decides about it; until then the file is as it was.")
    summary = summary_of(proposals)
    if any(one.is_redacted for one in proposals):
        # The files hold the true bytes, the stored patch does not.
        summary += f"; {REDACTED}"
    return ToolResult(summary=summary, output="\n".join(lines))
