"""Everybody who follows one run and has all of it. New frames go to them in one sweep, without waking a task for each."""

import asyncio
from collections.abc import Iterable
from time import perf_counter

from runwire.errors import RunwireError
from runwire.gateway.call import CallerGone
from runwire.gateway.sse import FRAMES_BYTES, Only, StreamWriter
from runwire.journal.frames import last_sequence
from runwire.journal.journal import Journal
from runwire.journal.records import Batch

# The loop keeps its clock still while it works, so a sweep looks at another.
_SWEEP_S = 0.002
_LOOK_EVERY = 32


class Listener:
    """One reader within an audience: how far it got, and how it is told to look after itself."""

    __slots__ = ("cursor", "left", "only", "writer")

    def __init__(self, writer: StreamWriter, only: Only | None, cursor: int) -> None:
        """Has everything up to `cursor`."""
        self.writer = writer
        self.only = only
        self.cursor = cursor
        self.left: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(self, batch: Batch) -> bool:
        """Send what the socket takes of a batch; say whether that was all."""
        frames = batch.frames if self.only is None else self.only(batch.frames)
        end = self.writer.push_frames(frames) if frames else 0
        if end == len(frames):
            self.cursor = batch.last
            return True
        if end:
            self.cursor = last_sequence(frames, end)
        return False


class Audience:
    """The listeners of one run, and the task that serves them for as long as there are any."""

    def __init__(self, *, run_id: str, journal: Journal, closing: asyncio.Event, heartbeat_s: float) -> None:
        """Nobody listens yet."""
        self._run_id = run_id
        self._reader = journal.reader
        self._bell = journal.bell
        self._closing = closing
        self._heartbeat_s = heartbeat_s
        self._loop = asyncio.get_running_loop()
        self._beat_at = self._loop.time() + heartbeat_s
        self._listeners: dict[Listener, None] = {}
        self._task: asyncio.Task[None] | None = None

    async def attend(self, listener: Listener) -> bool:
        """Listen until the listener has to look after itself; say whether it was the last one.

        That is so when its socket is full, the run is over or gone, it has fallen behind, or the process ends. It must
        have been at the end of the log since it last awaited anything.
        """
        self._listeners[listener] = None
        self._beat_at = min(self._beat_at, self._loop.time() + self._heartbeat_s)
        if self._task is None:
            self._task = self._loop.create_task(self._serve())
        try:
            await listener.left
        finally:
            self._listeners.pop(listener, None)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None
        return not self._listeners

    async def _serve(self) -> None:
        try:
            while await self._is_live():
                rung = await self._bell.wait(self._run_id, self._beat_at - self._loop.time())
                if not rung or self._loop.time() >= self._beat_at:
                    self._beat()
        except RunwireError:
            # Whatever it was, each of them will meet it and say so to its reader.
            pass
        finally:
            self._task = None
            self._dismiss(list(self._listeners))

    async def _is_live(self) -> bool:
        """Serve everybody, and say whether there is more to wait for. Nothing is awaited after the last look at the log."""
        while True:
            if await self._sweep():
                await asyncio.sleep(0)
                continue
            info = await self._reader.run(self._run_id)
            if info.story.finished or self._closing.is_set():
                return False
            if await self._sweep():
                continue
            self._dismiss([listener for listener in self._listeners if listener.cursor < info.head_sequence])
            return True

    async def _sweep(self) -> bool:
        """Send everybody what comes next; say whether there was anything. Nothing is awaited when there was not.

        A sweep through many listeners lets others work in between, so that the log can grow while it is told.
        """
        some = False
        listeners = list(self._listeners)
        if not any(map(self._next, {listener.cursor for listener in listeners})):
            # They have heard everything, as at two of the three looks that one event takes.
            return False
        pause_at = perf_counter() + _SWEEP_S
        for start in range(0, len(listeners), _LOOK_EVERY):
            if some and perf_counter() >= pause_at:
                await asyncio.sleep(0)
                pause_at = perf_counter() + _SWEEP_S
            some |= self._tell(listeners[start : start + _LOOK_EVERY])
        return some

    def _next(self, cursor: int) -> Batch | None:
        return self._reader.newest(self._run_id, cursor, FRAMES_BYTES)

    def _tell(self, listeners: Iterable[Listener]) -> bool:
        """Send some listeners what comes next, those among them who are still here; say whether there was anything."""
        cursor, batch, some = -2, None, False
        for listener in listeners:
            if listener not in self._listeners:
                continue
            if listener.cursor != cursor:
                cursor = listener.cursor
                batch = self._next(cursor)
            if batch is None:
                continue
            some = True
            try:
                whole = listener.take(batch)
            except CallerGone:
                whole = False
            if not whole:
                self._dismiss([listener])
        return some

    def _beat(self) -> None:
        """Give a sign of life to whoever has had none for long enough."""
        wait_s = self._heartbeat_s
        for listener in list(self._listeners):
            try:
                wait_s = min(wait_s, listener.writer.beat(self._heartbeat_s))
            except CallerGone:
                self._dismiss([listener])
        self._beat_at = self._loop.time() + wait_s

    def _dismiss(self, listeners: Iterable[Listener]) -> None:
        for listener in listeners:
            self._listeners.pop(listener, None)
            if not listener.left.done():
                listener.left.set_result(None)


class Audiences:
    """The audiences of all runs that somebody follows."""

    def __init__(self, *, journal: Journal, closing: asyncio.Event, heartbeat_s: float) -> None:
        """Nobody follows anything yet."""
        self._journal = journal
        self._closing = closing
        self._heartbeat_s = heartbeat_s
        self._by_run: dict[str, Audience] = {}

    async def attend(self, run_id: str, listener: Listener) -> None:
        """Listen to a run until the listener has to look after itself."""
        audience = self._by_run.get(run_id)
        if audience is None:
            audience = self._by_run[run_id] = Audience(
                run_id=run_id, journal=self._journal, closing=self._closing, heartbeat_s=self._heartbeat_s
            )
        if await audience.attend(listener) and self._by_run.get(run_id) is audience:
            del self._by_run[run_id]
