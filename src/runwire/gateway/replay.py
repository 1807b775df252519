"""Sending a run's stored past: at the speed of the connection to a reader that keeps up, at no cost to one that does not."""

import asyncio
from collections.abc import Awaitable, Callable

from runwire.gateway.sse import FRAMES_BYTES, SLICE_BYTES, Only, StreamWriter
from runwire.journal.frames import last_sequence
from runwire.journal.reader import Reader
from runwire.journal.records import Batch

Put = Callable[[StreamWriter, bytes], Awaitable[int]]
"""Sends frames, or the first of them, and returns where the next one begins."""


class Replay:
    """Goes through one run's log from a cursor on."""

    __slots__ = ("_closing", "_only", "_put", "_reader", "_run_id", "cursor")

    def __init__(
        self,
        *,
        reader: Reader,
        closing: asyncio.Event,
        run_id: str,
        cursor: int,
        only: Only | None,
        put: Put = StreamWriter.put_frames,
    ) -> None:
        """Start behind `cursor`; send `only` some of the frames, and in the way of `put`."""
        self._reader = reader
        self._closing = closing
        self._run_id = run_id
        self._only = only
        self._put = put
        self.cursor = cursor

    async def send(self, writer: StreamWriter, through: int) -> None:
        """Send everything up to a sequence, or less when the process is about to end."""
        while self.cursor < through and not self._closing.is_set():
            if not await (self._send_far(writer) if writer.pushes else self._send_next(writer)):
                return

    async def put(self, writer: StreamWriter, batch: Batch) -> None:
        """Send what the socket takes of a batch."""
        frames = batch.frames if self._only is None else self._only(batch.frames)
        end = await self._put(writer, frames) if frames else 0
        if end == len(frames):
            self.cursor = batch.last
        elif end:
            self.cursor = last_sequence(frames, end)

    async def _send_far(self, writer: StreamWriter) -> bool:
        """Send as much as the socket takes, wait until it has room again, and say whether there was anything to send."""
        if (batch := self._reader.newest(self._run_id, self.cursor, FRAMES_BYTES)) is not None:
            await self.put(writer, batch)
            whole = self.cursor == batch.last
            del batch  # a reader that has stopped must not hold it
            # Others have their turn between two batches that the socket takes at once.
            await (asyncio.sleep(0) if whole else writer.ready())
            return True
        poured = await writer.pour(self._reader, self._run_id, self.cursor, self._only)
        if poured is None:
            return False
        self.cursor = poured
        return True

    async def _send_next(self, writer: StreamWriter) -> bool:
        """The same through layers that keep what they are given, and so a little at a time."""
        batch = await self._reader.read(self._run_id, self.cursor, SLICE_BYTES)
        if batch is None:
            return False
        await self.put(writer, batch)
        return True
