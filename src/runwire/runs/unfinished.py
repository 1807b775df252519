"""Batches of patches that a crash has cut short: each is finished, or taken back, by whoever comes next."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from runwire.errors import RunwireError, StoreError
from runwire.runs.hosting import Ground
from runwire.runs.inverses import Inverses
from runwire.runs.patch_telling import PatchTelling
from runwire.runs.rows.writes import is_open, open_batches
from runwire.workspace.applying import Applier, Intent, carry_out
from runwire.workspace.errors import WorkspaceBusy
from runwire.workspace.locking import Locks
from runwire.workspace.root import Root

_log = logging.getLogger(__name__)

_PATIENCE_S = 5.0


class Unfinished:
    """Settles what was being written when its writer died. A writer that lives holds its workspace, and is left alone."""

    def __init__(self, *, ground: Ground, applier: Applier, locks: Locks, telling: PatchTelling) -> None:
        """Look for batches in the journal's store."""
        self._journal, self._artifacts = ground.journal, ground.artifacts
        self._applier = applier
        self._locks = locks
        self._telling = telling
        self._inverses = Inverses(ground=ground)

    async def settle(self, run_id: str) -> int:
        """Settle the batches of a run whose worker is gone; say how many."""
        settled = 0
        for intent in await self._open(lambda one: one.run_id == run_id):
            try:
                async with self._locks.hold(Path(intent.workspace), patience_s=_PATIENCE_S):
                    settled += await self._settle(intent)
            except WorkspaceBusy:
                # Its writer lives after all, and will be refused when it wants to tell of it; then it takes it back.
                continue
        return settled

    async def settle_all(self) -> int:
        """Settle every batch whose writer is gone, and remove what batches that are over have left; say how many."""
        # Looked at in this order: a batch has its rows before it has its folder.
        kept = await asyncio.to_thread(self._applier.kept)
        intents = await self._open(lambda _: True)
        await asyncio.to_thread(self._applier.drop, kept - {intent.batch_id for intent in intents})
        settled = 0
        for intent in intents:
            async with self._locks.try_hold(Path(intent.workspace)) as held:
                settled += await self._settle(intent) if held else 0
        return settled

    async def settle_held(self, workspace: Path) -> None:
        """Settle what was left in a workspace that the caller holds."""
        for intent in await self._open(lambda one: one.workspace == str(workspace)):
            await self._settle(intent)

    async def _open(self, wanted: Callable[[Intent], bool]) -> Sequence[Intent]:
        return [intent for intent in await self._journal.reader.query(open_batches) if wanted(intent)]

    async def _settle(self, intent: Intent) -> int:
        """Settle a batch under its workspace's lock. One that cannot be settled now stays, for the next who comes."""
        if not await self._journal.reader.query(lambda db: is_open(db, intent.batch_id)):
            return 0
        try:
            return await self._in_workspace(intent)
        except StoreError:
            raise
        except (RunwireError, OSError) as failure:
            _log.warning("a batch of patches of %s cannot be settled: %s", intent.run_id, failure)
            return 0

    async def _in_workspace(self, intent: Intent) -> int:
        if not await asyncio.to_thread(Path(intent.workspace).is_dir):
            # The workspace is gone, and with it what was to be written.
            await self._applier.ledger.forget(intent)
            await asyncio.to_thread(self._applier.discard, intent)
            return 1
        with await asyncio.to_thread(Root.open, intent.workspace) as root:
            if await asyncio.to_thread(self._applier.may_go_on, root, intent) and await self._finished(root, intent):
                await asyncio.to_thread(self._applier.clear, root, intent)
            else:
                await asyncio.to_thread(self._applier.take_back, root, intent)
                await self._applier.ledger.forget(intent)
        return 1

    async def _finished(self, root: Root, intent: Intent) -> bool:
        """Write the rest and tell of it. False when it may not be told; then it must not stay written either."""
        try:
            await asyncio.to_thread(carry_out, root, intent.writes)
            await self._tell(intent)
        except StoreError:
            # Told or not, nobody knows; the next who comes finds the rows, or does not.
            raise
        except RunwireError as refusal:
            _log.warning("a batch of patches of %s is taken back: %s", intent.run_id, refusal)
            return False
        return True

    async def _tell(self, intent: Intent) -> None:
        patches = [await self._artifacts.get(patch.artifact_id) for patch in intent.patches]
        plan, closing = intent.patches[0].plan, self._applier.ledger.closing(intent)
        if intent.verb == "apply":
            await self._telling.applied(patches, plan.by, closing)
            return
        drafts = [await self._inverses.draft(patch, await self._inverses.base_of(patch)) for patch in patches]
        await self._telling.reverted(patches, drafts, plan.by or "", plan.reason, closing)
