"""Retention: which events may go, by age, count and size. Text pieces that later events repeat go first."""

from collections.abc import Callable
from dataclasses import dataclass

import apsw

from runwire.clock import Clock, rfc3339
from runwire.ids import Ids
from runwire.journal.journal import Journal
from runwire.journal.records import RunInfo
from runwire.journal.store.pruning import Doomed, Plan, carry_out, delete_run, events_of, plan, sizes
from runwire.protocol.catalogue import is_protected
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.events.gap import Anchor, GapEventsPruned
from runwire.protocol.payload import encode_payload
from runwire.protocol.stream import COMPACTABLE

_EVERYTHING = 2**62
_FINISHED = ("completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Policy:
    """What may stay. None sets no limit."""

    max_age_s: float | None = None
    max_events: int | None = None
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What went of one run."""

    run_id: str
    events: int
    through: int
    reason: str


class Retention:
    """Applies policies to the journal. Live readers are told by the marker; nobody is cut off."""

    def __init__(self, *, journal: Journal, clock: Clock, ids: Ids) -> None:
        """Prune this journal."""
        self._journal = journal
        self._clock = clock
        self._ids = ids

    async def apply(self, policy: Policy, *, run_id: str | None = None, dry_run: bool = False) -> list[Pruned]:
        """Prune every run, or one, as far as the policy asks; `dry_run` only tells what would go."""
        await self._journal.keeper.seal_all()
        report: list[Pruned] = []
        if policy.max_age_s is not None:
            report += await self._by_age(policy.max_age_s, run_id, dry_run)
        if policy.max_events is not None:
            report += await self._by_count(policy.max_events, run_id, dry_run)
        if policy.max_bytes is not None:
            report += await self._by_size(policy.max_bytes, run_id, dry_run)
        return report

    async def prune(self, run_id: str, through: int, *, dry_run: bool = False) -> list[Pruned]:
        """Prune one run up to and including a sequence, because an operator says so."""
        await self._journal.keeper.seal_all()
        return await self._prune(run_id, through, lambda *_: True, "operator", dry_run)

    async def delete(self, run_id: str) -> None:
        """Remove a whole run."""
        await self._journal.keeper.seal_all()
        run_key = await self._journal.reader.key(run_id)
        await self._journal.keeper.exclusively(lambda db: delete_run(db, run_key))
        await self._journal.forget(run_id)

    async def _by_age(self, max_age_s: float, only: str | None, dry_run: bool) -> list[Pruned]:
        cutoff = rfc3339(self._clock.now_ns() - int(max_age_s * 1e9))
        report: list[Pruned] = []
        for _, run_id, _, _, _ in await self._runs(only):
            # Both moments are written the same way, so they compare as text.
            report += await self._prune(
                run_id, _EVERYTHING, lambda _s, _t, at: at < cutoff, "retention_window", dry_run
            )
        return report

    async def _by_count(self, max_events: int, only: str | None, dry_run: bool) -> list[Pruned]:
        report: list[Pruned] = []
        for stage in (_compactable, _any):
            for run_key, run_id, _, count, _ in await self._runs(only):
                if count > max_events:
                    # One more than the excess: the marker takes a place itself.
                    oldest = _oldest(run_key, count - max_events + 1, stage)
                    doomed = await self._journal.keeper.exclusively(oldest)
                    report += await self._prune(run_id, _EVERYTHING, doomed, "retention_count", dry_run)
        return report

    async def _by_size(self, max_bytes: int, only: str | None, dry_run: bool) -> list[Pruned]:
        report: list[Pruned] = []
        total = sum(size for *_, size in await self._runs(None))
        for doomed in (_compactable, _any):
            for _, run_id, status, _, before in await self._runs(only):
                if total <= max_bytes:
                    return report
                if status not in _FINISHED:
                    continue
                report += await self._prune(run_id, _EVERYTHING, doomed, "retention_size", dry_run)
                total -= before - sum(size for *_, size in await self._runs(run_id))
        return report

    async def _runs(self, only: str | None) -> list[tuple[int, str, str, int, int]]:
        return [row for row in await self._journal.keeper.exclusively(sizes) if only is None or row[1] == only]

    async def _prune(self, run_id: str, through: int, doomed: Doomed, reason: str, dry_run: bool) -> list[Pruned]:
        info = await self._journal.reader.run(run_id)
        run_key = await self._journal.reader.key(run_id)

        def work(db: apsw.Connection) -> Plan | None:
            found = plan(db, run_key, through, doomed)
            if found is not None and not dry_run:
                carry_out(db, found, lambda first, last, anchors: self._marker(info, first, last, anchors, reason))
            return found

        found = await self._journal.keeper.exclusively(work)
        if found is None:
            return []
        if not dry_run:
            await self._journal.forget(run_id)
        return [Pruned(run_id, len(found.gone), found.through, reason)]

    def _marker(self, info: RunInfo, first: int, last: int, anchors: list[Anchor], reason: str) -> bytes:
        now = rfc3339(self._clock.now_ns())
        marker = GapEventsPruned(
            first_pruned_sequence=first, last_pruned_sequence=last, pruned_at=now, reason=reason, anchors=anchors
        )
        birth = info.birth
        writer = EnvelopeWriter(run_id=birth.run_id, task_id=birth.task_id, session_id=birth.session_id)
        return writer.write(
            event_id=self._ids.new("evt"),
            sequence=last,
            occurred_at=now,
            event_type=GapEventsPruned.type,
            data=encode_payload(marker),
        )


def _compactable(_sequence: int, event_type: str, _occurred_at: str) -> bool:
    return event_type in COMPACTABLE


def _any(_sequence: int, _event_type: str, _occurred_at: str) -> bool:
    return True


def _oldest(run_key: int, excess: int, eligible: Doomed) -> Callable[[apsw.Connection], Doomed]:
    """The oldest `excess` events among those that may go."""

    def choose(db: apsw.Connection) -> Doomed:
        last = -1
        left = excess
        for sequence, event_type, occurred_at in events_of(db, run_key):
            if left and not is_protected(event_type) and eligible(sequence, event_type, occurred_at):
                last, left = sequence, left - 1
        if excess - left < 2:
            # One marker in the place of one event would save nothing.
            return lambda *_: False
        return lambda sequence, event_type, occurred_at: (
            sequence <= last and eligible(sequence, event_type, occurred_at)
        )

    return choose
