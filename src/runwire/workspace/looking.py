"""Walks through a workspace and says what stands where. It opens nothing but folders and files of patterns.

No symbolic link is followed: every folder is opened from the one above it. What `.gitignore` leaves out, and git's own
folders, are passed over. Nothing of git is run, and nothing that a repository configures is heard.
"""

import contextlib
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runwire.workspace.ignoring import LIMIT_BYTES, NAME, Patterns
from runwire.workspace.root import TEMP_PREFIX

DEPTH_MAX = 200
"""How many folders deep we look: each holds a descriptor open."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_GIT = ".git"


@dataclass(frozen=True, slots=True)
class Sight:
    """A plain file or a symbolic link."""

    folder: int
    """The open folder that it lies in; only until the next one is looked at."""
    name: str
    path: str
    status: os.stat_result


@dataclass(frozen=True, slots=True)
class _Scope:
    """Patterns that hold from some folder on down."""

    patterns: Patterns
    above: bytes
    """What leads from the folder of the patterns to the workspace, for those that lie above it."""
    below: int
    """How much of a path leads to the folder of the patterns, for those that lie inside."""

    def verdict(self, path: bytes, *, is_folder: bool) -> bool | None:
        return self.patterns.verdict(self.above + path[self.below :], is_folder=is_folder)


def look(workspace: Path) -> Generator[Sight]:
    """Every file and link that counts, folder by folder."""
    with contextlib.ExitStack() as stack:
        top = os.open(workspace, _FOLDER)
        stack.callback(os.close, top)
        yield from _look(top, "", tuple(_from_above(workspace)), 0)


def read_plain(folder: int, name: str, limit_bytes: int) -> tuple[bytes, os.stat_result] | None:
    """The bytes of a plain file; None when it is too long, is something else, or cannot be read."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit_bytes:
            return None
        body = _read(descriptor, status.st_size, limit_bytes)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None if len(body) > limit_bytes else (body, status)


def _read(descriptor: int, size: int, limit_bytes: int) -> bytes:
    parts: list[bytes] = []
    left = limit_bytes + 1
    # One more than it says, so that the end is seen in one step.
    wanted = size + 1
    while left > 0 and (part := os.read(descriptor, min(left, wanted))):
        parts.append(part)
        left -= len(part)
        wanted = max(wanted - len(part), 64 * 1024)
    return b"".join(parts)


def _look(folder: int, path: str, scopes: Sequence[_Scope], depth: int) -> Iterator[Sight]:
    own = read_plain(folder, NAME.decode(), LIMIT_BYTES)
    if own is not None and own[0].strip():
        # Inside, a pattern sees the path from its own folder on.
        scopes = (_Scope(Patterns.read(own[0]), b"", len(os.fsencode(path))), *scopes)
    below: list[tuple[str, str]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name == _GIT or name.startswith(TEMP_PREFIX):
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if _is_ignored(scopes, os.fsencode(path + name), is_folder=is_folder):
                    continue
                if is_folder:
                    below.append((name, f"{path}{name}/"))
                elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                    # One may go while we look.
                    with contextlib.suppress(OSError):
                        yield Sight(folder, name, path + name, entry.stat(follow_symlinks=False))
    except OSError:
        # What cannot be listed is not seen.
        return
    if depth < DEPTH_MAX:
        for name, inner in below:
            yield from _look_into(folder, name, inner, scopes, depth + 1)


def _look_into(folder: int, name: str, path: str, scopes: Sequence[_Scope], depth: int) -> Iterator[Sight]:
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        return
    try:
        yield from _look(inner, path, scopes, depth)
    finally:
        os.close(inner)


def _is_ignored(scopes: Sequence[_Scope], path: bytes, *, is_folder: bool) -> bool:
    for scope in scopes:
        verdict = scope.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _from_above(workspace: Path) -> Iterator[_Scope]:
    """The patterns of a repository that the workspace is only a part of, and those that it keeps to itself."""
    holders = (workspace, *workspace.parents)
    depth = next((at for at, one in enumerate(holders) if os.path.lexists(one / _GIT)), None)
    if depth is None:
        return
    for folder in holders[1 : depth + 1]:
        text = _text(folder, NAME.decode())
        if text:
            yield _Scope(Patterns.read(text), _between(folder, workspace), 0)
    top = holders[depth]
    if text := _text(top / _GIT / "info", "exclude"):
        yield _Scope(Patterns.read(text), _between(top, workspace), 0)


def _text(folder: Path, name: str) -> bytes:
    try:
        opened = os.open(folder, _FOLDER)
    except OSError:
        return b""
    try:
        found = read_plain(opened, name, LIMIT_BYTES)
    finally:
        os.close(opened)
    return b"" if found is None else found[0]


def _between(folder: Path, workspace: Path) -> bytes:
    inside = os.fsencode(workspace.relative_to(folder))
    return b"" if inside == b"." else inside + b"/"
