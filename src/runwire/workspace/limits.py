"""How much a command may take of the machine: processes, memory, file sizes.

A control group counts exactly where we may make one; resource limits do what they can everywhere. They are set by a
shell inside the sandbox, just before the command: code that runs between fork and exec is not safe beside threads.
"""

import contextlib
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GROUP_PREFIX = "runwire-"
_SHELL = "/bin/sh"
_ENTER_GROUP = 'echo $$ 2>/dev/null > "$0"; exec "$@"'
# Since then a user namespace counts its own processes; before, the limit would count all of the user's.
_COUNTS_BY_NAMESPACE = (5, 14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one command may take."""

    processes: int = 512
    """Threads count too."""
    memory_bytes: int = 4 * 1024**3
    file_bytes: int = 1024**3


def limited(argv: Sequence[str], limits: Limits, *, early: Mapping[str, str], is_namespaced: bool) -> Sequence[str]:
    """`argv` under resource limits and with the variables that only it may see; to be run inside the sandbox."""
    orders = [
        "ulimit -c 0",
        # In blocks of 512 bytes and of 1024, as POSIX has it.
        f"ulimit -f {limits.file_bytes // 512}",
        f"ulimit -d {limits.memory_bytes // 1024}",
    ]
    if is_namespaced and _kernel() >= _COUNTS_BY_NAMESPACE:
        # Shells do not agree on the letter.
        orders.append(f"ulimit -u {limits.processes} 2>/dev/null || ulimit -p {limits.processes} 2>/dev/null")
    given = [f"{name}={value}" for name, value in early.items()]
    script = "; ".join([*(f"{{ {order}; }} 2>/dev/null" for order in orders), 'exec "$@"'])
    return [_SHELL, "-c", script, "sh", *(["/usr/bin/env", *given] if given else []), *argv]


class Group:
    """A control group of one command's processes."""

    def __init__(self, folder: Path) -> None:
        """Use a group that was made."""
        self._folder = folder

    def entering(self, argv: Sequence[str]) -> Sequence[str]:
        """The command that enters the group and becomes `argv`."""
        return [_SHELL, "-c", _ENTER_GROUP, str(self._folder / "cgroup.procs"), *argv]

    def pids(self) -> frozenset[int]:
        """Who is in it."""
        with contextlib.suppress(OSError):
            return frozenset(int(pid) for pid in (self._folder / "cgroup.procs").read_text().split())
        return frozenset()

    def count(self) -> int:
        """How many tasks are in it, threads included."""
        with contextlib.suppress(OSError, ValueError):
            return int((self._folder / "pids.current").read_text())
        return 0

    def remove(self) -> bool:
        """Remove the group once it is empty; say whether it is gone."""
        with contextlib.suppress(FileNotFoundError):
            try:
                self._folder.rmdir()
            except FileNotFoundError:
                raise
            except OSError:
                return False
        return True


class Groups:
    """Makes control groups, where this process may."""

    def __init__(self, parents: Sequence[Path]) -> None:
        """Make them in the first of these folders that lets us."""
        self._parents = parents

    @classmethod
    def of_this_process(cls) -> "Groups":
        """Beside or beneath the group that this process is in; what a killed worker left empty is removed."""
        found = cls(tuple(_candidates()))
        found.sweep()
        return found

    def make(self, limits: Limits) -> Group | None:
        """A new group with these limits, or None where there can be none."""
        for parent in self._parents:
            folder = parent / f"{_GROUP_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
            try:
                folder.mkdir()
            except OSError:
                continue
            try:
                (folder / "pids.max").write_text(str(limits.processes))
                if (folder / "memory.max").exists():
                    (folder / "memory.max").write_text(str(limits.memory_bytes))
            except OSError:
                Group(folder).remove()
                continue
            return Group(folder)
        return None

    def sweep(self) -> None:
        """Remove empty groups whose maker is gone. One of a living maker may be empty because nobody has entered it yet."""
        for parent in self._parents:
            with contextlib.suppress(OSError):
                for folder in parent.glob(f"{_GROUP_PREFIX}*"):
                    maker = folder.name.removeprefix(_GROUP_PREFIX).partition("-")[0]
                    if not (maker.isdecimal() and _lives(int(maker))):
                        Group(folder).remove()


def _candidates() -> Iterator[Path]:
    mounts = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "pids":
            yield mounts / "pids" / path.lstrip("/")
        elif not controllers and (mounts / "cgroup.controllers").exists():
            own = mounts / path.lstrip("/")
            # Version 2 keeps processes out of a group that has controlled groups beneath it: often only beside is room.
            for folder in (own, own.parent):
                if folder.is_relative_to(mounts) and _gives_pids(folder):
                    yield folder


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # Somebody else's.
        return True
    return True


def _gives_pids(folder: Path) -> bool:
    try:
        return "pids" in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def _kernel() -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return (int(found[1]), int(found[2])) if found and os.uname().sysname == "Linux" else (0, 0)
