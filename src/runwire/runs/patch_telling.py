"""How decisions about patches are told: one by one, or as the batch that they were made as while their run lives."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from runwire.clock import rfc3339
from runwire.errors import RunFinished
from runwire.journal.artifact import Artifact, ArtifactFilter, Change, Draft
from runwire.journal.effects import together
from runwire.journal.records import Effect
from runwire.protocol.events.edit import (
    EditApplied,
    EditRejected,
    EditReverted,
    MultiEditApplied,
    MultiEditRejected,
    MultiEditReverted,
)
from runwire.protocol.payload import Payload
from runwire.runs.hosting import Ground


class PatchTelling:
    """Appends the events of decisions, each with the state that it changes."""

    def __init__(self, *, ground: Ground) -> None:
        """Tell in the logs of the runs that made the patches."""
        self._journal, self._artifacts, self._clock = ground.journal, ground.artifacts, ground.clock

    async def batch_of(self, artifact_id: str) -> list[str]:
        """The patches that one tool call has made together, in their order."""
        artifact = await self._artifacts.get(artifact_id)
        if artifact.run_id is None or artifact.meta.produced_by_tool_call_id is None:
            return [artifact_id]
        which = ArtifactFilter(kind="patch", run_id=artifact.run_id)
        page = await self._artifacts.list(which, limit=10_000)
        call = artifact.meta.produced_by_tool_call_id
        own = [one for one in page.artifacts if one.meta.produced_by_tool_call_id == call]
        return [one.artifact_id for one in reversed(own) if one.meta.inverse_of is None] or [artifact_id]

    async def rejected(
        self, patches: Sequence[Artifact], changes: Sequence[Change], by: str, reason: str, effects: Effect | None
    ) -> None:
        """They were refused; the changes say so of each."""
        single: list[Payload] = [
            EditRejected(
                patch_artifact_id=patch.artifact_id, rejected_by=by, reason=reason, tool_call_id=_call_of(patch)
            )
            for patch in patches
        ]
        batch = MultiEditRejected(
            patch_artifact_ids=[patch.artifact_id for patch in patches],
            rejected_by=by,
            reason=reason,
            tool_call_id=_call_of(patches[0]),
        )
        run_id = patches[0].run_id or ""
        await self._append(run_id, single, await self._as_batch(patches, batch), [c.event for c in changes], effects)

    async def applied(self, patches: Sequence[Artifact], by: str | None, closing: Effect) -> None:
        changes = [self._artifacts.applied(patch.artifact_id) for patch in patches]
        at, who = rfc3339(self._clock.now_ns()), UNSET if by is None else by
        single: list[Payload] = [
            EditApplied(
                tool_call_id=patch.meta.produced_by_tool_call_id or "",
                patch_artifact_id=patch.artifact_id,
                applied_at=at,
                applied_by=who,
            )
            for patch in patches
        ]
        batch = MultiEditApplied(
            tool_call_id=patches[0].meta.produced_by_tool_call_id or "",
            patch_artifact_ids=[patch.artifact_id for patch in patches],
            applied_at=at,
            applied_by=who,
        )
        effects = together(*(change.effect for change in changes), closing)
        run_id = patches[0].run_id or ""
        await self._append(run_id, single, await self._as_batch(patches, batch), [c.event for c in changes], effects)

    async def reverted(
        self, patches: Sequence[Artifact], drafts: Sequence[Draft], by: str, reason: str, closing: Effect
    ) -> None:
        changes = [self._artifacts.reverted(patch.artifact_id) for patch in patches]
        inverses = [draft.artifact.artifact_id for draft in drafts]
        single: list[Payload] = [
            EditReverted(
                patch_artifact_id=patch.artifact_id,
                reverted_by=by,
                reason=reason,
                tool_call_id=_call_of(patch),
                inverse_artifact_id=inverse,
            )
            for patch, inverse in zip(patches, inverses, strict=True)
        ]
        batch = MultiEditReverted(
            patch_artifact_ids=[patch.artifact_id for patch in patches],
            reverted_by=by,
            reason=reason,
            tool_call_id=_call_of(patches[0]),
            inverse_artifact_ids=inverses,
        )
        created: list[Payload] = [draft.event for draft in drafts]
        told = await self._as_batch(patches, batch)
        effects = together(*(draft.effect for draft in drafts), *(change.effect for change in changes), closing)
        await self._append(
            patches[0].run_id or "",
            [*created, *single],
            None if told is None else [*created, *told],
            [change.event for change in changes],
            effects,
        )

    async def _as_batch(self, patches: Sequence[Artifact], batch: Payload) -> list[Payload] | None:
        """The one event for patches that were made together, while their run lives; after that each has its own."""
        whole = len(patches) > 1 and {patch.artifact_id for patch in patches} == set(
            await self.batch_of(patches[0].artifact_id)
        )
        if not whole:
            return None
        info = await self._journal.reader.run(patches[0].run_id or "")
        return None if info.story.run.finished else [batch]

    async def _append(
        self,
        run_id: str,
        single: Sequence[Payload],
        batch: Sequence[Payload] | None,
        updated: Sequence[Payload],
        effects: Effect | None,
    ) -> None:
        if batch is not None:
            try:
                await self._journal.append_all(run_id, [*batch, *updated], also=effects)
            except RunFinished:
                # It ended in between, and then patches are told of one by one.
                pass
            else:
                return
        await self._journal.append_all(run_id, [*single, *updated], also=effects)


def _call_of(artifact: Artifact) -> str | UnsetType:
    return artifact.meta.produced_by_tool_call_id or UNSET
