"""Reading one run: live, as a list, or as a file. The Accept header decides which; the bytes are the stored ones."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Send

from runwire.errors import CursorAhead, RunNotFound, ShuttingDown
from runwire.gateway.accept import preferred
from runwire.gateway.call import Call
from runwire.gateway.parameters import limit, sequence_cursor, type_filter
from runwire.gateway.replay import Replay
from runwire.gateway.run_stream import RunStream
from runwire.gateway.services import Services
from runwire.gateway.sse import (
    FRAMES_BYTES,
    SLICE_BYTES,
    SSE_HEADERS,
    Headers,
    Only,
    StreamWriter,
    answer_empty,
    followed,
    opened,
)
from runwire.journal.frames import END, envelopes, split
from runwire.journal.records import RunInfo
from runwire.protocol.envelope import type_of
from runwire.protocol.events.gap import GapEventsPruned

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
LIST = "application/json"

_Accepts = Callable[[str], bool]
_FORMS: dict[str, Headers] = {
    SSE: SSE_HEADERS,
    NDJSON: ((b"content-type", NDJSON.encode()), (b"cache-control", b"no-store")),
    LIST: ((b"content-type", LIST.encode()), (b"cache-control", b"no-store")),
}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a reader asks for: which run, from where on, and which types."""

    run_id: str
    cursor: int
    head: int
    finished: bool
    accepts: _Accepts | None


async def read_run(services: Services, call: Call, send: Send) -> None:
    """Answer with a run's events past the reader's cursor."""
    info = await find_run(services, call)
    wanted = _Wanted(
        info.birth.run_id, sequence_cursor(call), info.head_sequence, info.story.finished, _wanted_types(call)
    )
    if wanted.cursor > wanted.head:
        raise CursorAhead(wanted.cursor, head=wanted.head)
    form = preferred(call.header(b"accept"), tuple(_FORMS), LIST)
    most = limit(call)
    if form == SSE and wanted.finished and not await _is_something_left(services, wanted):
        await answer_empty(call, send, (), 204)
    elif call.method == "HEAD":
        await answer_empty(call, send, _FORMS[form])
    elif form == SSE:
        async with followed(call, send, services.tally, services.tenures) as writer:
            stream = RunStream(services, wanted.run_id, wanted.cursor, _only(wanted.accepts))
            await stream.send(writer, wanted.head)
    elif form == NDJSON:
        await _export(services, call, send, wanted)
    else:
        await _list(services, call, send, wanted, most)


def _wanted_types(call: Call) -> _Accepts | None:
    """Which types a reader wants. What is missing it is told in any case."""
    accepts = type_filter(call)
    return None if accepts is None else lambda event_type: event_type == GapEventsPruned.type or accepts(event_type)


async def find_run(services: Services, call: Call) -> RunInfo:
    """The run that the path names, within the task that it may name, too."""
    run_id = call.path["run_id"]
    info = await services.journal.reader.run(run_id)
    if call.path.get("task_id", info.birth.task_id) != info.birth.task_id:
        raise RunNotFound(run_id)
    return info


async def _is_something_left(services: Services, wanted: _Wanted) -> bool:
    """Whether a finished run holds anything for this reader. A browser that has all of it must not come back for ever."""
    cursor, only = wanted.cursor, _only(wanted.accepts)
    if only is None:
        return cursor < wanted.head
    while (batch := await services.journal.reader.read(wanted.run_id, cursor, FRAMES_BYTES)) is not None:
        if only(batch.frames):
            return True
        cursor = batch.last
    return False


async def _export(services: Services, call: Call, send: Send, wanted: _Wanted) -> None:
    """The whole log as it stands now, one envelope a line."""
    replay = Replay(
        reader=services.journal.reader,
        closing=services.closing,
        run_id=wanted.run_id,
        cursor=wanted.cursor,
        only=_only(wanted.accepts),
        put=_put_lines,
    )
    async with opened(call, send, services.tally, _FORMS[NDJSON]) as writer:
        await replay.send(writer, wanted.head)
        if replay.cursor < wanted.head:
            raise ShuttingDown


async def _list(services: Services, call: Call, send: Send, wanted: _Wanted, most: int) -> None:
    """One page of envelopes, and whether there are more. It is sent as it is read, so its size is nobody's burden."""
    reader, cursor, count, more = services.journal.reader, wanted.cursor, 0, False
    batch = await reader.read(wanted.run_id, cursor, SLICE_BYTES)
    async with opened(call, send, services.tally, _FORMS[LIST]) as writer:
        await writer.put(b'{"object":"list","data":[')
        while batch is not None and not more:
            page, cursor, more = _page(batch.frames, wanted.accepts, most - count, cursor)
            if page:
                await writer.put(b"," * (count > 0) + b",".join(page))
            count += len(page)
            await writer.ready()
            batch = await reader.read(wanted.run_id, cursor, SLICE_BYTES)
        has_more = b"true" if more else b"false"
        await writer.put(b'],"has_more":%b,"next_after_sequence":%d}' % (has_more, cursor))


def _page(frames: bytes, accepts: _Accepts | None, room: int, cursor: int) -> tuple[list[bytes], int, bool]:
    """Wanted envelopes as far as there is room, how far that goes, and whether one more is known to be there."""
    page: list[bytes] = []
    for sequence, envelope in split(frames):
        if accepts is None or accepts(type_of(envelope)):
            if len(page) == room:
                return page, cursor, True
            page.append(envelope)
        cursor = sequence
    return page, cursor, False


async def _put_lines(writer: StreamWriter, frames: bytes) -> int:
    """Send envelopes one a line."""
    await writer.put(b"".join([envelope + b"\n" for envelope in envelopes(frames)]))
    return len(frames)


def _only(accepts: _Accepts | None) -> Only | None:
    """Keeps the frames of wanted types; None where that is all of them."""
    if accepts is None:
        return None

    def keep(frames: bytes) -> bytes:
        return b"".join([piece + END for piece in frames.split(END)[:-1] if accepts(type_of(piece))])

    return keep
