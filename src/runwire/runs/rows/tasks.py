"""Rows of tasks, sessions and workplaces. SQL, nothing else."""

from collections.abc import Collection
from pathlib import Path

import apsw
import msgspec
from msgspec import Struct

from runwire.runs.task import Task, decode_task

_TASK = "task_key, body, budget_micros_usd, inherited_cost_micros_usd"


class Workplace(Struct, frozen=True):
    """Where a run works, and what it was made from."""

    path: Path
    mode: str
    source: Path | None = None


class Label(Struct, frozen=True):
    """What a task is called, and whether it is a demonstration."""

    title: str
    demo: bool


class Session(Struct, frozen=True):
    """What holds several tasks together."""

    session_id: str
    title: str
    created_ns: int
    tasks: int


def insert_task(db: apsw.Connection, task: Task, body: bytes, *, demo: bool = False) -> None:
    """A new task, and the session that it names if that is new, too."""
    if task.session_id is not None:
        db.execute(
            "INSERT INTO sessions (session_id, title, created_ns) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (task.session_id, task.title, task.created_ns),
        )
    db.execute(
        "INSERT INTO tasks (task_id, session_id, created_ns, budget_micros_usd, inherited_cost_micros_usd, agent, demo, "
        "body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            task.task_id,
            task.session_id,
            task.created_ns,
            task.budget_micros_usd,
            task.inherited_cost_micros_usd,
            task.agent,
            int(demo),
            body,
        ),
    )


def task_of(body: bytes, budget: int | None, inherited: int) -> Task:
    """A task as its row tells it: what may change stands in columns."""
    task = decode_task(body)
    if task.budget_micros_usd == budget and task.inherited_cost_micros_usd == inherited:
        return task
    return msgspec.structs.replace(task, budget_micros_usd=budget, inherited_cost_micros_usd=inherited)


def find_task(db: apsw.Connection, task_id: str) -> Task | None:
    """A task that has not been deleted."""
    row = db.execute(f"SELECT {_TASK} FROM tasks WHERE task_id = ? AND deleted_ns IS NULL", (task_id,)).fetchone()
    return None if row is None else task_of(*row[1:])


def labels_of(db: apsw.Connection, task_ids: Collection[str]) -> dict[str, Label]:
    """What some tasks are called; those that are gone are left out."""
    places = ", ".join("?" * len(task_ids))
    rows = db.execute(f"SELECT task_id, body, demo FROM tasks WHERE task_id IN ({places})", tuple(task_ids))
    return {task_id: Label(decode_task(body).title, bool(demo)) for task_id, body, demo in rows}


def is_demo(db: apsw.Connection, task_id: str) -> bool:
    """Whether a task belongs to the demonstration."""
    row = db.execute("SELECT demo FROM tasks WHERE task_id = ?", (task_id,)).fetchone()
    return row is not None and bool(row[0])


def demo_tasks(db: apsw.Connection) -> list[str]:
    """The tasks of the demonstration, oldest first."""
    return [str(row[0]) for row in db.execute("SELECT task_id FROM tasks WHERE demo AND deleted_ns IS NULL")]


def list_tasks(
    db: apsw.Connection,
    *,
    session_id: str | None,
    agent: str | None,
    before: int | None,
    limit: int,
    demo: bool | None = None,
) -> list[tuple[int, Task]]:
    """Tasks, newest first, each with the key that the next page goes on from."""
    rows = db.execute(
        f"SELECT {_TASK} FROM tasks WHERE deleted_ns IS NULL AND (?1 IS NULL OR session_id = ?1) "
        "AND (?2 IS NULL OR agent = ?2) AND (?3 IS NULL OR demo = ?3) AND (?4 IS NULL OR task_key < ?4) "
        "ORDER BY task_key DESC LIMIT ?5",
        (session_id, agent, demo, before, limit),
    )
    return [(key, task_of(*rest)) for key, *rest in rows]


def raise_budget(db: apsw.Connection, task_id: str, budget_micros_usd: int) -> None:
    """Set the ceiling of a task."""
    db.execute("UPDATE tasks SET budget_micros_usd = ? WHERE task_id = ?", (budget_micros_usd, task_id))


def hide_task(db: apsw.Connection, task_id: str, now_ns: int) -> None:
    """Let nobody see the task any more."""
    db.execute("UPDATE tasks SET deleted_ns = ? WHERE task_id = ? AND deleted_ns IS NULL", (now_ns, task_id))


def hidden_tasks(db: apsw.Connection) -> list[str]:
    """Tasks whose deletion has begun."""
    return [str(row[0]) for row in db.execute("SELECT task_id FROM tasks WHERE deleted_ns IS NOT NULL")]


def delete_task(db: apsw.Connection, task_id: str) -> None:
    """Remove all that these rows say of a task. Its runs and artifacts are the journal's."""
    db.execute("DELETE FROM messages WHERE run_id IN (SELECT run_id FROM workplaces WHERE task_id = ?)", (task_id,))
    for table in ("approvals", "workplaces", "tasks"):
        db.execute(f"DELETE FROM {table} WHERE task_id = ?", (task_id,))
    db.execute("DELETE FROM grants WHERE scope = 'task' AND scope_id = ?", (task_id,))


def runs_of(db: apsw.Connection, task_id: str) -> list[str]:
    """Every run of a task, oldest first."""
    return [str(row[0]) for row in db.execute("SELECT run_id FROM runs WHERE task_id = ? ORDER BY run_key", (task_id,))]


def branches_of(db: apsw.Connection, run_ids: Collection[str]) -> list[str]:
    """Every task with a run that takes up one of these. Only the state of a run says so: most say nothing of the kind."""
    places = ", ".join("?" * len(run_ids))
    rows = db.execute(
        "SELECT DISTINCT task_id FROM runs WHERE task_id IS NOT NULL "
        'AND instr(state, CAST(\'"prior_run_id":"\' AS BLOB)) '
        f"AND json_extract(CAST(state AS TEXT), '$.run.prior_run_id') IN ({places})",
        tuple(run_ids),
    )
    return [str(row[0]) for row in rows]


def insert_workplace(db: apsw.Connection, run_id: str, task_id: str, place: Workplace, now_ns: int) -> None:
    """Where a new run works."""
    source = None if place.source is None else str(place.source)
    db.execute(
        "INSERT INTO workplaces (run_id, task_id, path, mode, source, made_ns) VALUES (?, ?, ?, ?, ?, ?)",
        (run_id, task_id, str(place.path), place.mode, source, now_ns),
    )


def find_workplace(db: apsw.Connection, run_id: str) -> Workplace | None:
    """Where a run works or worked."""
    row = db.execute("SELECT path, mode, source FROM workplaces WHERE run_id = ?", (run_id,)).fetchone()
    return None if row is None else _place(row)


def own_workplaces(db: apsw.Connection, task_id: str) -> list[Workplace]:
    """Every place that was made for a task and that no other task uses. Runs that take another up share its place."""
    rows = db.execute(
        "SELECT DISTINCT path, mode, source FROM workplaces mine WHERE task_id = ?1 AND mode != 'in_place' "
        "AND NOT EXISTS (SELECT 1 FROM workplaces other WHERE other.path = mine.path AND other.task_id != ?1)",
        (task_id,),
    )
    return [_place(row) for row in rows]


def find_session(db: apsw.Connection, session_id: str) -> Session | None:
    """One session."""
    row = db.execute(f"{_SESSION} WHERE session_id = ?", (session_id,)).fetchone()
    return None if row is None else Session(*row)


def list_sessions(db: apsw.Connection, limit: int) -> list[Session]:
    """The newest sessions."""
    return [Session(*row) for row in db.execute(f"{_SESSION} ORDER BY created_ns DESC LIMIT ?", (limit,))]


_SESSION = (
    "SELECT session_id, title, created_ns, (SELECT count(*) FROM tasks WHERE tasks.session_id = sessions.session_id "
    "AND deleted_ns IS NULL) FROM sessions"
)


def _place(row: tuple[str, str, str | None]) -> Workplace:
    path, mode, source = row
    return Workplace(Path(path), mode, None if source is None else Path(source))
