"""A process that is spoken with: it lives on between what we say, is confined like any command, and is never left behind.

What it prints is handed on in pieces, and while nobody takes them it waits. What the pieces mean is for others to know.
"""

import asyncio
import contextlib
import signal
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

from runwire.workspace.limits import Groups, Limits
from runwire.workspace.process import ExitReport
from runwire.workspace.sandbox.layer import Sandbox
from runwire.workspace.spawning import (
    PIPES_PATIENCE_S,
    STDERR,
    STDIN,
    STDOUT,
    Command,
    Spawned,
    Walls,
    Wire,
    rings,
    spawn,
    to_the_end,
)
from runwire.workspace.tree import TERM_GRACE_S

PIECE_BYTES = 256 * 1024
AHEAD_BYTES = 1024 * 1024
"""The most that is read before somebody asks for it."""
STDERR_TAIL_BYTES = 16 * 1024
INTERRUPT_GRACE_S = 3.0

_LOOK_S = 0.5


class TalkOver(Exception):
    """The process does not listen any more: it has ended, or closed its input."""


@dataclass(frozen=True, slots=True)
class Survivors:
    """What it took to stop a process."""

    signal: str | None
    """Which signal ended the process itself; None when it had ended already."""
    count: int
    """How many of its tree could not be ended. Never more than none, unless the system refuses."""


class Talk:
    """One process, while it is spoken with. `converse` starts it and sees it off."""

    def __init__(self, spawned: "Spawned[_Wire]", sandbox: Sandbox) -> None:
        """Speak with a process that was started."""
        self._spawned = spawned
        self._wire = spawned.wire
        self._sandbox = sandbox
        self._sweeping = asyncio.Lock()
        self._swept: tuple[int, int] | None = None
        self._is_crowded = False
        self._looking = asyncio.get_running_loop().call_later(_LOOK_S, self._look)

    async def read(self) -> bytes:
        """The next piece of what it prints, as it comes; nothing at the end. Whoever it leaves behind is ended first."""
        wire = self._wire
        while not wire.pieces and STDOUT in wire.open_pipes:
            if wire.exited.is_set():
                # Somebody may hold the pipe who is not the one that we speak with.
                await self._sweep()
            wire.news.clear()
            if STDOUT not in wire.open_pipes or wire.pieces:
                continue
            is_over = wire.exited.is_set()
            if not await rings(wire.news, PIPES_PATIENCE_S if is_over else float("inf")) and is_over:
                break
        return wire.take()

    async def write(self, data: bytes) -> None:
        """Say something, and wait until most of it is taken; TalkOver when nobody listens.

        It is handed over whole: a cancellation does not cut it in half. One that lives and does not read holds whoever
        writes, so give it a time.
        """
        wire = self._wire
        await wire.writable.wait()
        pipe = self._spawned.stdin
        if pipe is None or not wire.listens or pipe.is_closing():
            raise TalkOver
        pipe.write(data)
        await wire.writable.wait()
        if not wire.listens:
            raise TalkOver

    def close_stdin(self) -> None:
        """Say no more; what was said already still arrives."""
        pipe = self._spawned.stdin
        self._wire.hang_up()
        # It may have ended already.
        with contextlib.suppress(RuntimeError, OSError):
            if pipe is not None and not pipe.is_closing():
                pipe.write_eof()

    def stderr_tail(self) -> str:
        """The last of what it complained about."""
        return bytes(self._wire.tail[-STDERR_TAIL_BYTES:]).decode(errors="replace")

    async def stop(self, *, interrupt_s: float = INTERRUPT_GRACE_S) -> Survivors:
        """Interrupt it and all of its tree, then ask them to end, then make them.

        Whoever reads on meanwhile hears its last words, and one that waits to say them is not taken for deaf.
        """
        wire, took = self._wire, None
        for number, patience_s in ((signal.SIGINT, interrupt_s), (signal.SIGTERM, TERM_GRACE_S)):
            if wire.exited.is_set():
                break
            # The first process of a sandbox holds its walls: signalled, it would take the others with it unasked.
            self._spawned.tree.send(number, spare_root=self._sandbox.owns_processes)
            if await rings(wire.exited, patience_s):
                took = number.name
        if not wire.exited.is_set():
            return Survivors(signal.SIGKILL.name, await self._spawned.end(is_urgent=True))
        _, survivors = await self._sweep()
        return Survivors(took, survivors)

    async def wait(self) -> ExitReport:
        """Wait until it has ended by itself or by `stop`, end whoever it left behind, and say how that was.

        One whose output nobody reads may never end.
        """
        await self._wire.exited.wait()
        left_behind, survivors = await self._sweep()
        return ExitReport(
            outcome="resource_limited" if self._is_crowded else "exited",
            exit_code=self._spawned.exit_code,
            signal=self._spawned.signal,
            duration_ms=self._spawned.duration_ms,
            stdout_bytes=self._wire.stdout_bytes,
            stderr_bytes=self._wire.stderr_bytes,
            left_behind=left_behind,
            survivors=survivors,
            sandbox_layer=self._sandbox.layer,
        )

    async def leave(self) -> None:
        """End whatever is left; a cancellation rises after that."""
        self._looking.cancel()
        try:
            await to_the_end(self._spawned.end())
        finally:
            self._spawned.close()

    async def _sweep(self) -> tuple[int, int]:
        """End whoever outlives the process; say how many they were, and how many would not go."""
        async with self._sweeping:
            if self._swept is None:
                left_behind = 0 if self._sandbox.owns_processes else len(self._spawned.tree.members())
                self._swept = left_behind, await self._spawned.end()
            return self._swept

    def _look(self) -> None:
        if self._wire.exited.is_set():
            return
        if self._spawned.is_crowded():
            self._is_crowded = True
            self._spawned.tree.send(signal.SIGKILL)
        self._looking = asyncio.get_running_loop().call_later(_LOOK_S, self._look)


@contextlib.asynccontextmanager
async def converse(
    command: Command, *, sandbox: Sandbox, limits: Limits | None = None, groups: Groups | None = None
) -> AsyncIterator[Talk]:
    """Start a process to speak with; whatever ends the block, nobody of its tree is left after it."""
    walls = Walls(sandbox=sandbox, limits=limits or Limits(), groups=groups)
    talk = Talk(await spawn(command, walls, _Wire, has_stdin=True), sandbox)
    try:
        if command.stdin:
            # One that has ended by now is told by the end of its output.
            with contextlib.suppress(TalkOver):
                await talk.write(command.stdin)
        yield talk
    finally:
        await talk.leave()


class _Wire(Wire):
    """What comes from the process, and whether it takes what we say."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: deque[bytes] = deque()
        self.news = asyncio.Event()
        self.tail = bytearray()
        self.writable = asyncio.Event()
        self.writable.set()
        self.stdout_bytes = self.stderr_bytes = 0
        self._held = 0
        self._is_paused = False
        self._is_hung_up = False

    @property
    def listens(self) -> bool:
        return not self._is_hung_up and not self.exited.is_set()

    def hang_up(self) -> None:
        self._is_hung_up = True
        self.writable.set()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == STDERR:
            self.stderr_bytes += len(data)
            self.tail += data[-STDERR_TAIL_BYTES:]
            if len(self.tail) > 4 * STDERR_TAIL_BYTES:
                del self.tail[:-STDERR_TAIL_BYTES]
            return
        self.stdout_bytes += len(data)
        self._held += len(data)
        self.pieces.extend(data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES))
        if self._held > AHEAD_BYTES - PIECE_BYTES and not self._is_paused:
            self._is_paused = True
            self.let_read(STDOUT, is_reading=False)
        self.news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == STDIN:
            self.hang_up()
        super().pipe_connection_lost(fd, exc)

    def pause_writing(self) -> None:
        if self.listens:
            self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def wake(self) -> None:
        self.news.set()
        if self.exited.is_set():
            self.writable.set()

    def take(self) -> bytes:
        taken: list[bytes] = []
        size = 0
        while self.pieces and size + len(self.pieces[0]) <= PIECE_BYTES:
            taken.append(self.pieces.popleft())
            size += len(taken[-1])
        self._held -= size
        if self._is_paused and self._held <= AHEAD_BYTES // 2:
            self._is_paused = False
            self.let_read(STDOUT, is_reading=True)
        return b"".join(taken)
