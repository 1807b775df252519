"""Runs one command in its sandbox: reads what it prints as it prints it, stops it at its limits, and leaves nobody.

One coroutine does all of it, without tasks of its own, on any event loop. Whatever ends it (the command, the clock, a
limit, a cancellation) the whole tree is gone when it returns or raises.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from runwire.workspace.limits import Groups, Limits
from runwire.workspace.output import Piece, Splitter
from runwire.workspace.sandbox.layer import Sandbox
from runwire.workspace.spawning import (
    PIPES_PATIENCE_S,
    STDERR,
    STDOUT,
    Command,
    Spawned,
    Walls,
    Wire,
    rings,
    spawn,
    to_the_end,
)

OUTPUT_LIMIT_BYTES = 1024 * 1024

_GATHER_S = 0.025
_GATHER_BYTES = 16 * 1024
_HELD_BYTES = 256 * 1024
_LOOK_S = 0.2

Outcome = Literal["exited", "timed_out", "output_limited", "resource_limited"]
OnOutput = Callable[[Piece], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """When to stop it."""

    timeout_s: float | None = 120.0
    output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitReport:
    """How it ended."""

    outcome: Outcome
    exit_code: int | None
    """None when a signal ended it and nothing translated that."""
    signal: str | None
    duration_ms: int
    stdout_bytes: int
    stderr_bytes: int
    left_behind: int
    """How many processes were still there when the command itself had ended, and were ended too."""
    survivors: int
    """How many could not be ended. Never more than none, unless the system refuses."""
    sandbox_layer: str


async def run_process(
    command: Command,
    *,
    sandbox: Sandbox,
    on_output: OnOutput,
    caps: Caps | None = None,
    groups: Groups | None = None,
) -> ExitReport:
    """Run a command to its end, or to its limits; a cancellation rises after the whole tree is gone.

    `on_output` is awaited piece by piece, in the order of arrival; while it waits, the command waits too.
    """
    caps = caps or Caps()
    walls = Walls(sandbox=sandbox, limits=caps.limits, groups=groups)
    spawned = await spawn(command, walls, lambda: _Wire(caps.output_limit_bytes), has_stdin=bool(command.stdin))
    child = _Child(spawned, caps=caps)
    try:
        child.feed(command.stdin)
        outcome = await child.follow(on_output)
        left_behind = 0 if sandbox.owns_processes or outcome != "exited" else len(spawned.tree.members())
        survivors = await to_the_end(spawned.end(is_urgent=outcome == "resource_limited"))
        await child.flush(on_output)
    except BaseException:
        await to_the_end(spawned.end())
        raise
    finally:
        spawned.close()
    return ExitReport(
        outcome=outcome,
        exit_code=spawned.exit_code,
        signal=spawned.signal,
        duration_ms=spawned.duration_ms,
        stdout_bytes=spawned.wire.total[STDOUT],
        stderr_bytes=spawned.wire.total[STDERR],
        left_behind=left_behind,
        survivors=survivors,
        sandbox_layer=sandbox.layer,
    )


class _Wire(Wire):
    """What comes from the child, gathered in order of arrival."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__()
        self._left = limit_bytes
        self.arrived: list[tuple[int, bytearray]] = []
        self.held = 0
        self.total = {STDOUT: 0, STDERR: 0}
        self.news = asyncio.Event()
        self.hurry = asyncio.Event()
        """Nothing is gained by waiting for more."""
        self.is_over_limit = False

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        kept = data[: self._left]
        self._left -= len(kept)
        if len(kept) < len(data):
            self.is_over_limit = True
            self.hurry.set()
        if kept:
            self.total[fd] += len(kept)
            if self.arrived and self.arrived[-1][0] == fd:
                self.arrived[-1][1].extend(kept)
            else:
                self.arrived.append((fd, bytearray(kept)))
            self.held += len(kept)
            if self.held >= _GATHER_BYTES:
                self.hurry.set()
            if self.held >= _HELD_BYTES:
                self._let_all_read(is_reading=False)
        self.news.set()

    def take(self) -> list[tuple[int, bytearray]]:
        taken, self.arrived, self.held = self.arrived, [], 0
        self.news.clear()
        self.hurry.clear()
        self._let_all_read(is_reading=True)
        return taken

    def wake(self) -> None:
        self.news.set()
        self.hurry.set()

    def _let_all_read(self, *, is_reading: bool) -> None:
        for fd in self.open_pipes:
            self.let_read(fd, is_reading=is_reading)


class _Child:
    """A command that runs."""

    def __init__(self, spawned: Spawned[_Wire], *, caps: Caps) -> None:
        self._spawned = spawned
        self._wire = spawned.wire
        self._caps = caps
        self._splitters = {STDOUT: Splitter("stdout"), STDERR: Splitter("stderr")}

    def feed(self, data: bytes) -> None:
        """Give it its input, all at once."""
        pipe = self._spawned.stdin
        if not data or pipe is None:
            return
        # It may have ended already; then nobody reads, which is no failure.
        with contextlib.suppress(RuntimeError, OSError):
            pipe.write(data)
            pipe.write_eof()

    async def follow(self, on_output: OnOutput) -> Outcome:
        """Pass on what it prints until it ends or must be ended."""
        loop = asyncio.get_running_loop()
        deadline = float("inf") if self._caps.timeout_s is None else self._spawned.begun + self._caps.timeout_s
        look_at = loop.time() + _LOOK_S
        while True:
            now = loop.time()
            if self._wire.exited.is_set():
                return "output_limited" if self._wire.is_over_limit else "exited"
            if self._wire.is_over_limit:
                return "output_limited"
            if now >= deadline:
                return "timed_out"
            if now >= look_at:
                if self._spawned.is_crowded():
                    return "resource_limited"
                look_at = now + _LOOK_S
            if await rings(self._wire.news, min(deadline, look_at) - now):
                await rings(self._wire.hurry, min(_GATHER_S, deadline - now))
                await self._pass_on(on_output)

    async def flush(self, on_output: OnOutput) -> None:
        """Pass on what is left once everybody is gone, and halves of characters too."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PIPES_PATIENCE_S
        while self._wire.open_pipes and not self._wire.is_over_limit and loop.time() < deadline:
            self._wire.news.clear()
            await self._pass_on(on_output)
            await rings(self._wire.news, deadline - loop.time())
        await self._pass_on(on_output)
        for splitter in self._splitters.values():
            for piece in splitter.end():
                await on_output(piece)

    async def _pass_on(self, on_output: OnOutput) -> None:
        for fd, data in self._wire.take():
            for piece in self._splitters[fd].feed(bytes(data)):
                await on_output(piece)
