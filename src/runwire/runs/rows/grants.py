"""Rows of standing grants. SQL, nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import apsw
import msgspec

_R = TypeVar("_R")
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


def live_grants(db: apsw.Connection, agent: str, workspace: str, scope_ids: Sequence[str | None]) -> Sequence[GrantRow]:
    """The grants that stand for an agent in a workspace: for ever, or for one of these tasks and sessions."""
    wanted = [one for one in scope_ids if one is not None]
    marks = ", ".join("?" * len(wanted))
    found = db.execute(
        f"SELECT {_COLUMNS} FROM grants WHERE agent = ? AND workspace = ? AND revoked_ns IS NULL "
        f"AND (scope = 'always' OR scope_id IN ({marks})) ORDER BY created_ns, grant_id",
        (agent, workspace, *wanted),
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
