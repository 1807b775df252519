"""Panes: every run at a glance, as a list and as a stream of those that change."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Send

from runwire.clock import rfc3339
from runwire.errors import InvalidFilter, RunNotFound
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.origins import Origin
from runwire.gateway.parameters import flag, limit, number_cursor, several
from runwire.gateway.runs import STATUSES, seen_now, window_ns
from runwire.gateway.services import Services
from runwire.gateway.sse import HEARTBEAT, RETRY, SSE_HEADERS, StreamWriter, answer_empty, followed
from runwire.journal.bell.local import ANY_RUN
from runwire.journal.frames import split
from runwire.journal.records import RunInfo
from runwire.protocol.envelope import type_of
from runwire.protocol.events.agent import AgentState
from runwire.protocol.state.pane import stalls_at
from runwire.protocol.state.run import Status

LIMIT_DEFAULT = 200
LIMIT_MAX = 1000
_FRAME_BYTES = 1
# A person sees no difference, and a run that streams text changes its pane at most so often.
_GATHER_S = 0.25
_FEED_EVENTS = 512
_FACTS = ("run_id", "status", "task_id", "session_id", "agent")
_LIVE = "'queued', 'running', 'awaiting_approval'"
# Few runs may fit; one request looks at so many pages of them and leaves the rest to the next.
_LOOKS_MAX = 10


class PaneResource(msgspec.Struct, frozen=True, kw_only=True):
    """One run at a glance."""

    object: Literal["pane"] = "pane"
    run_id: str
    task_id: str | None
    session_id: str | None
    agent: str
    title: str
    demo: bool
    model: str | None
    parent_run_id: str | None
    status: Status
    state: AgentState
    stalled: bool
    stalls_at: str | None
    """When it will count as stalled if nothing more happens, of which no event tells; null once it is over."""
    attention: bool
    reason: str
    doing: str
    since: str | None
    pending_approval_ids: list[str]
    created_at: str
    finished_at: str | None
    last_event_type: str
    last_event_at: str
    head_sequence: int
    cost_micros_usd: int
    budget_micros_usd: int | None
    malformed: int
    """How many lines of the agent nothing understood."""


class PaneList(msgspec.Struct, frozen=True, kw_only=True):
    """Some panes; those of the newest runs first."""

    object: Literal["list"] = "list"
    data: list[PaneResource]
    has_more: bool
    next_cursor: str | None


async def list_panes(services: Services, call: Call) -> Response:
    """The panes of all runs, newest first."""
    where, values = _wanted(call)
    attention, cursor = flag(call, "attention"), call.query.get("cursor")
    if attention:
        # What is over and did not fail needs nobody.
        where.append("status NOT IN ('completed', 'cancelled')")
    before = None if cursor is None else number_cursor(cursor)
    most = limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX)
    data: list[PaneResource] = []
    for _ in range(_LOOKS_MAX):
        found, before = await _page(services, where, values, before, most - len(data))
        data += [pane for pane in await _panes(services, found) if attention in {None, pane.attention}]
        if before is None or len(data) == most:
            break
    following = None if before is None else str(before)
    return json_response(PaneList(data=data, has_more=before is not None, next_cursor=following))


async def _page(
    services: Services, where: Sequence[str], values: Sequence[object], before: int | None, most: int
) -> tuple[list[RunInfo], int | None]:
    """Some runs, newest first, and where those before them begin; None when there are none."""
    reader = services.journal.reader
    conditions = [*where, "1" if before is None else "run_key < ?"]
    given = (*values, *(() if before is None else (before,)))
    found = await reader.runs(" AND ".join(conditions), given, most + 1)
    return found[:most], await reader.key(found[most - 1].birth.run_id) if len(found) > most else None


async def stream_panes(services: Services, call: Call, send: Send) -> None:
    """Every pane once, those of live runs first, then each again whenever it changes."""
    where, values = _wanted(call)
    if call.method == "HEAD":
        await answer_empty(call, send, SSE_HEADERS)
        return
    reader = services.journal.reader
    async with followed(call, send, services.tally, services.tenures) as writer:
        await writer.put(RETRY)
        # The place first: what changes while the list is read is then told twice rather than never.
        position = await reader.feed_end()
        # A run that still needs somebody must not be hidden behind newer ones that are over.
        for also in (f"status IN ({_LIVE})", f"status NOT IN ({_LIVE})"):
            infos = await reader.runs(" AND ".join((*where, also)), tuple(values), LIMIT_MAX)
            for pane in await _panes(services, infos):
                await _put(writer, pane)
        await writer.put(b"event: synced\ndata: {}\n\n")
        await _follow(services, writer, call, position)


async def _follow(services: Services, writer: StreamWriter, call: Call, position: int) -> None:
    journal = services.journal
    wanted = {fact: several(call, fact) for fact in _FACTS}
    while not services.closing.is_set():
        known = journal.figures().events
        changed: dict[str, None] = {}
        events, beyond = await journal.reader.feed(position, _FEED_EVENTS)
        while beyond > position:
            changed |= dict.fromkeys(event.run_id for event in events)
            position = beyond
            events, beyond = await journal.reader.feed(position, _FEED_EVENTS)
        for run_id in changed:
            try:
                info = await journal.reader.run(run_id)
            except RunNotFound:
                continue
            if _fits(info, wanted):
                (pane,) = await _panes(services, [info])
                await _put(writer, pane)
        if changed:
            await asyncio.sleep(_GATHER_S)
        elif journal.figures().events == known and not await journal.bell.wait(
            ANY_RUN, writer.quiet_for(services.config.heartbeat_s)
        ):
            await writer.put(HEARTBEAT)


def _fits(info: RunInfo, wanted: Mapping[str, tuple[str, ...] | None]) -> bool:
    birth = info.birth
    facts = {
        "run_id": birth.run_id,
        "status": info.story.run.status,
        "task_id": birth.task_id,
        "session_id": birth.session_id,
        "agent": birth.agent,
    }
    return all(values is None or facts[fact] in values for fact, values in wanted.items())


async def _put(writer: StreamWriter, pane: PaneResource) -> None:
    await writer.put(b"event: pane\ndata: %b\n\n" % msgspec.json.encode(pane))


def _wanted(call: Call) -> tuple[list[str], list[object]]:
    where, values = ["1"], list[object]()
    for column in _FACTS:
        wanted = several(call, column)
        if wanted is not None:
            where.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
        if column == "status" and not STATUSES.issuperset(wanted or ()):
            raise InvalidFilter(column, call.query[column])
    return where, values


async def _panes(services: Services, infos: Sequence[RunInfo]) -> list[PaneResource]:
    origins = await services.origins.of(infos)
    return [await _pane(services, info, origins[info.birth.run_id]) for info in infos]


async def _pane(services: Services, info: RunInfo, origin: Origin) -> PaneResource:
    run, pane = info.story.run, info.story.pane
    last = await services.journal.reader.read(info.birth.run_id, info.head_sequence - 1, _FRAME_BYTES)
    types = [] if last is None else [type_of(envelope) for _, envelope in split(last.frames)]
    seen = seen_now(info, services, types[0] if types else "")
    stalls_ns = stalls_at(pane, last_event_ns=info.updated_ns, window_ns=window_ns(services))
    return PaneResource(
        run_id=info.birth.run_id,
        task_id=info.birth.task_id,
        session_id=info.birth.session_id,
        agent=info.birth.agent,
        title=origin.title,
        demo=origin.demo,
        model=run.model if run.provider is None or run.model is None else f"{run.provider}:{run.model}",
        parent_run_id=run.parent_run_id,
        status=run.status,
        state=seen.state,
        stalled=seen.stalled,
        stalls_at=None if stalls_ns is None else rfc3339(stalls_ns),
        attention=seen.attention,
        reason=seen.reason,
        doing=seen.doing,
        since=rfc3339(seen.since_ns) if seen.since_ns else None,
        pending_approval_ids=list(pane.pending),
        created_at=rfc3339(info.created_ns),
        finished_at=None if run.finished_ns is None else rfc3339(run.finished_ns),
        last_event_type=seen.last_event_type,
        last_event_at=rfc3339(info.updated_ns),
        head_sequence=info.head_sequence,
        cost_micros_usd=seen.cost_micros_usd,
        budget_micros_usd=run.budget_micros_usd,
        malformed=seen.malformed,
    )
