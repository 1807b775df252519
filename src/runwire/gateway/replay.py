"""Sending a run's stored past: fast for a reader that keeps up, at no cost for one that does not."""

import asyncio
from collections.abc import Awaitable, Callable

import apsw

from runwire.gateway.sse import FRAMES_BYTES, StreamWriter
from runwire.gateway.tally import Tally
from runwire.journal.frames import last_sequence
from runwire.journal.reader import Reader
from runwire.journal.records import Batch
from runwire.journal.store.reading import read_segment

Put = Callable[[StreamWriter, bytes, int], Awaitable[int]]
"""Sends frames from a place on, or the first of them, and returns where the next one begins."""

_AHEAD_BYTES = 1024 * 1024
# Reading ahead holds twice as many bytes. So many readers may do it at once, and only while they take them in a second.
_AHEAD_MAX = 12
_AHEAD_S = 1.0


class Replay:
    """Goes through one run's log from a cursor on."""

    __slots__ = ("_closing", "_put", "_reader", "_run_id", "_tally", "cursor")

    def __init__(
        self, *, reader: Reader, tally: Tally, closing: asyncio.Event, run_id: str, cursor: int, put: Put
    ) -> None:
        """Start behind `cursor`."""
        self._reader = reader
        self._tally = tally
        self._closing = closing
        self._run_id = run_id
        self._put = put
        self.cursor = cursor

    async def send(self, writer: StreamWriter, through: int) -> None:
        """Send everything up to a sequence, or less when the process is about to end."""
        if through <= self.cursor:
            return
        if self._tally.reading_ahead < _AHEAD_MAX:
            self._tally.reading_ahead += 1
            try:
                await self._send_reading_ahead(writer, through)
            finally:
                self._tally.reading_ahead -= 1
        while self.cursor < through and not self._closing.is_set():
            batch = await self._reader.read(self._run_id, self.cursor, FRAMES_BYTES)
            if batch is None:
                return
            await self.put(writer, batch)
            if self.cursor < batch.last:
                del batch
                await writer.ready()

    async def put(self, writer: StreamWriter, batch: Batch, start: int = 0) -> int:
        """Send what the socket takes of a batch from `start` on; return where the rest begins."""
        end = await self._put(writer, batch.frames, start)
        if end == len(batch.frames):
            self.cursor = batch.last
        elif end > start:
            self.cursor = last_sequence(batch.frames, end)
        return end

    async def _send_reading_ahead(self, writer: StreamWriter, through: int) -> None:
        """Send sealed pages, the next ones being read while some are sent. Give up on a reader that is slow."""
        run_key = await self._reader.key(self._run_id)
        pages = await self._read(run_key, self.cursor)
        while pages:
            ahead = asyncio.create_task(self._read(run_key, pages[-1].last))
            try:
                async with asyncio.timeout(_AHEAD_S):
                    for page in pages:
                        await self._put_page(writer, page)
                        if self.cursor >= through or self._closing.is_set():
                            return
                pages = await ahead
            except TimeoutError:
                return
            finally:
                ahead.cancel()

    async def _put_page(self, writer: StreamWriter, page: Batch) -> None:
        end = 0
        while (end := await self.put(writer, page, end)) < len(page.frames):
            await writer.ready()

    async def _read(self, run_key: int, after: int) -> list[Batch]:
        return await self._reader.query(lambda db: _sealed_pages(db, run_key, after))


def _sealed_pages(db: apsw.Connection, run_key: int, after: int) -> list[Batch]:
    """Several chunks at once: crossing into a thread costs more than inflating one."""
    pages: list[Batch] = []
    size = 0
    while size < _AHEAD_BYTES and (segment := read_segment(db, run_key, after, ())) is not None:
        pages.append(Batch(segment.last, segment.frames))
        size += len(segment.frames)
        after = segment.last
    return pages
