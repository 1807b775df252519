"""What is told of a change of files: a patch for each, the bytes it was made from, and the events that name them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from runwire.journal.artifact import ArtifactMeta, Draft, NewArtifact, PatchStats
from runwire.protocol.events.edit import EditApplied, EditProposed, MultiEditApplied, MultiEditProposed
from runwire.protocol.events.file import FileWriteProposed
from runwire.protocol.payload import Payload
from runwire.workspace.changes import FileChange, FileState, revision_of
from runwire.workspace.diff import DiffStats, diff, is_binary

Drafting = Callable[[NewArtifact, bytes], Awaitable[Draft]]
"""Makes an artifact's body safe."""

REDACTED = "the kept patch is redacted, so it cannot be applied or reverted from the store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change of one file, and the artifact that keeps its patch."""

    path: str
    is_new: bool
    """Whether the file was not there before."""
    summary: str
    stats: DiffStats
    draft: Draft

    @property
    def artifact_id(self) -> str:
        """The patch."""
        return self.draft.artifact.artifact_id

    @property
    def is_redacted(self) -> bool:
        """Whether the stored patch is not the change that was made."""
        return self.draft.artifact.meta.redactions > 0


async def propose(change: FileChange, tool_call_id: str, draft: Drafting) -> Proposal:
    """Make the patch of a change safe."""
    patch = await asyncio.to_thread(diff, change.before, change.after, change.path)
    stats = PatchStats(additions=patch.stats.additions, deletions=patch.stats.deletions, hunks=patch.stats.hunks)
    meta = ArtifactMeta(
        mime="text/x-diff",
        summary=patch.summary,
        produced_by_tool_call_id=tool_call_id,
        target_path=change.path,
        base_revision=revision_of(change.before),
        stats=stats,
    )
    return Proposal(
        path=change.path,
        is_new=change.before is None,
        summary=patch.summary,
        stats=patch.stats,
        draft=await draft(NewArtifact("patch", meta), patch.body),
    )


async def keep_before(change: FileChange, tool_call_id: str, draft: Drafting) -> Draft:
    """Make the bytes safe that a patch was made from."""
    before = change.before or FileState(b"")
    meta = ArtifactMeta(
        mime="application/octet-stream" if is_binary(before.body) else "text/plain; charset=utf-8",
        summary=f"{change.path} before it was changed",
        produced_by_tool_call_id=tool_call_id,
        path=change.path,
        revision=before.revision,
    )
    return await draft(NewArtifact("file_snapshot", meta), before.body)


def proposed(
    tool_call_id: str, proposals: Sequence[Proposal], *, auto_apply: bool, several: bool, note: str = ""
) -> Payload:
    """The event that proposes them: as one batch, or the one that there is. A note goes to the end of its summary."""
    if several:
        return MultiEditProposed(
            tool_call_id=tool_call_id,
            paths=[one.path for one in proposals],
            patch_artifact_ids=[one.artifact_id for one in proposals],
            summary=summary_of(proposals) + note,
            auto_apply=auto_apply,
        )
    (one,) = proposals
    kind = FileWriteProposed if one.is_new else EditProposed
    return kind(
        tool_call_id=tool_call_id,
        path=one.path,
        patch_artifact_id=one.artifact_id,
        summary=one.summary + note,
        auto_apply=auto_apply,
    )


def applied(tool_call_id: str, proposals: Sequence[Proposal], *, at: str, several: bool) -> Payload:
    """The event that says that they are in the workspace."""
    ids = [one.artifact_id for one in proposals]
    if several:
        return MultiEditApplied(tool_call_id=tool_call_id, patch_artifact_ids=ids, applied_at=at)
    return EditApplied(tool_call_id=tool_call_id, patch_artifact_id=ids[0], applied_at=at)


def summary_of(proposals: Sequence[Proposal]) -> str:
    """One line for a person."""
    if len(proposals) == 1:
        return f"{proposals[0].path}: {proposals[0].summary}"
    stats = [one.stats for one in proposals]
    return f"{len(proposals)} files, +{sum(s.additions for s in stats)}/-{sum(s.deletions for s in stats)} lines"
