"""Reading all runs at once: a list with a cursor, or a stream. No committed event is ever skipped."""

import base64
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct, error

from starlette.types import Send

from runwire.errors import CursorAhead, InvalidCursor, InvalidFilter, RunNotFound
from runwire.gateway.call import Call
from runwire.gateway.parameters import limit, name, since_ns, type_filter
from runwire.gateway.services import Services
from runwire.gateway.sse import HEARTBEAT, RETRY, SLICE_BYTES, SSE_HEADERS, StreamWriter, answer_empty, followed, opened
from runwire.journal.bell.local import ANY_RUN
from runwire.journal.reader import Reader
from runwire.journal.records import FeedEvent, RunBirth
from runwire.protocol.envelope import occurred_at_of, type_of
from runwire.protocol.moment import nanoseconds

_CURSOR = Struct(">BQ")
_CURSOR_KIND = 1
_LIST_HEADERS = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))
# A filter that fits little must not make one request read the whole store: it gets what there is so far and a cursor.
_LOOKED_AT_MAX = 50_000
_AT_ONCE = 64
_BIRTHS_MAX = 4096


@dataclass(slots=True)
class Filter:
    """Which events a reader wants."""

    reader: Reader
    accepts: Callable[[str], bool] | None
    since_ns: int | None
    run_id: str | None
    of_run: dict[str, str]
    """What the run itself must be: of which task, session, agent."""
    births: OrderedDict[str, RunBirth | None] = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, services: Services, call: Call) -> "Filter":
        """What the query asks for."""
        of_run = {
            fact: wanted for fact in ("task_id", "session_id", "agent") if (wanted := name(call, fact)) is not None
        }
        return cls(services.journal.reader, type_filter(call), since_ns(call), name(call, "run_id"), of_run)

    async def wants(self, event: FeedEvent) -> bool:
        """Whether one event is asked for."""
        if self.run_id is not None and event.run_id != self.run_id:
            return False
        if self.accepts is not None and not self.accepts(type_of(event.envelope)):
            return False
        if self.since_ns is not None and nanoseconds(occurred_at_of(event.envelope)) < self.since_ns:
            return False
        return not self.of_run or await self._fits_run(event.run_id)

    async def _fits_run(self, run_id: str) -> bool:
        birth = await self.birth(run_id)
        if birth is None:
            return False
        facts = {"task_id": birth.task_id, "session_id": birth.session_id, "agent": birth.agent}
        return all(facts[fact] == wanted for fact, wanted in self.of_run.items())

    async def birth(self, run_id: str) -> RunBirth | None:
        """What a run is; None when it is gone."""
        if run_id not in self.births:
            try:
                self.births[run_id] = (await self.reader.run(run_id)).birth
            except RunNotFound:
                self.births[run_id] = None
            if len(self.births) > _BIRTHS_MAX:
                self.births.popitem(last=False)
        return self.births[run_id]


async def list_feed(services: Services, call: Call, send: Send) -> None:
    """Answer with a page of all runs' events."""
    wanted, most, reader = Filter.of(services, call), limit(call), services.journal.reader
    end = await reader.feed_end()
    position = _start(call, call.query.get("cursor"), end, default="start")
    if call.method == "HEAD":
        await answer_empty(call, send, _LIST_HEADERS)
        return
    async with opened(call, send, services.tally, _LIST_HEADERS) as writer:
        await writer.put(b'{"object":"list","data":[')
        stop, count = position + _LOOKED_AT_MAX, 0
        while position < min(end, stop) and count < most:
            await writer.ready()
            page: list[bytes] = []
            events, beyond = await reader.feed(position, _AT_ONCE)
            for event in events:
                if count + len(page) == most:
                    beyond = event.position
                    break
                if await wanted.wants(event):
                    page.append(event.envelope)
            if page:
                await writer.put(b"," * (count > 0) + b",".join(page))
            position, count = beyond, count + len(page)
        more = b"true" if position < end else b"false"
        await writer.put(b'],"has_more":%b,"next_cursor":"%b"}' % (more, cursor_at(position)))


async def stream_feed(services: Services, call: Call, send: Send) -> None:
    """Answer with all runs' events as they become durable."""
    wanted = Filter.of(services, call)
    given = call.header(b"last-event-id")
    if given is None:
        given = call.query.get("cursor")
    position = _start(call, given, await services.journal.reader.feed_end(), default="now")
    if call.method == "HEAD":
        await answer_empty(call, send, SSE_HEADERS)
        return
    async with followed(call, send, services.tally, services.tenures) as writer:
        await writer.put(RETRY)
        await _follow(services, writer, wanted, position)


async def _follow(services: Services, writer: StreamWriter, wanted: Filter, position: int) -> None:
    journal, synced = services.journal, False
    while not services.closing.is_set():
        await writer.ready()
        known = journal.figures().events
        events, beyond = await journal.reader.feed(position, _AT_ONCE)
        if beyond > position:
            await _put(writer, [event for event in events if await wanted.wants(event)])
            position = beyond
        elif journal.figures().events != known:
            # It grew while we looked, and nothing may come between the last look and the wait.
            continue
        elif not synced:
            synced = True
            # A reader that is cut off before its first event resumes here, and not at a later now.
            cursor = cursor_at(position)
            await writer.put(b'id: %b\nevent: synced\ndata: {"cursor":"%b"}\n\n' % (cursor, cursor))
        elif not await journal.bell.wait(ANY_RUN, writer.quiet_for(services.config.heartbeat_s)):
            await writer.put(HEARTBEAT)


async def _put(writer: StreamWriter, events: list[FeedEvent]) -> None:
    frames: list[bytes] = []
    size = 0
    for event in events:
        frame = b"id: %b\ndata: %b\n\n" % (cursor_at(event.position + 1), event.envelope)
        if size and size + len(frame) > SLICE_BYTES:
            await writer.put(b"".join(frames))
            frames, size = [], 0
        frames.append(frame)
        size += len(frame)
    if frames:
        await writer.put(b"".join(frames))


def cursor_at(position: int) -> bytes:
    """The text that stands for the place right before a position."""
    return base64.urlsafe_b64encode(_CURSOR.pack(_CURSOR_KIND, position))


def position_of(cursor: str) -> int:
    """The place that a cursor stands for."""
    try:
        kind, position = _CURSOR.unpack(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
    except (ValueError, error) as problem:
        raise InvalidCursor(cursor) from problem
    if kind != _CURSOR_KIND or cursor_at(position) != cursor.encode():
        raise InvalidCursor(cursor)
    return int(position)


def _start(call: Call, cursor: str | None, end: int, *, default: str) -> int:
    if cursor is not None:
        position = position_of(cursor)
        if position > end:
            raise CursorAhead(position, head=end)
        return position
    match call.query.get("from", default):
        case "now":
            return end
        case "start":
            return 0
        case other:
            raise InvalidFilter("from", other)
