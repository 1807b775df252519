"""Rows of workers: how long each may keep the runs it holds. SQL, nothing else."""

from collections.abc import Sequence

import apsw
from msgspec import Struct


class WorkerRow(Struct, frozen=True):
    """A worker that holds runs, or did a moment ago."""

    worker_id: str
    pid: int
    host: str
    started_ns: int
    lease_until_ns: int


def renew(db: apsw.Connection, row: WorkerRow) -> None:
    """Say until when the worker's runs are its own."""
    db.execute(
        "INSERT INTO workers (worker_id, pid, host, started_ns, lease_until_ns) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (worker_id) DO UPDATE SET lease_until_ns = max(lease_until_ns, excluded.lease_until_ns)",
        (row.worker_id, row.pid, row.host, row.started_ns, row.lease_until_ns),
    )


def find_worker(db: apsw.Connection, worker_id: str) -> WorkerRow | None:
    """One worker."""
    row = db.execute(f"{_SELECT} WHERE worker_id = ?", (worker_id,)).fetchone()
    return None if row is None else WorkerRow(*row)


def leases_of(db: apsw.Connection, run_ids: Sequence[str]) -> dict[str, int]:
    """Until when the runs that somebody holds are that worker's own."""
    marks = ",".join("?" * len(run_ids))
    rows = db.execute(
        "SELECT q.run_id, w.lease_until_ns FROM queue q JOIN workers w ON w.worker_id = q.worker_id "
        f"WHERE q.run_id IN ({marks})",
        tuple(run_ids),
    )
    return {str(run_id): int(until_ns) for run_id, until_ns in rows}


def list_workers(db: apsw.Connection) -> list[WorkerRow]:
    """Every worker that holds a lease, or did and was lost."""
    return [WorkerRow(*row) for row in db.execute(f"{_SELECT} ORDER BY worker_id")]


def holders(db: apsw.Connection) -> list[str]:
    """Every worker that some run is held by, whether it has a row or not."""
    return [str(row[0]) for row in db.execute("SELECT DISTINCT worker_id FROM queue WHERE worker_id IS NOT NULL")]


def remove(db: apsw.Connection, worker_id: str) -> None:
    """Forget a worker that holds nothing."""
    db.execute(
        "DELETE FROM workers WHERE worker_id = ?1 AND NOT EXISTS (SELECT 1 FROM queue WHERE worker_id = ?1)",
        (worker_id,),
    )


_SELECT = "SELECT worker_id, pid, host, started_ns, lease_until_ns FROM workers"
