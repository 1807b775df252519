"""Every process that came of one command, also those that left its group, its session and their parents.

Where the sandbox has a process namespace, the kernel ends all of them with the first one and this is only belt and
braces. Elsewhere they are found by descent, by the mark in their environment, and by the control group.
"""

import asyncio
import contextlib
import ctypes
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runwire.workspace.environment import MARK
from runwire.workspace.limits import Group

TERM_GRACE_S = 2.0
KILL_PATIENCE_S = 5.0

_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")
_LOOK_AGAIN_S = 0.02


@dataclass(frozen=True, slots=True)
class Process:
    """One process at one time: a number alone may be given to another later."""

    pid: int
    parent: int
    group: int
    started: int
    is_dead: bool
    """Ended, but nobody asked how."""


def become_subreaper() -> bool:
    """Have orphans of our commands become our children, so that descent finds them; say whether the system can."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class Tree:
    """The processes of one command."""

    def __init__(self, root: int, *, mark: str, group: Group | None, is_namespaced: bool) -> None:
        """Start from the process that was spawned."""
        self._root = root
        self._first = _look(root) if _PROC.is_dir() else None
        self._mark = f"{MARK}={mark}".encode()
        self._group = group
        self._is_namespaced = is_namespaced
        # Who was seen once belongs to the tree, even after its parents are gone.
        self._seen: dict[int, Process] = {}

    def count(self, *, most: int) -> int:
        """How many there are, cheaply and not much past `most`: for the limit on processes."""
        if self._group is not None and (grouped := self._group.count()):
            return grouped
        descent = _descent(self._root) if _PROC.is_dir() else self._by_descent(_table())
        found = frozenset(itertools.islice(descent, most + 1))
        for pid in found - self._seen.keys():
            process = _look(pid)
            if process is not None:
                self._seen[pid] = process
        return len(found)

    def members(self) -> tuple[Process, ...]:
        """Everybody who is alive now."""
        table = _table()
        own = os.getpid()
        found = {pid: table[pid] for pid in self._by_descent(table)}
        if self._group is not None:
            found |= {pid: table[pid] for pid in self._group.pids() if pid in table}
        found |= {pid: table[pid] for pid, seen in self._seen.items() if _is_same(table.get(pid), seen)}
        if _PROC.is_dir():
            # Nobody who came of the command is older than its first process.
            since = self._first.started if self._first is not None else 0
            younger = (each for pid, each in table.items() if pid not in found and each.started >= since)
            found |= {each.pid: each for each in younger if self._is_marked(each.pid)}
        found.pop(own, None)
        self._seen |= found
        self._reap(found)
        return tuple(each for each in found.values() if not each.is_dead)

    def send(self, number: signal.Signals, *, spare_root: bool = False) -> int:
        """Signal everybody, or everybody but the first; say how many there were."""
        members = [each for each in self.members() if not (spare_root and each.pid == self._root)]
        for each in members:
            _send(each, number)
        return len(members)

    async def end(self, *, is_urgent: bool = False) -> int:
        """Ask everybody to end, unless it is urgent, then make them; say how many would not go."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        if is_urgent:
            self._kill_at_once()
            left = len(self.members())
        else:
            # The first process of a sandbox holds its walls: asked to end, it would take the others with it unasked.
            left = self.send(signal.SIGTERM, spare_root=self._is_namespaced)
            while left and loop.time() - begun < TERM_GRACE_S:
                await asyncio.sleep(_LOOK_AGAIN_S)
                left = len(self.members())
        while left and loop.time() - begun < KILL_PATIENCE_S:
            self._kill_at_once()
            self.send(signal.SIGKILL)
            await asyncio.sleep(_LOOK_AGAIN_S)
            left = len(self.members())
        return left

    def _kill_at_once(self) -> None:
        """Have the kernel kill many in one step: those who fork faster than we look would outrun us."""
        root = _look(self._root) if _PROC.is_dir() else None
        if root is None or self._first is None or not _is_same(root, self._first):
            return
        inner = tuple(_children(self._root)) if self._is_namespaced else ()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._root, signal.SIGKILL)
        for pid in inner:
            # The first of the namespace: all of it dies with this one.
            process = _look(pid)
            if process is not None:
                _send(process, signal.SIGKILL)

    def _by_descent(self, table: dict[int, Process]) -> Iterator[int]:
        root = table.get(self._root)
        if root is not None and self._first is not None and not _is_same(root, self._first):
            # The number was given to a stranger, which it can only be once nobody of the group is left.
            return
        children: dict[int, list[int]] = {}
        for each in table.values():
            children.setdefault(each.parent, []).append(each.pid)
            if each.group == self._root and each.pid != self._root:
                yield each.pid
        waiting = [self._root] if self._root in table else []
        while waiting:
            pid = waiting.pop()
            yield pid
            waiting.extend(children.get(pid, ()))

    def _is_marked(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            environ = _told(pid, "environ")
            # Seldom is it in there at all, and only then is it worth taking apart.
            return self._mark in environ and self._mark in environ.split(b"\0")
        return False

    def _reap(self, found: dict[int, Process]) -> None:
        for each in found.values():
            # The loop waits for the one that it spawned; orphans that we adopted have only us.
            if each.is_dead and each.pid != self._root and each.parent == os.getpid():
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(each.pid, os.WNOHANG)


def _table() -> dict[int, Process]:
    if not _PROC.is_dir():
        return _table_of_ps()
    pids = (int(name) for name in os.listdir(_PROC) if name.isdigit())
    return {each.pid: each for each in map(_look, pids) if each is not None}


def _look(pid: int) -> Process | None:
    try:
        text = _told(pid, "stat")
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, parentheses too.
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[19]), fields[0] in {b"Z", b"X"})


def _told(pid: int, name: str) -> bytes:
    """What the kernel tells of a process. Everybody on the machine is asked after each command, so the way is short."""
    with open(f"{_PROC}/{pid}/{name}", "rb", buffering=0) as file:
        return file.readall()


def _descent(root: int) -> Iterator[int]:
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting.extend(_children(pid))


def _children(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(_PROC / str(pid) / "task"):
            with contextlib.suppress(OSError):
                yield from map(int, _told(pid, f"task/{thread}/children").split())


def _table_of_ps() -> dict[int, Process]:
    command = ["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat="]
    listed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5).stdout
    rows = (line.split() for line in listed.splitlines())
    found = (Process(int(row[0]), int(row[1]), int(row[2]), 0, row[3].startswith("Z")) for row in rows if len(row) > 3)
    return {each.pid: each for each in found}


def _is_same(now: Process | None, seen: Process) -> bool:
    return now is not None and now.started == seen.started


def _send(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if not hasattr(os, "pidfd_open"):
            os.kill(process.pid, number)
            return
        try:
            held = os.pidfd_open(process.pid)
        except OSError:
            return
        try:
            # Held before it is looked at again, so the number cannot pass to another in between.
            if _is_same(_look(process.pid), process):
                signal.pidfd_send_signal(held, number)
        finally:
            os.close(held)
