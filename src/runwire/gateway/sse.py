"""Streamed answers, written by ourselves: stored bytes go out as they are, many frames to a write.

What the socket does not take at once is not kept: the writer says how far it got, and the rest is read again when the
socket has room. A reader that has stopped reading so costs its cursor and the rest of one frame, and misses nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from starlette.types import Send

from runwire.gateway.call import Call, CallerGone, tell
from runwire.gateway.connection import Straight, straight_of
from runwire.gateway.tally import Tally
from runwire.gateway.tenure import Tenures
from runwire.journal.frames import frame_end
from runwire.journal.reader import Reader

Only = Callable[[bytes], bytes]
"""Keeps the frames that a reader wants."""

Headers = tuple[tuple[bytes, bytes], ...]

SLICE_BYTES = 24 * 1024
FRAMES_BYTES = 128 * 1024
RETRY = b"retry: 1000\n\n"
HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"
SSE_HEADERS: Headers = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
    # The stream ends with its connection. Without chunks around them, frames can be handed to the socket as they are.
    (b"connection", b"close"),
)

_END = {"type": "http.response.body", "body": b"", "more_body": False}


class StreamWriter:
    """The body of one answer that is sent in pieces. Made by `opened` and `followed`."""

    __slots__ = ("_loop", "_send", "_sent_at", "_straight", "_tally")

    def __init__(self, send: Send, tally: Tally, straight: Straight | None = None) -> None:
        """Write to `send`, and `straight` to the socket where the server offers that."""
        self._send = send
        self._tally = tally
        self._straight = straight
        self._loop = asyncio.get_running_loop()
        self._sent_at = self._loop.time()

    @property
    def pushes(self) -> bool:
        """Whether frames can be pushed."""
        return self._straight is not None

    def quiet_for(self, heartbeat_s: float) -> float:
        """How long it may stay silent before a heartbeat is due, so that its reader knows it alive."""
        return self._sent_at + heartbeat_s - self._loop.time()

    async def ready(self) -> None:
        """Return when the socket has taken everything that was put before."""
        await self._put(b"", more=True)

    async def put(self, piece: bytes) -> None:
        """Send a piece, a slice at a time."""
        if len(piece) <= SLICE_BYTES:
            await self._put(piece, more=True)
            return
        for start in range(0, len(piece), SLICE_BYTES):
            await self._put(piece[start : start + SLICE_BYTES], more=True)

    async def put_frames(self, frames: bytes) -> int:
        """Send whole frames, as many as the socket takes; return where the next one begins."""
        if self._straight is not None:
            return self.push_frames(frames)
        await self._put(frames, more=True)
        return len(frames)

    def push_frames(self, frames: bytes) -> int:
        """The same without ever waiting; only where `pushes`."""
        # Each of a thousand readers comes by here for every event: one call fewer is felt.
        straight = self._straight or self._way()
        try:
            taken = straight.push(frames)
        except OSError as error:
            raise CallerGone from error
        if taken == len(frames):
            self._tally.stream_bytes += taken
            self._sent_at = self._loop.time()
            return taken
        if taken is None:
            return 0
        # The rest of the frame that was cut in two is all that has to wait; or, where there was no room at all, one whole
        # frame, because only who has something to send is told of new room.
        end = frame_end(frames, taken)
        straight.write(frames[taken:end])
        self._count(end)
        return end

    async def pour(self, reader: Reader, run_id: str, after: int, only: Only | None) -> int | None:
        """Send stored frames past `after`, as many as the socket takes; only where `pushes`.

        Returns how far that went once the socket has room for more, or None at the end of what is stored.
        """
        straight = self._way()
        await self.ready()
        try:
            poured = await reader.pour(run_id, after, straight.outlet, only)
        except OSError as error:
            raise CallerGone from error
        if poured is None:
            return None
        self._count(poured.size)
        if poured.rest:
            straight.write(poured.rest)
            await self.ready()
        return poured.last

    def beat(self, heartbeat_s: float) -> float:
        """Push a heartbeat if one is due, unless the socket is full; return how long until the next."""
        quiet_s = self.quiet_for(heartbeat_s)
        if quiet_s > 0:
            return quiet_s
        self.push_frames(HEARTBEAT)
        return heartbeat_s

    async def end(self) -> None:
        """Say that this was all."""
        await self._put(b"", more=False)

    async def _put(self, piece: bytes, *, more: bool) -> None:
        await tell(self._send, {"type": "http.response.body", "body": piece, "more_body": more})
        if piece:
            self._count(len(piece))

    def _way(self) -> Straight:
        if self._straight is None:
            raise TypeError("this server offers no way straight to the socket")
        return self._straight

    def _count(self, size: int) -> None:
        self._tally.stream_bytes += size
        self._sent_at = self._loop.time()


@asynccontextmanager
async def opened(
    call: Call, send: Send, tally: Tally, headers: Headers, status: int = 200
) -> AsyncGenerator[StreamWriter]:
    """Begin a streamed answer and end it after the block. When the caller hangs up, the block is left in silence."""
    await begin(call, send, headers, status)
    writer = StreamWriter(send, tally, straight_of(call.scope) if headers is SSE_HEADERS else None)
    try:
        yield writer
        await writer.end()
    except CallerGone:
        return


@asynccontextmanager
async def followed(call: Call, send: Send, tally: Tally, tenures: Tenures) -> AsyncGenerator[StreamWriter]:
    """Begin a live stream and end it after the block, which is left at once when the caller hangs up or may not stay."""
    tally.subscribers += 1
    try:
        async with opened(call, send, tally, SSE_HEADERS) as writer, tenures.under(call.caller) as tenure:
            watch = asyncio.create_task(call.gone())
            watch.add_done_callback(hang_up := lambda _: tenure.end())
            try:
                yield writer
            finally:
                watch.remove_done_callback(hang_up)
                watch.cancel()
    finally:
        tally.subscribers -= 1


async def answer_empty(call: Call, send: Send, headers: Headers, status: int = 200) -> None:
    """Send an answer without a body."""
    await begin(call, send, headers, status)
    await tell(send, _END)


async def begin(call: Call, send: Send, headers: Headers, status: int = 200) -> None:
    """Send the head of an answer."""
    call.status = status
    await tell(send, {"type": "http.response.start", "status": status, "headers": [*headers, *call.headers]})
