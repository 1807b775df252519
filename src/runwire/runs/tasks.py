"""Tasks: made, found, listed and deleted."""

from collections.abc import Callable
from dataclasses import dataclass

import apsw

from runwire.errors import RunActive, RunNotFound, TaskNotFound
from runwire.journal.effects import together
from runwire.journal.records import Effect, RunInfo
from runwire.journal.retention import Retention
from runwire.runs.hosting import Ground
from runwire.runs.rows.queue import any_run
from runwire.runs.rows.tasks import (
    delete_task,
    find_task,
    hidden_tasks,
    hide_task,
    list_tasks,
    own_workplaces,
    runs_of,
)
from runwire.runs.starting import Starter, Workplaces
from runwire.runs.task import NewTask, Task, settled
from runwire.runs.vault import Vault

Accept = Callable[[NewTask], NewTask]
"""Refuses a task that names an agent, a model or a policy that is not there; may settle what was left open."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task and how far it has come."""

    task: Task
    runs: int
    latest_run: RunInfo | None


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some tasks, newest first, and where the next page begins; None at the end."""

    tasks: list[TaskView]
    next_cursor: int | None


class Tasks:
    """Keeps tasks."""

    def __init__(
        self,
        *,
        ground: Ground,
        starter: Starter,
        vault: Vault,
        workplaces: Workplaces,
        retention: Retention,
        accept: Accept,
    ) -> None:
        """Keep tasks whose runs `starter` starts; `accept` looks at each before it is taken."""
        self._ground = ground
        self._starter = starter
        self._vault = vault
        self._workplaces = workplaces
        self._retention = retention
        self._accept = accept

    async def create(self, new: NewTask, *, demo: bool = False, also: Effect | None = None) -> TaskView:
        """Keep a new task and, unless it says otherwise, start its first run: one transaction."""
        new = self._accept(new)
        task = settled(new, task_id=self._ground.ids.new("task"), created_ns=self._ground.clock.now_ns())
        task, values = self._vault.without_secrets(task)
        await self._vault.keep(task.task_id, values)
        storing = together(also, self._starter.storing(task, demo=demo))
        try:
            if new.start:
                run = await self._starter.first(task, attachments=new.attachments, also=storing)
                return TaskView(task, 1, run)
            if storing is not None:
                await self._ground.journal.write(storing)
        except BaseException:
            await self._vault.forget(task.task_id)
            raise
        return TaskView(task, 0, None)

    async def accepted_model(self, task_id: str, model: str | None) -> str | None:
        """The model by the name that every worker understands, if a run of the task may use it instead of its own."""
        if model is None:
            return None
        task = await self.get(task_id)
        asked = NewTask(prompt=task.prompt, agent=task.agent, model=model, budget_micros_usd=task.budget_micros_usd)
        return self._accept(asked).model

    async def get(self, task_id: str) -> Task:
        """One task."""
        task = await self._ground.journal.reader.query(lambda db: find_task(db, task_id))
        if task is None:
            raise TaskNotFound(task_id)
        return task

    async def view(self, task_id: str) -> TaskView:
        """One task and its newest run."""
        return await self._view(await self.get(task_id))

    async def list(
        self,
        *,
        session_id: str | None = None,
        agent: str | None = None,
        demo: bool | None = None,
        cursor: int | None = None,
        limit: int = 100,
    ) -> TaskPage:
        """Tasks, newest first."""
        rows = await self._ground.journal.reader.query(
            lambda db: list_tasks(db, session_id=session_id, agent=agent, demo=demo, before=cursor, limit=limit + 1)
        )
        views = [await self._view(task) for _, task in rows[:limit]]
        return TaskPage(views, rows[limit - 1][0] if len(rows) > limit else None)

    async def delete(self, task_id: str) -> None:
        """Hide a task at once, then remove its runs, the places that were made for it and its secrets."""
        await self.get(task_id)
        now_ns = self._ground.clock.now_ns()

        def hide(db: apsw.Connection) -> None:
            active = any_run(db, task_id)
            if active is not None:
                raise RunActive(active)
            hide_task(db, task_id, now_ns)

        await self._ground.journal.write(hide)
        await self._remove(task_id)

    async def sweep(self) -> int:
        """Finish deletions that a crash cut short; say how many."""
        hidden = await self._ground.journal.reader.query(hidden_tasks)
        for task_id in hidden:
            await self._remove(task_id)
        return len(hidden)

    async def _remove(self, task_id: str) -> None:
        reader = self._ground.journal.reader
        for place in await reader.query(lambda db: own_workplaces(db, task_id)):
            await self._workplaces.remove(place)
        for run_id in await reader.query(lambda db: runs_of(db, task_id)):
            try:
                await self._retention.delete(run_id)
            except RunNotFound:
                continue
        await self._vault.forget(task_id)
        await self._ground.journal.write(lambda db: delete_task(db, task_id))

    async def _view(self, task: Task) -> TaskView:
        reader = self._ground.journal.reader
        ids = await reader.query(lambda db: runs_of(db, task.task_id))
        return TaskView(task, len(ids), await reader.run(ids[-1]) if ids else None)
