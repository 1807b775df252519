"""Starts a confined process and sees it off: its own session, its limits, its tree. What is said with it is not its business.

process.py runs commands to their end on it, conversing.py talks with one that lives on.
"""

import asyncio
import contextlib
import errno
import secrets
import signal
import subprocess
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from runwire.errors import RunwireError
from runwire.workspace.environment import MARK, split_early
from runwire.workspace.errors import CommandInvalid, SandboxUnavailable, WorkspaceInvalid
from runwire.workspace.limits import Group, Groups, Limits, limited
from runwire.workspace.sandbox.layer import Confinement, Sandbox
from runwire.workspace.tree import Tree

STDIN, STDOUT, STDERR = 0, 1, 2
PIPES_PATIENCE_S = 1.0
"""How long pipes may stay open after the process that was started has ended."""

# So often in a row at the limit on processes, it is no coincidence.
_PINNED_LOOKS = 3
_GROUP_TRIES = 40
_GROUP_PAUSE_S = 0.025
_NO_PROCESS_HINT = "the machine has no room for another process; try again when it is less busy"

T = TypeVar("T")
W = TypeVar("W", bound="Wire")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run and where."""

    argv: Sequence[str]
    confinement: Confinement
    environ: Mapping[str, str]
    """All of it, as `child_environment` makes it."""
    stdin: bytes = b""
    """What it is told first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walls:
    """What holds a process, and what counts what it takes."""

    sandbox: Sandbox
    limits: Limits = field(default_factory=Limits)
    groups: Groups | None = None


class Wire(asyncio.SubprocessProtocol):
    """The pipes of a process: who is still there, and how to have it wait. What comes is for others to keep."""

    def __init__(self) -> None:
        """Begin before the process does."""
        self.exited = asyncio.Event()
        self.open_pipes = {STDOUT, STDERR}
        self.transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Know the process."""
        self.transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - the Protocol's signature
        """One pipe has ended."""
        self.open_pipes.discard(fd)
        self.wake()

    def process_exited(self) -> None:
        """The process itself has ended; others may still hold its pipes."""
        self.exited.set()
        self.wake()

    def wake(self) -> None:
        """Something has changed for whoever waits."""

    def let_read(self, fd: int, *, is_reading: bool) -> None:
        """Read on from a pipe, or have the process wait once the pipe is full."""
        pipe = self.transport.get_pipe_transport(fd) if self.transport is not None else None
        if isinstance(pipe, asyncio.ReadTransport) or hasattr(pipe, "pause_reading"):
            # Pausing twice, or a pipe that closes at this moment, is no mistake of ours.
            with contextlib.suppress(RuntimeError):
                reading = cast("asyncio.ReadTransport", pipe)
                (reading.resume_reading if is_reading else reading.pause_reading)()


class Spawned(Generic[W]):
    """A process that was started, and everybody who came of it."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, wire: W, *, tree: Tree, limits: Limits, group: Group | None
    ) -> None:
        """Take over what `spawn` has started."""
        self.transport = transport
        self.wire = wire
        self.tree = tree
        self._most = limits.processes
        self._group = group
        self._pinned = 0
        self.begun = asyncio.get_running_loop().time()
        self.ended: float | None = None

    @property
    def stdin(self) -> asyncio.WriteTransport | None:
        """Where to write to it, while there is something to write to."""
        return cast("asyncio.WriteTransport | None", self.transport.get_pipe_transport(STDIN))

    @property
    def exit_code(self) -> int | None:
        """Its code; None when a signal ended it and nothing translated that, or it has not ended."""
        code = self.transport.get_returncode()
        return code if code is not None and code >= 0 else None

    @property
    def signal(self) -> str | None:
        """The signal that ended it."""
        return _signal_in(self.transport.get_returncode())

    @property
    def duration_ms(self) -> int:
        """How long it ran, once somebody has seen to its end."""
        return round(((self.begun if self.ended is None else self.ended) - self.begun) * 1000)

    def is_crowded(self) -> bool:
        """Whether there are more of it than may be; to be asked a few times a second."""
        count = self.tree.count(most=self._most)
        self._pinned = self._pinned + 1 if count * 10 >= self._most * 9 else 0
        return count > self._most or self._pinned >= _PINNED_LOOKS

    async def end(self, *, is_urgent: bool = False) -> int:
        """Leave nobody; say who would not go."""
        if self.ended is None:
            self.ended = asyncio.get_running_loop().time()
        survivors = await self.tree.end(is_urgent=is_urgent)
        await rings(self.wire.exited, PIPES_PATIENCE_S)
        for _ in range(_GROUP_TRIES):
            # Whoever ends is counted a little longer.
            if self._group is None or survivors or self._group.remove():
                break
            await asyncio.sleep(_GROUP_PAUSE_S)
        return survivors

    def close(self) -> None:
        """Let go of its pipes."""
        self.transport.close()


async def spawn(command: Command, walls: Walls, wire: Callable[[], W], *, has_stdin: bool) -> Spawned[W]:
    """Start a process in its sandbox, in a session of its own; a cancellation rises after it is gone again."""
    started: list[Spawned[W]] = []

    async def start() -> None:
        started.append(await _start(command, walls, wire, has_stdin=has_stdin))

    try:
        await to_the_end(start())
    except asyncio.CancelledError:
        for one in started:
            try:
                await to_the_end(one.end())
            finally:
                one.close()
        raise
    return started[0]


async def _start(command: Command, walls: Walls, wire: Callable[[], W], *, has_stdin: bool) -> Spawned[W]:
    if any("\0" in word for word in command.argv):
        # Some loops cut it there without a word, and then another command runs than the one that was allowed.
        raise CommandInvalid("it holds a NUL character")
    sandbox = walls.sandbox
    # Commands of one run may share an environment; a shared mark would make them one tree.
    environ = {**command.environ, MARK: secrets.token_hex(16)}
    outer, early = split_early(environ)
    group = walls.groups.make(walls.limits) if walls.groups is not None else None
    inside = limited(command.argv, walls.limits, early=early, is_namespaced=sandbox.owns_processes)
    argv = sandbox.wrap(inside, command.confinement)
    if group is not None:
        argv = group.entering(argv)
    loop = asyncio.get_running_loop()
    try:
        transport, made = await loop.subprocess_exec(
            wire,
            *argv,
            stdin=subprocess.PIPE if has_stdin else subprocess.DEVNULL,
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
    return Spawned(transport, made, tree=tree, limits=walls.limits, group=group)


def _not_started(error: OSError | ValueError, confinement: Confinement) -> RunwireError:
    match error:
        case FileNotFoundError() | NotADirectoryError() | PermissionError():
            return WorkspaceInvalid(str(confinement.cwd), f"cannot be worked in: {error.strerror}")
        case OSError(errno=errno.E2BIG) | ValueError():
            return CommandInvalid(str(error))
        case _:
            return SandboxUnavailable(f"no process can be started: {error}", hint=_NO_PROCESS_HINT)


async def rings(event: asyncio.Event, patience_s: float) -> bool:
    """Wait for an event, so long; say whether it came."""
    try:
        async with asyncio.timeout(None if patience_s == float("inf") else max(patience_s, 0)):
            await event.wait()
    except TimeoutError:
        return False
    return True


async def to_the_end(work: Coroutine[None, None, T]) -> T:
    """Finish what must be finished, however often we are cancelled meanwhile; it is bounded by itself."""
    task = asyncio.get_running_loop().create_task(work)
    interrupted: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            interrupted = error
    if interrupted is not None:
        if not task.cancelled():
            # Asked for, so that nobody is told of a failure that nobody asked about.
            task.exception()
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
