"""Rows of approvals. SQL, nothing else.

Whoever answers looks first: the answer that finds the row pending is the first one, and it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import apsw

Status = Literal["pending", "approved", "denied", "timed_out"]
_COLUMNS = (
    "approval_key, approval_id, run_id, task_id, session_id, agent, workspace, digest, status, requested_ns, expires_ns, "
    "body, answer, resolved_ns"
)


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """An approval as its row keeps it. The key is the database's to give."""

    key: int
    approval_id: str
    run_id: str
    task_id: str
    session_id: str | None
    agent: str
    workspace: str
    digest: bytes
    status: Status
    requested_ns: int
    expires_ns: int | None
    body: bytes
    answer: bytes | None = None
    resolved_ns: int | None = None


def insert_approval(db: apsw.Connection, row: ApprovalRow) -> None:
    """Let a question wait for its answer."""
    db.execute(
        "INSERT INTO approvals (approval_id, run_id, task_id, session_id, agent, workspace, digest, status, requested_ns, "
        "expires_ns, body, answer, resolved_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.approval_id,
            row.run_id,
            row.task_id,
            row.session_id,
            row.agent,
            row.workspace,
            row.digest,
            row.status,
            row.requested_ns,
            row.expires_ns,
            row.body,
            row.answer,
            row.resolved_ns,
        ),
    )


def find_approval(db: apsw.Connection, approval_id: str) -> ApprovalRow | None:
    """The approval of that id."""
    return _one(db, "approval_id = ?", (approval_id,))


def pending_twin(db: apsw.Connection, run_id: str, digest: bytes) -> ApprovalRow | None:
    """The question about the very same call that still waits in a run."""
    return _one(db, "run_id = ? AND digest = ? AND status = 'pending'", (run_id, digest))


def of_call(db: apsw.Connection, run_id: str, tool_call_id: str) -> ApprovalRow | None:
    """The newest approval that a call of a run has been part of."""
    part = "EXISTS (SELECT 1 FROM json_each(CAST(body AS TEXT), '$.tool_call_ids') WHERE value = ?)"
    return _one(db, f"run_id = ? AND {part} ORDER BY approval_key DESC", (run_id, tool_call_id))


def pending_of_run(db: apsw.Connection, run_id: str) -> Sequence[ApprovalRow]:
    """What waits in a run."""
    return _all(db, "run_id = ? AND status = 'pending' ORDER BY approval_key", (run_id,))


def due(db: apsw.Connection, now_ns: int) -> Sequence[ApprovalRow]:
    """What has waited too long."""
    return _all(db, "status = 'pending' AND expires_ns <= ? ORDER BY expires_ns", (now_ns,))


def list_approvals(
    db: apsw.Connection, conditions: Sequence[tuple[str, str]], before: int | None, limit: int
) -> Sequence[ApprovalRow]:
    """Approvals that meet these conditions, each a term with its value, newest first, older than `before`."""
    where = [term for term, _ in conditions]
    values: list[object] = [value for _, value in conditions]
    if before is not None:
        where.append("approval_key < ?")
        values.append(before)
    wanted = " AND ".join(where) or "TRUE"
    return _all(db, f"{wanted} ORDER BY approval_key DESC LIMIT ?", (*values, limit))


def answer_approval(db: apsw.Connection, approval_id: str, status: Status, answer: bytes | None, now_ns: int) -> bool:
    """Settle a question; say whether it was still pending."""
    db.execute(
        "UPDATE approvals SET status = ?, answer = ?, resolved_ns = ? WHERE approval_id = ? AND status = 'pending'",
        (status, answer, now_ns, approval_id),
    )
    return db.changes() == 1


def change_body(db: apsw.Connection, approval_id: str, body: bytes) -> bool:
    """Say more of a question that still waits; say whether it did."""
    db.execute("UPDATE approvals SET body = ? WHERE approval_id = ? AND status = 'pending'", (body, approval_id))
    return db.changes() == 1


def wake_run(db: apsw.Connection, run_id: str) -> None:
    """Let a worker take up a run that gave its place away while it waited for an answer."""
    db.execute("UPDATE queue SET state = 'ready' WHERE run_id = ? AND state = 'parked'", (run_id,))


def _one(db: apsw.Connection, where: str, values: tuple[object, ...]) -> ApprovalRow | None:
    row = db.execute(f"SELECT {_COLUMNS} FROM approvals WHERE {where} LIMIT 1", values).fetchone()
    return None if row is None else ApprovalRow(*row)


def _all(db: apsw.Connection, where: str, values: tuple[object, ...]) -> Sequence[ApprovalRow]:
    return [ApprovalRow(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM approvals WHERE {where}", values)]
