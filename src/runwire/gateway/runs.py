"""Runs as resources: where each stands, what it used, and where its log ends."""

from collections.abc import Mapping, Sequence

import msgspec
from starlette.responses import Response

from runwire.clock import rfc3339
from runwire.errors import InvalidFilter
from runwire.gateway.call import Call
from runwire.gateway.events import find_run
from runwire.gateway.json import json_response
from runwire.gateway.origins import Origin, Place
from runwire.gateway.parameters import limit, name, number_cursor
from runwire.gateway.services import Services
from runwire.journal.records import RunInfo
from runwire.journal.store.prefix import prefix_range
from runwire.protocol.chain import show
from runwire.protocol.events.agent import AgentState
from runwire.protocol.state.pane import Glance, glance
from runwire.protocol.state.run import TRANSITIONS, Status
from runwire.runs.rows.workers import leases_of as held_until

LIMIT_DEFAULT = 50
LIMIT_MAX = 500
STATUSES: frozenset[str] = frozenset(TRANSITIONS)
_NS = 1_000_000_000


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has consumed."""

    turns: int
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int


class Pane(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent is doing, at a glance."""

    state: AgentState
    stalled: bool
    attention: bool
    reason: str
    doing: str
    since: str | None


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that the run waits for."""

    approval_id: str
    tool_call_id: str | None
    kind: str
    summary: str
    since: str


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run works."""

    path: str
    mode: str | None


class RunResource(msgspec.Struct, frozen=True, kw_only=True):
    """One run as it stands now."""

    object: str = "run"
    run_id: str
    task_id: str | None
    session_id: str | None
    agent: str
    title: str
    demo: bool
    status: Status
    kind: str | None
    model: str | None
    provider: str | None
    workspace: Workspace | None
    prior_run_id: str | None
    """The run that this one repeats or goes on from."""
    parent_run_id: str | None
    """The run that this one does a part of the work for."""
    resumed_from: Place | None
    """Where in an earlier run of its task this one goes on."""
    branched_from: Place | None
    """Where it left a run of another task, to go its own way."""
    worker_id: str | None
    """Who works on it, or did last."""
    lease_until: str | None
    """Until when it is that worker's own, if it says no more; null while nobody works on it."""
    created_at: str
    updated_at: str
    started_at: str | None
    finished_at: str | None
    duration_ms: int | None
    usage: Usage
    cost_micros_usd: int
    budget_micros_usd: int | None
    budget_remaining_micros_usd: int | None
    error_code: str | None
    error_message: str | None
    pending_approvals: list[Approval]
    pane: Pane
    first_sequence: int
    head_sequence: int
    head_hash: str


class RunList(msgspec.Struct, frozen=True, kw_only=True):
    """Some runs, newest first."""

    object: str = "list"
    data: list[RunResource]
    has_more: bool
    next_cursor: str | None


async def show_run(services: Services, call: Call) -> Response:
    """One run."""
    return json_response(await resource(await find_run(services, call), services))


async def list_runs(services: Services, call: Call) -> Response:
    """Runs, newest first."""
    where, values = ["1"], list[object]()
    for column in ("task_id", "session_id", "agent", "status"):
        wanted = call.path.get(column) or name(call, column)
        if wanted is not None:
            where.append(f"{column} = ?")
            values.append(wanted)
    if call.query.get("status", "queued") not in STATUSES:
        raise InvalidFilter("status", call.query["status"])
    beginning = name(call, "id_prefix")
    if beginning is not None:
        where.append("run_id >= ? AND run_id < ?")
        values += prefix_range(beginning)
    cursor = call.query.get("cursor")
    if cursor is not None:
        where.append("run_key < ?")
        values.append(number_cursor(cursor))
    most = limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX)
    found = await services.journal.reader.runs(" AND ".join(where), tuple(values), most + 1)
    if not found and cursor is None and "task_id" in call.path:
        # It may have no run yet, or none that fits.
        await services.runtime.tasks.get(call.path["task_id"])
    shown, more = found[:most], len(found) > most
    following = str(await services.journal.reader.key(shown[-1].birth.run_id)) if more else None
    data = await resources(shown, services)
    return json_response(RunList(data=data, has_more=more, next_cursor=following))


def seen_now(info: RunInfo, services: Services, last_event_type: str = "") -> Glance:
    """A run as a person sees it at this moment."""
    return glance(
        info.story.pane,
        last_event_type=last_event_type,
        last_event_ns=info.updated_ns,
        now_ns=services.clock.now_ns(),
        window_ns=window_ns(services),
    )


def window_ns(services: Services) -> int:
    """How long a run may be silent."""
    return int(services.config.stall_s * _NS)


async def resource(info: RunInfo, services: Services) -> RunResource:
    """One run as it is answered."""
    (one,) = await resources([info], services)
    return one


async def resources(infos: Sequence[RunInfo], services: Services) -> list[RunResource]:
    """Runs as they are answered. What their own rows do not tell is looked up for all of them together."""
    alive = [info.birth.run_id for info in infos if not info.story.finished]
    leases = await services.journal.reader.query(lambda db: held_until(db, alive)) if alive else {}
    origins = await services.origins.of(infos)
    return [_resource(info, services, leases, origins[info.birth.run_id]) for info in infos]


def _resource(info: RunInfo, services: Services, leases: Mapping[str, int], origin: Origin) -> RunResource:
    run, seen = info.story.run, seen_now(info, services)
    return RunResource(
        run_id=info.birth.run_id,
        task_id=info.birth.task_id,
        session_id=info.birth.session_id,
        agent=info.birth.agent,
        title=origin.title,
        demo=origin.demo,
        status=run.status,
        kind=run.kind,
        model=run.model,
        provider=run.provider,
        workspace=None if run.workspace_path is None else Workspace(path=run.workspace_path, mode=run.workspace_mode),
        prior_run_id=run.prior_run_id,
        parent_run_id=run.parent_run_id,
        resumed_from=origin.resumed_from,
        branched_from=origin.branched_from,
        worker_id=run.worker_id,
        lease_until=_moment(leases.get(info.birth.run_id)),
        created_at=rfc3339(info.created_ns),
        updated_at=rfc3339(info.updated_ns),
        started_at=_moment(run.started_ns),
        finished_at=_moment(run.finished_ns),
        duration_ms=run.duration_ms,
        usage=Usage(
            turns=run.turns,
            input_tokens=run.input_tokens,
            output_tokens=run.output_tokens,
            cached_input_tokens=run.cached_input_tokens,
        ),
        cost_micros_usd=run.cost_micros_usd,
        budget_micros_usd=run.budget_micros_usd,
        budget_remaining_micros_usd=run.budget_remaining_micros_usd,
        error_code=run.error_code,
        error_message=run.error_message,
        pending_approvals=[
            Approval(
                approval_id=pending.approval_id,
                tool_call_id=pending.tool_call_id,
                kind=pending.kind,
                summary=pending.summary,
                since=rfc3339(pending.since_ns),
            )
            for pending in run.pending_approvals
        ],
        pane=Pane(
            state=seen.state,
            stalled=seen.stalled,
            attention=seen.attention,
            reason=seen.reason,
            doing=seen.doing,
            since=_moment(seen.since_ns or None),
        ),
        first_sequence=info.first_sequence,
        head_sequence=info.head_sequence,
        head_hash=show(info.head_hash),
    )


def _moment(ns: int | None) -> str | None:
    return None if ns is None else rfc3339(ns)
