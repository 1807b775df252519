"""The queue as a worker sees it: what may be claimed next, and the claim. Who is faster, the store decides."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection

import apsw
from msgspec import UNSET

from runwire.clock import rfc3339
from runwire.errors import Conflict, RunNotFound
from runwire.host import Past
from runwire.journal.bell.topics import control
from runwire.journal.records import Claimed
from runwire.protocol.events.run import RunQueued, RunStarted
from runwire.protocol.events.user import UserMessage
from runwire.runs.budget import spent_by_others
from runwire.runs.claiming import Claiming, Loss, Target, fate_of, loss_of
from runwire.runs.hosting import Ground, Held
from runwire.runs.lease import Lease
from runwire.runs.rows.queue import Candidate, next_deadline, ready_runs, runs_held_by
from runwire.runs.rows.workers import WorkerRow, holders
from runwire.workspace.placing import real_path

_PAGE = 32


class Queue:
    """Finds runs to work on and claims them for one worker."""

    def __init__(
        self, *, ground: Ground, lease: Lease, settle_writes: Callable[[str], Awaitable[object]] | None = None
    ) -> None:
        """Claim under `lease`; `settle_writes` finishes or takes back what a dead worker was writing for a run."""
        self._ground = ground
        self._lease = lease
        self._settle_writes = settle_writes
        self._page: deque[Candidate] = deque()
        self._due = True
        self._more = False
        self._looking = asyncio.Lock()

    def ring(self) -> None:
        """Something may have changed: what is remembered of the queue is looked up again."""
        self._due = True

    async def next(self, held: Collection[str]) -> Candidate | None:
        """The most urgent run that may be claimed and is not held already; None when there is none until a ring."""
        async with self._looking:
            while True:
                if self._due or (self._more and not self._page):
                    self._due = False
                    # A run may end while we look; it is ours in the rows that we see and in nobody's hands after.
                    known = set(held)
                    found = await self._ground.journal.reader.query(self._look)
                    self._page = deque(one for one in found if one.run_id not in known)
                    # A full page says that there may be more behind it.
                    self._more = len(found) >= _PAGE and bool(self._page)
                if not self._page:
                    return None
                candidate = self._page.popleft()
                if candidate.run_id not in held:
                    return candidate

    async def claim(self, candidate: Candidate) -> Held | None:
        """Make the run this worker's. None when another was faster, or when all there was to do was to end it."""
        target = Target(candidate.run_id, candidate.worker_id, candidate.generation, candidate.died)
        loss = await self._loss(target) if candidate.lost else None
        self._ground.probe("claiming")
        began_s, now_ns = asyncio.get_running_loop().time(), self._ground.clock.now_ns()
        renewing = not self._lease.young()
        row = self._lease.row(renewing=renewing)
        claiming = Claiming(target, loss, now_ns, row, renewing=renewing)
        try:
            claimed = await self._ground.journal.claim(candidate.run_id, claiming.tell, also=claiming.also)
        except (Conflict, RunNotFound):
            # The page is out of date. A loss that cannot be told yet is looked at when the next ring or deadline comes.
            self._due = self._due or not candidate.lost
            return None
        self._ground.probe("claimed")
        if renewing:
            self._lease.renewed(row, began_s)
        if claiming.ended is not None:
            for child in claiming.orphans:
                self._ground.journal.signal(control(child))
            self._due = self._due or bool(claiming.orphans)
            return None
        spent = candidate.task.inherited_cost_micros_usd
        if candidate.runs_of_task > 1:
            spent = await spent_by_others(self._ground.journal, candidate.task, candidate.run_id)
        return Held(
            run_id=candidate.run_id,
            task=candidate.task,
            generation=claimed.generation,
            info=claimed.info,
            # As tools know it: rules and grants must mean the same by it.
            workspace=real_path(candidate.place.path),
            mode=candidate.place.mode,
            parent_run_id=candidate.parent_run_id,
            spent_before_micros_usd=spent,
            mail=claiming.mail,
            known=_first_steps(candidate, claimed, row, now_ns),
        )

    async def deadline(self) -> int | None:
        """When something falls due that nobody rings for."""
        now_ns, me = self._ground.clock.now_ns(), self._lease.worker_id
        return await self._ground.journal.reader.query(lambda db: next_deadline(db, now_ns, me))

    def _look(self, db: apsw.Connection) -> list[Candidate]:
        now_ns = self._ground.clock.now_ns()
        lost = [one for worker_id in holders(db) for one in self._lost(db, worker_id, now_ns)]
        return lost + ready_runs(db, now_ns, _PAGE)

    def _lost(self, db: apsw.Connection, worker_id: str, now_ns: int) -> list[Candidate]:
        if worker_id == self._lease.worker_id:
            # Ours, but not held any more: what could not be stored when it ended. The caller leaves out what is held.
            return runs_held_by(db, worker_id, died=True)
        fate = fate_of(db, worker_id, now_ns, folder=self._lease.folder, host=self._lease.host)
        return [] if fate == "lives" else runs_held_by(db, worker_id, died=fate == "died")

    async def _loss(self, target: Target) -> Loss:
        if self._settle_writes is not None:
            await self._settle_writes(target.run_id)
        return await loss_of(self._ground, target.run_id)


def _first_steps(candidate: Candidate, claimed: Claimed, row: WorkerRow, now_ns: int) -> list[Past] | None:
    """All that a task's very first run can hold when it is claimed for the first time: told from its row, not read.

    Nobody has asked for the ids of the two events of its birth, so they are left out. None for every other run.
    """
    state, task, run_id = claimed.info.story.run, candidate.task, candidate.run_id
    said = bool(task.prompt.strip())
    first = candidate.runs_of_task == 1 and state.prior_run_id is None and state.started_ns is None
    if not first or claimed.info.head_sequence != int(said) or state.queued_ns is None:
        return None
    queued = RunQueued(
        kind=task.kind,
        model=state.model,
        provider=state.provider,
        workspace_path=state.workspace_path,
        workspace_mode=state.workspace_mode,
        agent=task.agent,
        input=UNSET if task.kind == "agent_loop" else task.input,
    )
    started = RunStarted(worker_id=row.worker_id, lease_until=rfc3339(row.lease_until_ns))
    past = [Past(run_id, 0, "", state.queued_ns, queued)]
    if said:
        past.append(Past(run_id, 1, "", state.queued_ns, UserMessage(turn_index=0, text=task.prompt)))
    return [*past, Past(run_id, claimed.stored.sequence, claimed.stored.event_id, now_ns, started)]
