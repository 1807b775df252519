"""Rows of the queue: one for each run that is not over. SQL, nothing else.

Whatever changes a row looks first and refuses with an error of ours: a constraint that fails inside a group commit would
take strangers down with it.
"""

from pathlib import Path
from typing import Literal

import apsw
from msgspec import Struct

from runwire.errors import RunActive
from runwire.runs.errors import ClaimLost
from runwire.runs.rows.tasks import Workplace, task_of
from runwire.runs.task import Task

State = Literal["ready", "running", "parked"]

_ENTRY = (
    "run_id, task_id, parent_run_id, state, priority, worker_id, generation, claims, cancel_by, cancel_reason, "
    "workspace, workspace_mode, concurrency"
)
_READY = (
    "SELECT q.run_id, q.worker_id, q.generation, q.claims, q.workspace, q.workspace_mode, q.parent_run_id, t.body, "
    "t.budget_micros_usd, t.inherited_cost_micros_usd, "
    "(SELECT count(*) FROM runs r WHERE r.task_id = q.task_id) FROM queue q JOIN tasks t ON t.task_id = q.task_id "
)
_MAY_GO = (
    "(q.parent_run_id IS NULL OR q.concurrency > (SELECT count(*) FROM queue c WHERE c.task_id = q.task_id "
    "AND c.parent_run_id IS NOT NULL AND c.state = 'running'))"
)


class Entry(Struct, frozen=True):
    """A run that is not over, as the queue knows it."""

    run_id: str
    task_id: str
    parent_run_id: str | None
    state: State
    priority: int
    worker_id: str | None
    generation: int
    claims: int
    cancel_by: str | None
    cancel_reason: str | None
    workspace: str
    workspace_mode: str
    concurrency: int


class Candidate(Struct, frozen=True):
    """A run that may be claimed: one that waits, or one whose worker (`lost`) is gone."""

    run_id: str
    worker_id: str | None
    generation: int
    claims: int
    place: Workplace
    parent_run_id: str | None
    task: Task
    runs_of_task: int
    died: bool = False
    """Whether the worker is known to be dead, and not only late."""

    @property
    def lost(self) -> bool:
        """Whether another worker had it."""
        return self.worker_id is not None


class NewEntry(Struct, frozen=True):
    """A run that is about to wait for a worker."""

    run_id: str
    task_id: str
    place: Workplace
    priority: int = 0
    concurrency: int = 4
    parent_run_id: str | None = None
    not_before_ns: int = 0


def insert_entry(db: apsw.Connection, entry: NewEntry, now_ns: int) -> None:
    """Queue a run; a task that has an active one already is refused."""
    if entry.parent_run_id is None:
        active = active_run(db, entry.task_id)
        if active is not None:
            raise RunActive(active)
    db.execute(
        "INSERT INTO queue (run_id, task_id, parent_run_id, state, priority, queued_ns, not_before_ns, workspace, "
        "workspace_mode, concurrency) VALUES (?, ?, ?, 'ready', ?, ?, ?, ?, ?, ?)",
        (
            entry.run_id,
            entry.task_id,
            entry.parent_run_id,
            entry.priority,
            now_ns,
            entry.not_before_ns,
            str(entry.place.path),
            entry.place.mode,
            entry.concurrency,
        ),
    )


def active_run(db: apsw.Connection, task_id: str) -> str | None:
    """The run of a task that is not over; children do not count."""
    row = db.execute("SELECT run_id FROM queue WHERE task_id = ? AND parent_run_id IS NULL", (task_id,)).fetchone()
    return None if row is None else str(row[0])


def any_run(db: apsw.Connection, task_id: str) -> str | None:
    """Any run of a task that is not over, children included."""
    row = db.execute("SELECT run_id FROM queue WHERE task_id = ? LIMIT 1", (task_id,)).fetchone()
    return None if row is None else str(row[0])


def find_entry(db: apsw.Connection, run_id: str) -> Entry | None:
    """A run's row, or None when it is over or was never queued."""
    row = db.execute(f"SELECT {_ENTRY} FROM queue WHERE run_id = ?", (run_id,)).fetchone()
    return None if row is None else Entry(*row)


def children_of(db: apsw.Connection, run_id: str) -> list[str]:
    """Runs that were started by a run and are not over."""
    return [str(row[0]) for row in db.execute("SELECT run_id FROM queue WHERE parent_run_id = ?", (run_id,))]


def ready_runs(db: apsw.Connection, now_ns: int, limit: int) -> list[Candidate]:
    """What may be claimed now, the most urgent first."""
    rows = db.execute(
        f"{_READY} WHERE q.state = 'ready' AND q.not_before_ns <= ? AND {_MAY_GO} "
        "ORDER BY q.priority DESC, q.queued_ns LIMIT ?",
        (now_ns, limit),
    )
    return [_candidate(row) for row in rows]


def runs_held_by(db: apsw.Connection, worker_id: str, *, died: bool) -> list[Candidate]:
    """The runs that a worker has not given back."""
    rows = db.execute(f"{_READY} WHERE q.worker_id = ? AND q.state = 'running'", (worker_id,))
    return [_candidate(row, died) for row in rows]


def is_room_for(db: apsw.Connection, entry: Entry) -> bool:
    """Whether a child may start beside those of its task that run."""
    if entry.parent_run_id is None:
        return True
    running = db.execute(
        "SELECT count(*) FROM queue WHERE task_id = ? AND parent_run_id IS NOT NULL AND state = 'running'",
        (entry.task_id,),
    ).fetchone()
    return running is None or int(running[0]) < entry.concurrency


def take_free(db: apsw.Connection, run_id: str, worker_id: str, generation: int) -> bool | None:
    """The run is the worker's, if it is ready, no child, and nobody asked to cancel it; say whether there is mail for it.

    None when it is none of that and has to be looked at.
    """
    row = db.execute(
        "UPDATE queue SET state = 'running', worker_id = ?2, generation = ?3, claims = claims + 1 WHERE run_id = ?1 "
        "AND state = 'ready' AND parent_run_id IS NULL AND cancel_by IS NULL "
        "RETURNING EXISTS (SELECT 1 FROM messages m WHERE m.run_id = ?1)",
        (run_id, worker_id, generation),
    ).fetchone()
    return None if row is None else bool(row[0])


def take(db: apsw.Connection, run_id: str, worker_id: str, generation: int) -> None:
    """The run is the worker's."""
    db.execute(
        "UPDATE queue SET state = 'running', worker_id = ?, generation = ?, claims = claims + 1 WHERE run_id = ?",
        (worker_id, generation, run_id),
    )


def give_back(db: apsw.Connection, run_id: str, generation: int) -> None:
    """Let another worker have it; a stay that ended in order does not count as a claim that was lost."""
    _require_held(db, run_id, generation)
    db.execute(
        "UPDATE queue SET state = 'ready', worker_id = NULL, claims = max(0, claims - 1) WHERE run_id = ?", (run_id,)
    )


def park(db: apsw.Connection, run_id: str, generation: int) -> None:
    """Let the run wait for a decision without a worker; ready when the decision has been taken already."""
    _require_held(db, run_id, generation)
    db.execute(
        "UPDATE queue SET worker_id = NULL, claims = max(0, claims - 1), state = CASE WHEN EXISTS "
        "(SELECT 1 FROM approvals a WHERE a.run_id = queue.run_id AND a.status = 'pending') "
        "THEN 'parked' ELSE 'ready' END WHERE run_id = ?",
        (run_id,),
    )


def remove_settled(db: apsw.Connection, run_id: str) -> bool:
    """The run is over, if it waits for no decision and was not over before; say whether that was so."""
    db.execute(
        "DELETE FROM queue WHERE run_id = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM approvals a WHERE a.run_id = ?1 AND a.status = 'pending')",
        (run_id,),
    )
    return db.changes() > 0


def remove_entry(db: apsw.Connection, run_id: str) -> None:
    """The run is over."""
    db.execute("DELETE FROM queue WHERE run_id = ?", (run_id,))


def ask_to_cancel(db: apsw.Connection, run_id: str, by: str, reason: str, now_ns: int) -> None:
    """Tell whoever holds the run to stop; the first who asked stands."""
    db.execute(
        "UPDATE queue SET cancel_by = ?, cancel_reason = ?, cancel_ns = ? WHERE run_id = ? AND cancel_ns IS NULL",
        (by, reason, now_ns, run_id),
    )


def next_deadline(db: apsw.Connection, now_ns: int, worker_id: str) -> int | None:
    """When something falls due that nobody rings for: another worker's lease, an approval, a run held back."""
    row = db.execute(
        "SELECT min(at) FROM (SELECT min(lease_until_ns) AS at FROM workers w WHERE worker_id != ?2 AND EXISTS "
        "(SELECT 1 FROM queue q WHERE q.worker_id = w.worker_id) "
        "UNION ALL SELECT min(expires_ns) FROM approvals WHERE status = 'pending' "
        "UNION ALL SELECT min(not_before_ns) FROM queue WHERE state = 'ready' AND not_before_ns > ?1)",
        (now_ns, worker_id),
    ).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def count_by_state(db: apsw.Connection) -> dict[str, int]:
    """How many runs wait, run and are parked."""
    return dict(db.execute("SELECT state, count(*) FROM queue GROUP BY state"))


def _require_held(db: apsw.Connection, run_id: str, generation: int) -> None:
    row = db.execute(
        "SELECT 1 FROM queue WHERE run_id = ? AND state = 'running' AND generation = ?", (run_id, generation)
    ).fetchone()
    if row is None:
        raise ClaimLost(run_id)


_Row = tuple[str, str | None, int, int, str, str, str | None, bytes, int | None, int, int]


def _candidate(row: _Row, died: bool = False) -> Candidate:
    run_id, worker_id, generation, claims, workspace, mode, parent, body, budget, inherited, runs = row
    task, place = task_of(body, budget, inherited), Workplace(Path(workspace), mode)
    return Candidate(run_id, worker_id, generation, claims, place, parent, task, runs, died)
