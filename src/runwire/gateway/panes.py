"""Panes: every run at a glance, as a list and as a stream of those that change."""

import asyncio
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Send

from runwire.clock import rfc3339
from runwire.errors import RunNotFound
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.parameters import limit, name, number_cursor
from runwire.gateway.runs import seen_now
from runwire.gateway.services import Services
from runwire.gateway.sse import HEARTBEAT, RETRY, SSE_HEADERS, StreamWriter, answer_empty, followed
from runwire.journal.bell.local import ANY_RUN
from runwire.journal.frames import split
from runwire.journal.records import RunInfo
from runwire.protocol.envelope import type_of
from runwire.protocol.events.agent import AgentState
from runwire.protocol.state.run import Status

LIMIT_DEFAULT = 200
LIMIT_MAX = 1000
_FRAME_BYTES = 1
# A person sees no difference, and a run that streams text changes its pane at most so often.
_GATHER_S = 0.25
_FEED_EVENTS = 512


class PaneResource(msgspec.Struct, frozen=True, kw_only=True):
    """One run at a glance."""

    object: Literal["pane"] = "pane"
    run_id: str
    task_id: str | None
    session_id: str | None
    agent: str
    status: Status
    state: AgentState
    stalled: bool
    attention: bool
    reason: str
    doing: str
    since: str | None
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
    cursor = call.query.get("cursor")
    if cursor is not None:
        where.append("run_key < ?")
        values.append(number_cursor(cursor))
    most = limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX)
    found = await services.journal.reader.runs(" AND ".join(where), tuple(values), most + 1)
    shown, more = found[:most], len(found) > most
    following = str(await services.journal.reader.key(shown[-1].birth.run_id)) if more else None
    data = [await _pane(services, info) for info in shown]
    return json_response(PaneList(data=data, has_more=more, next_cursor=following))


async def stream_panes(services: Services, call: Call, send: Send) -> None:
    """Every pane once, then each again whenever it changes."""
    where, values = _wanted(call)
    if call.method == "HEAD":
        await answer_empty(call, send, SSE_HEADERS)
        return
    async with followed(call, send, services.tally, services.tenures) as writer:
        await writer.put(RETRY)
        # The place first: what changes while the list is read is then told twice rather than never.
        position = await services.journal.reader.feed_end()
        for info in await services.journal.reader.runs(" AND ".join(where), tuple(values), LIMIT_MAX):
            await _put(writer, await _pane(services, info))
        await writer.put(b"event: synced\ndata: {}\n\n")
        await _follow(services, writer, call, position)


async def _follow(services: Services, writer: StreamWriter, call: Call, position: int) -> None:
    journal = services.journal
    wanted = {fact: value for fact in ("task_id", "session_id", "agent") if (value := name(call, fact)) is not None}
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
            birth = info.birth
            facts = {"task_id": birth.task_id, "session_id": birth.session_id, "agent": birth.agent}
            if all(facts[fact] == value for fact, value in wanted.items()):
                await _put(writer, await _pane(services, info))
        if changed:
            await asyncio.sleep(_GATHER_S)
        elif journal.figures().events == known and not await journal.bell.wait(
            ANY_RUN, writer.quiet_for(services.config.heartbeat_s)
        ):
            await writer.put(HEARTBEAT)


async def _put(writer: StreamWriter, pane: PaneResource) -> None:
    await writer.put(b"event: pane\ndata: %b\n\n" % msgspec.json.encode(pane))


def _wanted(call: Call) -> tuple[list[str], list[object]]:
    where, values = ["1"], list[object]()
    for column in ("task_id", "session_id", "agent"):
        wanted = name(call, column)
        if wanted is not None:
            where.append(f"{column} = ?")
            values.append(wanted)
    return where, values


async def _pane(services: Services, info: RunInfo) -> PaneResource:
    run = info.story.run
    last = await services.journal.reader.read(info.birth.run_id, info.head_sequence - 1, _FRAME_BYTES)
    types = [] if last is None else [type_of(envelope) for _, envelope in split(last.frames)]
    seen = seen_now(info, services, types[0] if types else "")
    return PaneResource(
        run_id=info.birth.run_id,
        task_id=info.birth.task_id,
        session_id=info.birth.session_id,
        agent=info.birth.agent,
        status=run.status,
        state=seen.state,
        stalled=seen.stalled,
        attention=seen.attention,
        reason=seen.reason,
        doing=seen.doing,
        since=rfc3339(seen.since_ns) if seen.since_ns else None,
        last_event_type=seen.last_event_type,
        last_event_at=rfc3339(info.updated_ns),
        head_sequence=info.head_sequence,
        cost_micros_usd=seen.cost_micros_usd,
        budget_micros_usd=run.budget_micros_usd,
        malformed=seen.malformed,
    )
