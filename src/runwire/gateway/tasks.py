"""Tasks as resources: made, shown, listed, deleted."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.clock import rfc3339
from runwire.errors import Forbidden
from runwire.gateway.call import Call
from runwire.gateway.json import json_response, require_shallow
from runwire.gateway.parameters import flag, limit, name, number_cursor
from runwire.gateway.runs import RunResource, resources
from runwire.gateway.services import Services
from runwire.journal.records import Effect
from runwire.runs.policies import names_commands
from runwire.runs.rows.tasks import labels_of
from runwire.runs.task import NewTask, WorkspaceSpec
from runwire.runs.tasks import TaskView

Fields = dict[str, object]
LIMIT_DEFAULT = 50
LIMIT_MAX = 500


class TaskResource(msgspec.Struct, frozen=True, kw_only=True):
    """One task, and the newest of its runs."""

    object: Literal["task"] = "task"
    task_id: str
    title: str
    kind: str
    agent: str
    prompt: str
    model: str | None
    workspace: WorkspaceSpec
    session_id: str | None
    budget_micros_usd: int | None
    policy: str | Fields | None
    mcp_servers: list[str]
    env_keys: list[str]
    timeout_s: float | None
    experimental: list[str]
    input: Fields
    priority: int
    concurrency: int
    max_turns: int | None
    demo: bool
    """Whether it belongs to the demonstration."""
    created_at: str
    runs: int
    latest_run: RunResource | None


class TaskList(msgspec.Struct, frozen=True, kw_only=True):
    """Some tasks, newest first."""

    object: Literal["list"] = "list"
    data: list[TaskResource]
    has_more: bool
    next_cursor: str | None


async def create_task(services: Services, call: Call) -> Response:
    """Keep a task and, unless it says otherwise, start it."""
    limit_bytes = services.config.body_limit_bytes
    new = await call.json(NewTask, limit_bytes)
    require_shallow(await call.body(limit_bytes))
    (made,) = await _answered([await keep_task(services, call, new)], services)
    return json_response(made, 201)


async def keep_task(services: Services, call: Call, new: NewTask) -> TaskView:
    """Keep a task for its caller, who must have the right to all that it would do."""
    # A command hook is run by the gateway itself, outside of any sandbox.
    if new.policy is not None and names_commands(new.policy) and not _is_admin(call):
        raise Forbidden("admin")
    return await services.runtime.tasks.create(new, also=claiming(services, call))


async def show_task(services: Services, call: Call) -> Response:
    """One task."""
    (found,) = await _answered([await services.runtime.tasks.view(call.path["task_id"])], services)
    return json_response(found)


async def list_tasks(services: Services, call: Call) -> Response:
    """Tasks, newest first."""
    cursor = call.query.get("cursor")
    page = await services.runtime.tasks.list(
        session_id=name(call, "session_id"),
        agent=name(call, "agent"),
        demo=flag(call, "demo"),
        cursor=None if cursor is None else number_cursor(cursor),
        limit=limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX),
    )
    following = None if page.next_cursor is None else str(page.next_cursor)
    data = await _answered(page.tasks, services)
    return json_response(TaskList(data=data, has_more=following is not None, next_cursor=following))


async def delete_task(services: Services, call: Call) -> Response:
    """Remove a task with all its runs."""
    await services.runtime.tasks.delete(call.path["task_id"])
    return Response(status_code=204)


def claiming(services: Services, call: Call) -> Effect | None:
    """What keeps a request under its key from being carried out twice, for the transaction that carries it out."""
    return None if call.asked is None else services.replies.claim(call.asked)


def caller_of(call: Call) -> str:
    """The name under which the caller's deeds are told."""
    return "operator" if call.caller is None or _is_admin(call) else call.caller.name


def _is_admin(call: Call) -> bool:
    return call.caller is not None and call.caller.allows("admin")


async def _answered(views: Sequence[TaskView], services: Services) -> list[TaskResource]:
    newest = await resources([view.latest_run for view in views if view.latest_run is not None], services)
    by_task = {run.task_id: run for run in newest}
    ids = {view.task.task_id for view in views}
    demos = await services.journal.reader.query(
        lambda db: {one for one, label in labels_of(db, ids).items() if label.demo}
    )
    return [_resource(view, by_task.get(view.task.task_id), demo=view.task.task_id in demos) for view in views]


def _resource(view: TaskView, latest: RunResource | None, *, demo: bool) -> TaskResource:
    task = view.task
    return TaskResource(
        task_id=task.task_id,
        title=task.title,
        kind=task.kind,
        agent=task.agent,
        prompt=task.prompt,
        model=task.model,
        workspace=task.workspace,
        session_id=task.session_id,
        budget_micros_usd=task.budget_micros_usd,
        policy=task.policy,
        mcp_servers=sorted(task.mcp_servers),
        env_keys=sorted(task.env),
        timeout_s=task.timeout_s,
        experimental=task.experimental,
        input=task.input,
        priority=task.priority,
        concurrency=task.concurrency,
        max_turns=task.max_turns,
        demo=demo,
        created_at=rfc3339(task.created_ns),
        runs=view.runs,
        latest_run=latest,
    )
