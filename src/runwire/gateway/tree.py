"""The runs that belong together: those of a task, their parts, and what branched off them or what they branched off."""

from collections.abc import Iterable
from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.clock import rfc3339
from runwire.errors import RunNotFound
from runwire.gateway.call import Call
from runwire.gateway.events import find_run
from runwire.gateway.json import json_response
from runwire.gateway.origins import Origin
from runwire.gateway.runs import seen_now
from runwire.gateway.services import Services
from runwire.journal.records import RunInfo
from runwire.protocol.events.agent import AgentState
from runwire.protocol.state.run import Status
from runwire.runs.rows.tasks import branches_of

RUNS_MAX = 200

Relation = Literal["first", "again", "retry", "resume", "branch", "child"]


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """One run, and how it came about."""

    run_id: str
    task_id: str | None
    relation: Relation
    from_run_id: str | None
    """The run that it repeats, takes up, left, or works for."""
    from_sequence: int | None
    """Where in that run it begins."""
    agent: str
    title: str
    status: Status
    state: AgentState
    attention: bool
    created_at: str
    finished_at: str | None
    cost_micros_usd: int
    head_sequence: int


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """Runs that belong together, oldest first."""

    object: Literal["tree"] = "tree"
    run_id: str
    data: list[Branch]
    has_more: bool
    """Whether there are more of them than are shown."""


async def show_tree(services: Services, call: Call) -> Response:
    """The tree that a run is part of."""
    asked = await find_run(services, call)
    found = await _gathered(services, asked)
    infos = sorted(found.values(), key=lambda info: (info.created_ns, info.birth.run_id))
    origins = await services.origins.of(infos)
    seen: set[str | None] = set()
    data = []
    for info in infos:
        data.append(_branch(services, info, origins[info.birth.run_id], first=info.birth.task_id not in seen))
        seen.add(info.birth.task_id)
    return json_response(Tree(run_id=asked.birth.run_id, data=data[:RUNS_MAX], has_more=len(data) > RUNS_MAX))


async def _gathered(services: Services, asked: RunInfo) -> dict[str, RunInfo]:
    """The runs of a task and of every task that is bound to it by a branch, one more than are shown at most."""
    found = {asked.birth.run_id: asked}
    tasks, looked_at = {asked.birth.task_id}, set[str | None]()
    while (left := tasks - looked_at) and len(found) <= RUNS_MAX:
        looked_at |= left
        for info in await _runs(services, left - {None}):
            found[info.birth.run_id] = info
        tasks |= await _branched_off(services, list(found))
        for info in list(found.values()):
            prior = info.story.run.prior_run_id
            if prior is not None and prior not in found and (before := await _run(services, prior)) is not None:
                found[prior] = before
                tasks.add(before.birth.task_id)
    return found


async def _branched_off(services: Services, run_ids: list[str]) -> set[str]:
    return await services.journal.reader.query(lambda db: {*branches_of(db, run_ids)})


async def _runs(services: Services, task_ids: Iterable[str | None]) -> list[RunInfo]:
    ids = tuple(task_ids)
    where = f"task_id IN ({', '.join('?' * len(ids))})"
    return await services.journal.reader.runs(where, ids, RUNS_MAX + 1) if ids else []


async def _run(services: Services, run_id: str) -> RunInfo | None:
    try:
        return await services.journal.reader.run(run_id)
    except RunNotFound:
        return None


def _branch(services: Services, info: RunInfo, origin: Origin, *, first: bool) -> Branch:
    run, seen = info.story.run, seen_now(info, services)
    place = origin.branched_from or origin.resumed_from
    return Branch(
        run_id=info.birth.run_id,
        task_id=info.birth.task_id,
        relation=_relation(info, origin, first=first),
        from_run_id=run.parent_run_id or run.prior_run_id,
        from_sequence=None if place is None else place.sequence,
        agent=info.birth.agent,
        title=origin.title,
        status=run.status,
        state=seen.state,
        attention=seen.attention,
        created_at=rfc3339(info.created_ns),
        finished_at=None if run.finished_ns is None else rfc3339(run.finished_ns),
        cost_micros_usd=seen.cost_micros_usd,
        head_sequence=info.head_sequence,
    )


def _relation(info: RunInfo, origin: Origin, *, first: bool) -> Relation:
    if info.story.run.parent_run_id is not None:
        return "child"
    if origin.branched_from is not None:
        return "branch"
    if origin.resumed_from is not None:
        return "resume"
    if info.story.run.prior_run_id is not None:
        return "retry"
    return "first" if first else "again"
