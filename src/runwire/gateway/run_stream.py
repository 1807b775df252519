"""One run, live: the past, then whatever comes, until the run is over."""

import asyncio

from runwire.errors import RunNotFound
from runwire.gateway.audience import Listener
from runwire.gateway.replay import Replay
from runwire.gateway.services import Services
from runwire.gateway.sse import FRAMES_BYTES, HEARTBEAT, RETRY, Only, StreamWriter

# How soon to look again when the log is said to be longer than what could be read of it.
_LOOK_AGAIN_S = 0.5
# After so much, others have their turn.
_TURN_BYTES = 4 * FRAMES_BYTES


class RunStream:
    """Follows one run for one reader."""

    __slots__ = ("_audiences", "_bell", "_closing", "_heartbeat_s", "_only", "_reader", "_replay", "_run_id")

    def __init__(self, services: Services, run_id: str, cursor: int, only: Only | None) -> None:
        """Start behind `cursor`."""
        self._audiences = services.audiences
        self._reader = services.journal.reader
        self._bell = services.journal.bell
        self._closing = services.closing
        self._heartbeat_s = services.config.heartbeat_s
        self._run_id = run_id
        self._only = only
        self._replay = Replay(
            reader=self._reader,
            closing=services.closing,
            run_id=run_id,
            cursor=cursor,
            only=only,
        )

    async def send(self, writer: StreamWriter, head: int) -> None:
        """Send the backlog, say that it was all, and follow the run to its end, the end of the process, or its removal."""
        await writer.put(RETRY)
        try:
            await self._replay.send(writer, head)
            await self._follow(writer)
        except RunNotFound:
            return

    async def _follow(self, writer: StreamWriter) -> None:
        replay, run_id = self._replay, self._run_id
        synced, turn = False, 0
        while not self._closing.is_set():
            batch = self._reader.newest(run_id, replay.cursor, FRAMES_BYTES)
            if batch is not None:
                await replay.put(writer, batch)
                turn += len(batch.frames)
                if replay.cursor < batch.last:
                    del batch  # a reader that has stopped must not hold it
                    await writer.ready()
                elif turn > _TURN_BYTES:
                    turn = 0
                    await asyncio.sleep(0)
                continue
            info = await self._reader.run(run_id)
            if info.head_sequence > replay.cursor:
                await self._catch_up(writer, info.head_sequence)
            elif self._reader.newest(run_id, replay.cursor, FRAMES_BYTES) is not None:
                # It grew while we looked, and nothing may come between the last look and the wait.
                continue
            elif not synced:
                synced = True
                await writer.put(b'event: synced\ndata: {"sequence":%d}\n\n' % replay.cursor)
            elif info.story.finished:
                return
            else:
                await self._wait(writer)

    async def _wait(self, writer: StreamWriter) -> None:
        """Return when there is something to do, which in an audience is seldom: it sees to its listeners itself."""
        if writer.pushes:
            listener = Listener(writer, self._only, self._replay.cursor)
            try:
                await self._audiences.attend(self._run_id, listener)
            finally:
                self._replay.cursor = listener.cursor
        elif not await self._bell.wait(self._run_id, writer.quiet_for(self._heartbeat_s)):
            await writer.put(HEARTBEAT)

    async def _catch_up(self, writer: StreamWriter, head: int) -> None:
        """Read the store, where the tail in memory does not reach back to the reader."""
        before = self._replay.cursor
        await self._replay.send(writer, head)
        if self._replay.cursor == before:
            await self._bell.wait(self._run_id, _LOOK_AGAIN_S)
