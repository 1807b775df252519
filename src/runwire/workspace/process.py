"""Runs one command in its sandbox: reads what it prints as it prints it, stops it at its limits, and leaves nobody.

One coroutine does all of it, without tasks of its own, on any event loop. Whatever ends it (the command, the clock, a
limit, a cancellation) the whole tree is gone when it returns or raises.
"""

import asyncio
import contextlib
import errno
import secrets
import signal
import subprocess
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from runwire.errors import RunwireError
from runwire.workspace.environment import MARK, split_early
from runwire.workspace.errors import CommandInvalid, SandboxUnavailable, WorkspaceInvalid
from runwire.workspace.limits import Group, Groups, Limits, limited
from runwire.workspace.output import Piece, Splitter
from runwire.workspace.sandbox.layer import Confinement, Sandbox
from runwire.workspace.tree import Tree

OUTPUT_LIMIT_BYTES = 1024 * 1024

_GATHER_S = 0.025
_GATHER_BYTES = 16 * 1024
_HELD_BYTES = 256 * 1024
_LOOK_S = 0.2
# So often in a row at the limit on processes, it is no coincidence.
_PINNED_LOOKS = 3
_PIPES_PATIENCE_S = 1.0
_GROUP_TRIES = 40
_NO_PROCESS_HINT = "the machine has no room for another process; try again when it is less busy"

Outcome = Literal["exited", "timed_out", "output_limited", "resource_limited"]
OnOutput = Callable[[Piece], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run and where."""

    argv: Sequence[str]
    confinement: Confinement
    environ: Mapping[str, str]
    """All of it, as `child_environment` makes it."""
    stdin: bytes = b""


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
    child = await _start(command, sandbox, caps, groups)
    try:
        child.feed(command.stdin)
        outcome = await child.follow(on_output)
        left_behind = 0 if sandbox.owns_processes or outcome != "exited" else len(child.tree.members())
        survivors = await _to_the_end(child.end(is_urgent=outcome == "resource_limited"))
        await child.flush(on_output)
    except BaseException:
        await _to_the_end(child.end())
        raise
    finally:
        child.close()
    return child.report(outcome, left_behind=left_behind, survivors=survivors)


async def _start(command: Command, sandbox: Sandbox, caps: Caps, groups: Groups | None) -> "_Child":
    if any("\0" in word for word in command.argv):
        # Some loops cut it there without a word, and then another command runs than the one that was allowed.
        raise CommandInvalid("it holds a NUL character")
    # Commands of one run may share an environment; a shared mark would make them one tree.
    environ = {**command.environ, MARK: secrets.token_hex(16)}
    outer, early = split_early(environ)
    group = groups.make(caps.limits) if groups is not None else None
    inside = limited(command.argv, caps.limits, early=early, is_namespaced=sandbox.owns_processes)
    argv = sandbox.wrap(inside, command.confinement)
    if group is not None:
        argv = group.entering(argv)
    loop = asyncio.get_running_loop()
    try:
        transport, wire = await loop.subprocess_exec(
            lambda: _Wire(caps.output_limit_bytes),
            *argv,
            stdin=subprocess.PIPE if command.stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=str(command.confinement.cwd),
            env=outer,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        if group is not None:
            group.remove()
        raise _not_started(error, command.confinement) from error
    tree = Tree(transport.get_pid(), mark=outer[MARK], group=group, is_namespaced=sandbox.owns_processes)
    child = _Child(transport, wire, tree=tree, caps=caps, group=group)
    child.layer = sandbox.layer
    return child


def _not_started(error: OSError | ValueError, confinement: Confinement) -> RunwireError:
    match error:
        case FileNotFoundError() | NotADirectoryError() | PermissionError():
            return WorkspaceInvalid(str(confinement.cwd), f"cannot be worked in: {error.strerror}")
        case OSError(errno=errno.E2BIG) | ValueError():
            return CommandInvalid(str(error))
        case _:
            return SandboxUnavailable(f"no process can be started: {error}", hint=_NO_PROCESS_HINT)


class _Wire(asyncio.SubprocessProtocol):
    """What comes from the child, gathered in order of arrival."""

    def __init__(self, limit_bytes: int) -> None:
        self._left = limit_bytes
        self.arrived: list[tuple[int, bytearray]] = []
        self.held = 0
        self.total = {1: 0, 2: 0}
        self.news = asyncio.Event()
        self.hurry = asyncio.Event()
        """Nothing is gained by waiting for more."""
        self.exited = asyncio.Event()
        self.is_over_limit = False
        self.open_pipes = {1, 2}
        self.transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.SubprocessTransport", transport)

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
                self._let_read(is_reading=False)
        self.news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - the Protocol's signature
        self.open_pipes.discard(fd)
        self._wake()

    def process_exited(self) -> None:
        self.exited.set()
        self._wake()

    def take(self) -> list[tuple[int, bytearray]]:
        taken, self.arrived, self.held = self.arrived, [], 0
        self.news.clear()
        self.hurry.clear()
        self._let_read(is_reading=True)
        return taken

    def _wake(self) -> None:
        self.news.set()
        self.hurry.set()

    def _let_read(self, *, is_reading: bool) -> None:
        for fd in self.open_pipes:
            pipe = self.transport.get_pipe_transport(fd) if self.transport is not None else None
            if isinstance(pipe, asyncio.ReadTransport) or hasattr(pipe, "pause_reading"):
                # Pausing twice, or a pipe that closes at this moment, is no mistake of ours.
                with contextlib.suppress(RuntimeError):
                    reading = cast("asyncio.ReadTransport", pipe)
                    (reading.resume_reading if is_reading else reading.pause_reading)()


class _Child:
    """A command that runs."""

    layer = ""

    def __init__(
        self, transport: asyncio.SubprocessTransport, wire: _Wire, *, tree: Tree, caps: Caps, group: Group | None
    ) -> None:
        self._transport = transport
        self._wire = wire
        self.tree = tree
        self._caps = caps
        self._group = group
        self._splitters = {1: Splitter("stdout"), 2: Splitter("stderr")}
        self._begun = asyncio.get_running_loop().time()
        self._ended: float | None = None
        self._pinned = 0

    def feed(self, data: bytes) -> None:
        """Give it its input, all at once."""
        pipe = self._transport.get_pipe_transport(0)
        if not data or pipe is None:
            return
        # It may have ended already; then nobody reads, which is no failure.
        with contextlib.suppress(RuntimeError, OSError):
            writing = cast("asyncio.WriteTransport", pipe)
            writing.write(data)
            writing.write_eof()

    async def follow(self, on_output: OnOutput) -> Outcome:
        """Pass on what it prints until it ends or must be ended."""
        loop = asyncio.get_running_loop()
        deadline = float("inf") if self._caps.timeout_s is None else self._begun + self._caps.timeout_s
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
                if self._is_crowded():
                    return "resource_limited"
                look_at = now + _LOOK_S
            if await _rings(self._wire.news, min(deadline, look_at) - now):
                await _rings(self._wire.hurry, min(_GATHER_S, deadline - now))
                await self._pass_on(on_output)

    async def flush(self, on_output: OnOutput) -> None:
        """Pass on what is left once everybody is gone, and halves of characters too."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PIPES_PATIENCE_S
        while self._wire.open_pipes and not self._wire.is_over_limit and loop.time() < deadline:
            self._wire.news.clear()
            await self._pass_on(on_output)
            await _rings(self._wire.news, deadline - loop.time())
        await self._pass_on(on_output)
        for splitter in self._splitters.values():
            for piece in splitter.end():
                await on_output(piece)

    async def end(self, *, is_urgent: bool = False) -> int:
        """Leave nobody; say who would not go."""
        if self._ended is None:
            self._ended = asyncio.get_running_loop().time()
        survivors = await self.tree.end(is_urgent=is_urgent)
        await _rings(self._wire.exited, _PIPES_PATIENCE_S)
        for _ in range(_GROUP_TRIES):
            # Whoever ends is counted a little longer.
            if self._group is None or survivors or self._group.remove():
                break
            await asyncio.sleep(_GATHER_S)
        return survivors

    def close(self) -> None:
        """Let go of its pipes."""
        self._transport.close()

    def report(self, outcome: Outcome, *, left_behind: int, survivors: int) -> ExitReport:
        """How it ended."""
        code = self._transport.get_returncode()
        ended = self._begun if self._ended is None else self._ended
        return ExitReport(
            outcome=outcome,
            exit_code=code if code is not None and code >= 0 else None,
            signal=_signal_in(code),
            duration_ms=round((ended - self._begun) * 1000),
            stdout_bytes=self._wire.total[1],
            stderr_bytes=self._wire.total[2],
            left_behind=left_behind,
            survivors=survivors,
            sandbox_layer=self.layer,
        )

    async def _pass_on(self, on_output: OnOutput) -> None:
        for fd, data in self._wire.take():
            for piece in self._splitters[fd].feed(bytes(data)):
                await on_output(piece)

    def _is_crowded(self) -> bool:
        most = self._caps.limits.processes
        count = self.tree.count(most=most)
        self._pinned = self._pinned + 1 if count * 10 >= most * 9 else 0
        return count > most or self._pinned >= _PINNED_LOOKS


async def _rings(event: asyncio.Event, patience_s: float) -> bool:
    """Wait for an event, so long; say whether it came."""
    try:
        async with asyncio.timeout(None if patience_s == float("inf") else max(patience_s, 0)):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def _to_the_end(work: Coroutine[None, None, int]) -> int:
    """Finish what must be finished, however often we are cancelled meanwhile; it is bounded by itself."""
    task = asyncio.get_running_loop().create_task(work)
    interrupted: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted
    return task.result()


def _signal_in(code: int | None) -> str | None:
    # A sandbox tells a death by signal as shells do: 128 and the number.
    if code is None or (code >= 0 and not 128 < code < 160):
        return None
    try:
        return signal.Signals(-code if code < 0 else code - 128).name
    except ValueError:
        return None
