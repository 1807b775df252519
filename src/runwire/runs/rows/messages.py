"""Rows of what people said to runs and no loop has taken yet. SQL, nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import apsw


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One text that waits."""

    key: int
    text: str
    by: str
    kind: Literal["message", "rejection"]


def insert_message(db: apsw.Connection, run_id: str, text: str, by: str, kind: str, now_ns: int) -> None:
    """Let a text wait for a run's next turn."""
    db.execute(
        "INSERT INTO messages (run_id, text, by, kind, created_ns) VALUES (?, ?, ?, ?, ?)",
        (run_id, text, by, kind, now_ns),
    )


def waiting_messages(db: apsw.Connection, run_id: str) -> list[MessageRow]:
    """What waits for a run, in the order in which it was said."""
    rows = db.execute(
        "SELECT message_key, text, by, kind FROM messages WHERE run_id = ? ORDER BY message_key", (run_id,)
    )
    return [MessageRow(*row) for row in rows]


def any_message(db: apsw.Connection, run_id: str) -> bool:
    """Whether something waits for a run."""
    return db.execute("SELECT 1 FROM messages WHERE run_id = ? LIMIT 1", (run_id,)).fetchone() is not None


def delete_messages(db: apsw.Connection, keys: Iterable[int]) -> None:
    """The texts have been taken."""
    db.executemany("DELETE FROM messages WHERE message_key = ?", [(key,) for key in keys])


def hand_on_messages(db: apsw.Connection, old_run_id: str, new_run_id: str) -> None:
    """What a run did not live to hear is said to the one that takes it up."""
    db.execute("UPDATE messages SET run_id = ? WHERE run_id = ?", (new_run_id, old_run_id))
