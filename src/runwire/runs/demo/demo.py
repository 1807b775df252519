"""The demonstration: scripted runs that need no model, made once, marked as what they are, and removed without a trace."""

import asyncio
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from runwire.errors import Conflict, NotFound, RunFinished, RunNotFound, TaskNotFound
from runwire.journal.artifact import ArtifactFilter
from runwire.journal.disk import answering, make_folder
from runwire.runs.cancelling import Cancelling
from runwire.runs.demo.scene import Scene
from runwire.runs.demo.scenes import REVIEWED, scenes
from runwire.runs.errors import PermissionNotFound
from runwire.runs.grants import Grants
from runwire.runs.hosting import Ground
from runwire.runs.patches import Patches
from runwire.runs.rows.queue import any_run
from runwire.runs.rows.tasks import demo_tasks, runs_of
from runwire.runs.task import NewTask, WorkspaceSpec
from runwire.runs.tasks import Tasks

BY = "demo"
# A ring may be lost, and nothing rings for a run that is removed.
_LOOK_AGAIN_S = 5.0
_TRIES = 20
# A conversation that is never shortened: what its script says next does not depend on it.
_CAPABILITIES = {"window_tokens": 100_000_000}


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What there is of it."""

    task_ids: list[str]
    run_ids: list[str]
    active: int
    """How many of its runs are not over."""


class Demo:
    """Makes the demonstration and removes it."""

    def __init__(
        self, *, ground: Ground, tasks: Tasks, cancelling: Cancelling, patches: Patches, grants: Grants, folder: Path
    ) -> None:
        """Lay it out in `folder`, which is its own."""
        self._ground = ground
        self._tasks = tasks
        self._cancelling = cancelling
        self._patches = patches
        self._grants = grants
        self._folder = folder
        self._made = asyncio.Event()

    async def find(self) -> Demonstration:
        """What there is of it now."""
        reader = self._ground.journal.reader
        task_ids = await reader.query(demo_tasks)
        run_ids = [run_id for task_id in task_ids for run_id in await self._runs_of(task_id)]
        states = [(await reader.run(run_id)).story for run_id in run_ids]
        return Demonstration(task_ids, run_ids, sum(not story.finished for story in states))

    async def make(self) -> None:
        """Start every scene, in a folder of its own; what is there of an earlier demonstration goes first."""
        await self.remove()
        for scene in scenes():
            await self._tasks.create(await asyncio.to_thread(self._lay_out, scene), demo=True)
        self._made.set()

    async def attend(self) -> None:
        """Do what a person would have done in each demonstration that is made, until cancelled."""
        while True:
            await self._made.wait()
            self._made.clear()
            # It may be removed at any moment.
            with suppress(NotFound, Conflict):
                await self._decide()

    async def remove(self) -> None:
        """End its runs and remove all that there is of it: tasks, runs, what was allowed in its folder, the folder."""
        task_ids = await self._ground.journal.reader.query(demo_tasks)
        for task_id in task_ids:
            await self._stop(task_id)
            with suppress(TaskNotFound):
                await self._tasks.delete(task_id)
        if task_ids:
            await self._ground.artifacts.prune()
        for grant in await self._grants.list():
            if Path(grant.workspace).is_relative_to(self._folder):
                with suppress(PermissionNotFound):
                    await self._grants.revoke(grant.grant_id)
        if self._folder.exists():
            with answering():
                await asyncio.to_thread(shutil.rmtree, self._folder)

    async def _decide(self) -> None:
        """Apply one of the patches once they are proposed, so that there is one of either kind to look at."""
        for task_id in await self._ground.journal.reader.query(demo_tasks):
            place = (await self._tasks.get(task_id)).workspace.path
            if place != str(self._workspace(REVIEWED)):
                continue
            for run_id in await self._runs_of(task_id):
                await self._end_of(run_id)
            which = ArtifactFilter(kind="patch", task_id=task_id, status="proposed")
            proposed = (await self._ground.artifacts.list(which, cursor=None, limit=100)).artifacts
            # They are listed from the newest, and the first one stands by itself.
            await self._patches.apply([artifact.artifact_id for artifact in proposed[-1:]], by=BY)

    async def _stop(self, task_id: str) -> None:
        reader = self._ground.journal.reader
        for _ in range(_TRIES):
            active = await reader.query(lambda db: any_run(db, task_id))
            if active is None:
                return
            # It may end by itself meanwhile.
            with suppress(RunFinished, RunNotFound):
                await self._cancelling.cancel(active, by=BY, reason="the demonstration is removed")

    async def _runs_of(self, task_id: str) -> list[str]:
        return await self._ground.journal.reader.query(lambda db: runs_of(db, task_id))

    async def _end_of(self, run_id: str) -> None:
        while True:
            # Listen before reading: the end may come between the two.
            ring = self._ground.journal.bell.listen(run_id, _LOOK_AGAIN_S)
            if (await self._ground.journal.reader.run(run_id)).story.finished:
                return
            await ring

    def _workspace(self, name: str) -> Path:
        return self._folder / name / "workspace"

    def _lay_out(self, scene: Scene) -> NewTask:
        workspace = self._workspace(scene.name)
        script = workspace.with_name("script.json")
        played = {"turns": scene.turns, "children": scene.children, "capabilities": _CAPABILITIES}
        with answering():
            make_folder(workspace)
            for name, text in scene.files.items():
                (workspace / name).write_text(text)
            script.write_bytes(msgspec.json.encode(played))
        return NewTask(
            prompt=scene.prompt,
            title=scene.title,
            model=f"scripted:{script}",
            workspace=WorkspaceSpec(path=str(workspace), mode="in_place"),
            policy=None if scene.policy is None else dict(scene.policy),
            budget_micros_usd=scene.budget_micros_usd,
            experimental=list(scene.experimental),
            max_turns=scene.max_turns,
        )
