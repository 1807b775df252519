"""How decisions about patches are told: one by one, or as the batch that they were made as while their run lives."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from runwire.clock import rfc3339
from runwire.errors import RunFinished, RunNotFound
from runwire.journal.artifact import Artifact, Change, Draft
from runwire.journal.effects import together
from runwire.journal.records import Effect
from runwire.protocol.envelope import type_of
from runwire.protocol.events.edit import (
    EditApplied,
    EditRejected,
    EditReverted,
    MultiEditApplied,
    MultiEditProposed,
    MultiEditRejected,
    MultiEditReverted,
)
from runwire.protocol.payload import Payload
from runwire.runs.hosting import Ground
from runwire.runs.past import stored_events, told


class PatchTelling:
    """Appends the events of decisions, each with the state that it changes."""

    def __init__(self, *, ground: Ground) -> None:
        """Tell in the logs of the runs that made the patches."""
        self._journal, self._artifacts, self._clock = ground.journal, ground.artifacts, ground.clock

    async def batch_of(self, artifact_id: str) -> list[str]:
        """The patches that one tool call has made together, in their order."""
        artifact = await self._artifacts.get(artifact_id)
        proposed = None if artifact.run_id is None else await self._proposed_with(artifact.run_id, artifact_id)
        return proposed or [artifact_id]

    async def _proposed_with(self, run_id: str, artifact_id: str) -> list[str] | None:
        """All of the batch that a patch was proposed in; None when it was proposed alone, or that is not told any more."""
        try:
            async for envelope in stored_events(self._journal, run_id):
                if type_of(envelope) == MultiEditProposed.type:
                    proposed = told(envelope)
                    if isinstance(proposed, MultiEditProposed) and artifact_id in proposed.patch_artifact_ids:
                        return proposed.patch_artifact_ids
        except RunNotFound:
            return None
        return None

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
        """They are in the workspace now."""
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
        """They were taken back, each by the patch of a draft."""
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
        as_one = await self._as_batch(patches, batch)
        effects = together(*(draft.effect for draft in drafts), *(change.effect for change in changes), closing)
        await self._append(
            patches[0].run_id or "",
            [*created, *single],
            None if as_one is None else [*created, *as_one],
            [change.event for change in changes],
            effects,
        )

    async def _as_batch(self, patches: Sequence[Artifact], batch: Payload) -> list[Payload] | None:
        """The one event for patches that were made together, while their run lives; after that each has its own."""
        run_id = patches[0].run_id or ""
        if len({patch.meta.produced_by_tool_call_id for patch in patches}) > 1:
            return None
        try:
            info = await self._journal.reader.run(run_id)
        except RunNotFound:
            return None
        if info.story.finished:
            return None
        whole = await self._proposed_with(run_id, patches[0].artifact_id)
        return [batch] if whole is not None and set(whole) == {patch.artifact_id for patch in patches} else None

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
        try:
            await self._journal.append_all(run_id, [*single, *updated], also=effects)
        except RunNotFound:
            # A pinned patch outlives its run, and then there is no log to tell of it in.
            if effects is not None:
                await self._journal.write(effects)


def _call_of(artifact: Artifact) -> str | UnsetType:
    return artifact.meta.produced_by_tool_call_id or UNSET
