"""Rows of standing grants. SQL, nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import apsw
import msgspec

from runwire.runs.rows.tasks import find_task

_R = TypeVar("_R")
_SCRATCH = "scratch"
_COLUMNS = "grant_id, agent, workspace, scope, scope_id, rule, made_by, approval_id, created_ns, revoked_ns, used"


@dataclass(frozen=True, slots=True)
class GrantRow:
    """A grant as its row keeps it."""

    grant_id: str
    agent: str
    workspace: str
    scope: Literal["session", "task", "always"]
    scope_id: str | None
    rule: bytes
    made_by: str
    approval_id: str | None
    created_ns: int
    revoked_ns: int | None = None
    used: int = 0


def decode_rule(stored: bytes, rule: type[_R]) -> _R:
    """A rule from its bytes."""
    return msgspec.json.decode(stored, type=rule)


def insert_grant(db: apsw.Connection, row: GrantRow) -> None:
    """Let a grant stand from now on."""
    db.execute(
        "INSERT INTO grants (grant_id, agent, workspace, scope, scope_id, rule, made_by, approval_id, created_ns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.grant_id,
            row.agent,
            row.workspace,
            row.scope,
            row.scope_id,
            row.rule,
            row.made_by,
            row.approval_id,
            row.created_ns,
        ),
    )


def ground_of(db: apsw.Connection, task_id: str, workspace: str) -> str:
    """What a workspace stands on: itself or, since copies are made anew for every run, what it is a copy of."""
    task = find_task(db, task_id)
    if task is None or task.workspace.mode in {None, "in_place"}:
        return workspace
    # A copy is not what it was copied from: what may be done to the one may not be done to the other.
    return _SCRATCH if task.workspace.mode == "scratch" else f"{task.workspace.mode}:{task.workspace.path}"


def insert_standing(db: apsw.Connection, row: GrantRow, task_id: str) -> None:
    """Let a grant stand where its workspace stands. One for ever holds in no other empty folder than its own."""
    ground = ground_of(db, task_id, row.workspace)
    insert_grant(db, row if row.scope == "always" and ground == _SCRATCH else replace(row, workspace=ground))


def live_grants(
    db: apsw.Connection, agent: str, grounds: Sequence[str], scope_ids: Sequence[str | None]
) -> Sequence[GrantRow]:
    """The grants that stand for an agent on these grounds: for ever, or for one of these tasks and sessions."""
    wanted = [one for one in scope_ids if one is not None]
    marks, places = ", ".join("?" * len(wanted)), ", ".join("?" * len(grounds))
    found = db.execute(
        f"SELECT {_COLUMNS} FROM grants WHERE agent = ? AND workspace IN ({places}) AND revoked_ns IS NULL "
        f"AND (scope = 'always' OR scope_id IN ({marks})) ORDER BY created_ns, grant_id",
        (agent, *grounds, *wanted),
    )
    return [GrantRow(*row) for row in found]


def standing_grants(db: apsw.Connection) -> Sequence[GrantRow]:
    """Every grant that has not been revoked."""
    found = db.execute(f"SELECT {_COLUMNS} FROM grants WHERE revoked_ns IS NULL ORDER BY created_ns, grant_id")
    return [GrantRow(*row) for row in found]


def revoke_grant(db: apsw.Connection, grant_id: str, now_ns: int) -> bool:
    """End a grant; say whether it stood."""
    db.execute("UPDATE grants SET revoked_ns = ? WHERE grant_id = ? AND revoked_ns IS NULL", (now_ns, grant_id))
    return db.changes() == 1


def count_use(db: apsw.Connection, grant_id: str) -> bool:
    """Count a use of a grant; say whether it still stands."""
    db.execute("UPDATE grants SET used = used + 1 WHERE grant_id = ? AND revoked_ns IS NULL", (grant_id,))
    return db.changes() == 1
