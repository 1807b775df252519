"""Having work done: tasks and the runs that carry them out."""

from collections.abc import Mapping, Sequence

import msgspec

from runwire.client.answers import Listing, Run, Task, UsageReport
from runwire.client.calls import Calls, given, segment
from runwire.errors import Conflict


class RunElsewhere(Conflict):
    """The run was taken in from elsewhere and belongs to no task, so it can only be watched."""

    code = "run_elsewhere"
    hint = "speak to its agent where that runs"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"{run_id} was taken in from elsewhere, so it can only be watched from here")


class Working(Calls):
    """Starts, steers and ends runs."""

    async def create_task(self, wishes: Mapping[str, object]) -> Task:
        """Make a task and, unless it says otherwise, start its first run."""
        return await self._post("/tasks", Task, msgspec.json.encode(wishes))

    async def tasks(self, *, limit: int | None = None, cursor: str | None = None, **filters: str) -> Listing:
        """Tasks, newest first, each as raw JSON."""
        return await self._get("/tasks", Listing, given(limit=limit, cursor=cursor, **filters))

    async def task(self, task_id: str) -> Task:
        """One task."""
        return await self._get(f"/tasks/{segment(task_id)}", Task)

    async def delete_task(self, task_id: str) -> None:
        """Remove a task with all its runs."""
        await self._delete(f"/tasks/{segment(task_id)}")

    async def start(self, task_id: str) -> Run:
        """Start another run of a task."""
        return await self._ask(f"/tasks/{segment(task_id)}/runs", Run)

    async def cancel(self, run: Run, *, reason: str | None = None) -> Run:
        """End a run that is not over."""
        return await self._ask(f"{_path(run)}/cancel", Run, reason=reason)

    async def retry(self, run: Run) -> Run:
        """Do the same again, from nothing."""
        return await self._ask(f"{_path(run)}/retry", Run)

    async def resume(
        self, run: Run, *, from_sequence: int | None = None, checkpoint_id: str | None = None, branch: bool = False
    ) -> Run:
        """Go on in a new run from a place in an old one: its last checkpoint unless another is named."""
        return await self._ask(
            f"{_path(run)}/resume",
            Run,
            from_sequence=from_sequence,
            checkpoint_id=checkpoint_id,
            branch=branch or None,
        )

    async def go_on(self, run: Run, prompt: str, *, attachments: Sequence[Mapping[str, str]] = ()) -> Run:
        """Say something more to a run that is over: a new one goes on from its end. Files may go with it, as with a task."""
        return await self._ask(f"{_path(run)}/continue", Run, prompt=prompt, attachments=list(attachments) or None)

    async def say(self, run: Run, text: str) -> None:
        """Say something to a live run; it hears it before its next turn."""
        await self._ask(f"{_path(run)}/messages", msgspec.Raw, text=text)

    async def usage(self, group_by: str, *, since: str | None = None) -> UsageReport:
        """What was used."""
        return await self._get("/usage", UsageReport, given(group_by=group_by, since=since))

    async def audit(self, *, cursor: str | None = None, **filters: str) -> Listing:
        """A page of what was done and by whom, each fact as raw JSON."""
        return await self._get("/audit", Listing, given(cursor=cursor, **filters))

    async def agents(self) -> Listing:
        """Every known agent as raw JSON."""
        return await self._get("/agents", Listing)

    async def panes(self, *, limit: int | None = None, cursor: str | None = None) -> Listing:
        """Every run at a glance, each as raw JSON."""
        return await self._get("/panes", Listing, given(limit=limit, cursor=cursor))


def _path(run: Run) -> str:
    if run.task_id is None:
        raise RunElsewhere(run.run_id)
    return f"/tasks/{segment(run.task_id)}/runs/{segment(run.run_id)}"
