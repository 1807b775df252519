"""Taking a run over: from nobody, from a worker that is gone, or only to end it. Decided inside one transaction."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import apsw
from msgspec import Struct

from runwire.clock import rfc3339
from runwire.errors import RunFinished
from runwire.host import Failed
from runwire.journal.records import RunInfo
from runwire.protocol.envelope import occurred_at_of, sequence_of
from runwire.protocol.events.run import RunStarted
from runwire.protocol.moment import nanoseconds
from runwire.protocol.payload import Payload
from runwire.runs.ending import cancelled, denials, deny_pending, terminal, totals
from runwire.runs.errors import ClaimLost
from runwire.runs.hosting import Ground
from runwire.runs.lease import worker_lives
from runwire.runs.past import stored_events, told
from runwire.runs.recovering import LeftOpen, story_of_loss
from runwire.runs.rows.messages import any_message
from runwire.runs.rows.queue import (
    Entry,
    ask_to_cancel,
    children_of,
    find_entry,
    is_room_for,
    remove_entry,
    take,
    take_free,
)
from runwire.runs.rows.workers import WorkerRow, find_worker, renew

_CLAIMS_MAX = 5
LEASE_EXPIRED = "worker_lease_expired"
WORKER_DIED = "worker_died"

Fate = Literal["lives", "late", "died"]


class Target(Struct, frozen=True):
    """A run that is to change hands, as it stood when that was decided."""

    run_id: str
    worker_id: str | None = None
    """Who had it; None when nobody did."""
    generation: int = 0
    died: bool = False
    """Whether that worker is known to be dead, and not only late."""


class Loss(Struct, frozen=True):
    """What another worker left behind, as of a place in the log."""

    left: LeftOpen
    head: int


def fate_of(db: apsw.Connection, worker_id: str, now_ns: int, *, folder: Path, host: str) -> Fate:
    """What became of a worker: its lock says whether it lives, its lease whether it may keep its runs."""
    row = find_worker(db, worker_id)
    if row is None or (row.host == host and not worker_lives(folder, worker_id)):
        return "died"
    return "late" if row.lease_until_ns <= now_ns else "lives"


async def loss_of(ground: Ground, run_id: str) -> Loss:
    """What a run has under way that nobody works on any more."""
    # Its last events may be another process's, which nobody has rung for.
    await ground.journal.foreign()
    left, head = LeftOpen(), -1
    async for envelope in stored_events(ground.journal, run_id):
        head = sequence_of(envelope)
        payload = told(envelope)
        if payload is not None:
            left.note(payload, nanoseconds(occurred_at_of(envelope)))
    return Loss(left, head)


class Ending:
    """Ends runs that were asked to stop and that no living worker holds."""

    def __init__(self, *, ground: Ground, folder: Path, host: str) -> None:
        """Tell by the locks in `folder` which workers of this `host` live."""
        self._ground = ground
        self._folder = folder
        self._host = host

    async def end(self, run_id: str) -> bool:
        """Tell the end of a cancelled run if nobody holds it; say whether nobody did. One that has moved is a Conflict."""
        now_ns = self._ground.clock.now_ns()
        entry, fate = await self._ground.journal.reader.query(lambda db: self._look(db, run_id, now_ns))
        if entry is None:
            return True
        if fate == "lives":
            return False
        target = Target(run_id, entry.worker_id, entry.generation, fate == "died")
        loss = None if entry.worker_id is None else await loss_of(self._ground, run_id)
        claiming = Claiming(target, loss, now_ns)
        await self._ground.journal.claim(run_id, claiming.tell, also=claiming.also)
        return True

    def _look(self, db: apsw.Connection, run_id: str, now_ns: int) -> tuple[Entry | None, Fate]:
        entry = find_entry(db, run_id)
        if entry is None or entry.worker_id is None:
            return entry, "died"
        return entry, fate_of(db, entry.worker_id, now_ns, folder=self._folder, host=self._host)


class Claiming:
    """One attempt at a run. Both halves run inside the transaction, rows first, and may run again in another one."""

    def __init__(
        self, target: Target, loss: Loss | None, now_ns: int, row: WorkerRow | None = None, *, renewing: bool = True
    ) -> None:
        """Take the run for the worker of `row`, renewing its lease, or without one only to end it."""
        self._renewing = renewing
        self._target = target
        self._row = row
        self._loss = loss
        self._now_ns = now_ns
        self._entry: Entry | None = None
        self.ended: str | None = None
        self.mail = False
        self.orphans: list[str] = []
        """Its children, which were asked to stop with it; whoever holds them is to be told."""

    def also(self, db: apsw.Connection, generation: int) -> None:
        """Take the row, unless it has moved on."""
        run_id = self._target.run_id
        was_held = self._target.worker_id is not None
        if self._row is not None and not was_held and self._take_free(db, self._row, generation):
            return
        entry = self._entry = find_entry(db, run_id)
        if entry is None or not (self._is_lost(db, entry) if was_held else self._is_free(db, entry)):
            raise ClaimLost(run_id)
        self.ended = None
        if entry.cancel_by is not None:
            self.ended = "cancelled"
        elif was_held and entry.claims >= _CLAIMS_MAX:
            self.ended = "failed"
        if self.ended is None:
            if self._row is None:
                raise ClaimLost(run_id)
            take(db, run_id, self._row.worker_id, generation)
            self.mail = any_message(db, run_id)
            if self._renewing:
                renew(db, self._row)
        else:
            by, why = self._who()
            deny_pending(db, run_id, by=by, comment=why, now_ns=self._now_ns)
            self.orphans = children_of(db, run_id)
            for child in self.orphans:
                ask_to_cancel(db, child, by, "the run that it worked for has ended", self._now_ns)
            remove_entry(db, run_id)

    def _take_free(self, db: apsw.Connection, row: WorkerRow, generation: int) -> bool:
        """Take a run that simply waits, as nearly all do, with one statement; False when there is more to it."""
        mail = take_free(db, self._target.run_id, row.worker_id, generation)
        if mail is None:
            return False
        self._entry, self.ended, self.mail = None, None, mail
        if self._renewing:
            renew(db, row)
        return True

    def tell(self, info: RunInfo) -> Sequence[Payload]:
        """What the claim says: that the run starts, before that what became of its last worker; or that it is over."""
        lines: list[Payload] = []
        if self._loss is not None:
            lines += self._told_of_loss(info, self._loss)
        if self.ended is None and self._row is not None:
            started = RunStarted(worker_id=self._row.worker_id, lease_until=rfc3339(self._row.lease_until_ns))
            return [*lines, started]
        if info.story.finished:
            raise RunFinished(info.birth.run_id)
        state = info.story.run
        sums = totals(
            turns=state.turns, cost_micros_usd=state.cost_micros_usd, started_ns=state.started_ns, now_ns=self._now_ns
        )
        by, why = self._who()
        lines += denials([one.approval_id for one in state.pending_approvals], by=by, comment=why)
        entry = self._entry
        if self.ended == "cancelled" and entry is not None:
            return [*lines, cancelled(entry.cancel_by or "operator", entry.cancel_reason or "", sums)]
        message = f"{_CLAIMS_MAX} workers were lost over this run"
        return [*lines, terminal(Failed("worker_lost", message, retriable=True), sums)]

    def _who(self) -> tuple[str, str]:
        by = self._entry.cancel_by if self._entry is not None else None
        return (by, "run cancelled") if by is not None else ("system", "run failed")

    def _told_of_loss(self, info: RunInfo, loss: Loss) -> Sequence[Payload]:
        if info.head_sequence != loss.head:
            raise ClaimLost(info.birth.run_id)
        reason = WORKER_DIED if self._target.died else LEASE_EXPIRED
        return story_of_loss(info, loss.left, self._now_ns, reason=reason, will_retry=self.ended is None)

    def _is_free(self, db: apsw.Connection, entry: Entry) -> bool:
        if self._row is None:
            return entry.state != "running"
        return entry.state == "ready" and is_room_for(db, entry)

    def _is_lost(self, db: apsw.Connection, entry: Entry) -> bool:
        target = self._target
        if (entry.state, entry.worker_id, entry.generation) != ("running", target.worker_id, target.generation):
            return False
        row = None if target.died else find_worker(db, entry.worker_id or "")
        # It may have come back to life since we looked.
        return row is None or row.lease_until_ns <= self._now_ns
