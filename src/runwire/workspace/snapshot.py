"""The state of a workspace at one moment, kept apart from it, so that what somebody else has written can be told.

Bytes lie in one file without a name, which is gone with us however we end; the workspace's own repository, its index and
its objects are never touched, and git is not needed. A file that looks as it did is not read again.
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Literal, Self

import lz4.block

from runwire.workspace.changes import FileChange, FileState
from runwire.workspace.errors import PathRefused, WorkspaceInvalid
from runwire.workspace.looking import Sight, look, read_plain
from runwire.workspace.root import Root
from runwire.workspace.spawning import to_the_end

BODY_LIMIT_BYTES = 8 * 1024 * 1024
"""A longer file is only known to have changed."""
KEPT_LIMIT_BYTES = 4 * 1024**3
FILES_MAX = 250_000

_SECOND_NS = 1_000_000_000
# Two writes within one tick of the file system's clock cannot be told apart by their times.
_TICK_NS = _SECOND_NS // 20

Kind = Literal["file", "link", "large", "closed"]
_Signature = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Unpatchable:
    """A path that has changed in a way that no patch can tell, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """What stood at a path."""

    kind: Kind
    mode: int
    identity: str
    """Which bytes, or where the link points; of a file that was not read, how it looked."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was found at a path the last time, and how the file looked then."""

    signature: _Signature
    entry: _Entry
    is_settled: bool
    """Whether the look alone tells that nothing has happened since."""


_REASONS: Mapping[Kind, str] = {
    "link": "it is or was a symbolic link",
    "large": f"it has or had more than {BODY_LIMIT_BYTES} bytes",
    "closed": "it cannot or could not be read",
}


class Shadow:
    """States of one workspace. Close it, or use it as a context manager."""

    def __init__(self, workspace: Path, folder: Path, *, kept_limit_bytes: int = KEPT_LIMIT_BYTES) -> None:
        """Keep bytes on the disk of `folder`, which is outside of the workspace and may be shared."""
        self._root = Root.open(workspace)
        self._kept_limit = kept_limit_bytes
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._pack = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - it stays open until `close`
        self._places: dict[str, tuple[int, int]] = {}
        self._size = 0
        self._seen: dict[str, _Seen] = {}
        self._trees: dict[str, dict[str, _Entry]] = {}
        self._taking = asyncio.Lock()

    def __enter__(self) -> Self:
        """Be closed at the end of the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let go."""
        self.close()

    @property
    def workspace(self) -> Path:
        """The folder that is looked at, by its real path."""
        return self._root.path

    def close(self) -> None:
        """Let go of all that was kept."""
        self._pack.close()
        self._root.close()

    async def take(self) -> str:
        """Keep the state of the workspace as it is now; the same state has the same id."""
        async with self._taking:
            # A thread cannot be called off, and must not write behind the back of whoever comes next.
            return await to_the_end(asyncio.to_thread(self._take))

    def forget(self, tree: str) -> None:
        """Let a state go that nobody will compare any more."""
        self._trees.pop(tree, None)

    async def changes(self, before: str, after: str) -> AsyncGenerator[FileChange | Unpatchable]:
        """What has happened between two states, path by path; bytes are in memory one path at a time."""
        old, new = self._trees[before], self._trees[after]
        for path in sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)):
            yield await asyncio.to_thread(self._change, path, old.get(path), new.get(path))

    async def body(self, revision: str) -> bytes | None:
        """Bytes that stood somewhere once; None when they were not kept."""
        return await asyncio.to_thread(self._body, revision)

    def _take(self) -> str:
        now_ns = self._file_clock()
        try:
            self._seen = self._look(now_ns)
        except OSError as error:
            raise WorkspaceInvalid(str(self._root.path), f"cannot be looked through: {error.strerror}") from error
        tree = {path: one.entry for path, one in self._seen.items()}
        name = _name_of(tree)
        self._trees.setdefault(name, tree)
        return name

    def _look(self, now_ns: int) -> dict[str, _Seen]:
        seen: dict[str, _Seen] = {}
        with contextlib.closing(look(self._root.path)) as sights:
            for sight in sights:
                if len(seen) >= FILES_MAX:
                    problem = f"has more than {FILES_MAX} files that are not ignored"
                    raise WorkspaceInvalid(str(self._root.path), problem)
                signature = _signature(sight.status)
                known = self._seen.get(sight.path)
                if known is None or not known.is_settled or known.signature != signature:
                    known = self._look_closer(sight, signature, known, now_ns)
                seen[sight.path] = known
        return seen

    def _look_closer(self, sight: Sight, signature: _Signature, known: _Seen | None, now_ns: int) -> _Seen:
        mode = stat.S_IMODE(sight.status.st_mode)
        if stat.S_ISLNK(sight.status.st_mode):
            return _Seen(signature, _Entry("link", 0, _target(sight)), is_settled=False)
        if sight.status.st_size > BODY_LIMIT_BYTES:
            return _Seen(signature, _Entry("large", mode, repr(signature)), is_settled=True)
        found = read_plain(sight.folder, sight.name, BODY_LIMIT_BYTES)
        if found is None:
            return _Seen(signature, _Entry("closed", mode, repr(signature)), is_settled=False)
        body, status = found
        entry = _Entry("file", stat.S_IMODE(status.st_mode), self._keep(body))
        if known is not None and known.entry == entry:
            # One value for one state: comparing is then a matter of identity.
            entry = known.entry
        is_whole = _signature(status) == signature and len(body) == status.st_size
        return _Seen(signature, entry, is_settled=is_whole and _is_old(status, now_ns))

    def _keep(self, body: bytes) -> str:
        revision = FileState(body).revision
        if revision not in self._places and self._size < self._kept_limit:
            packed = lz4.block.compress(body)
            # A disk that is full keeps no more, which is told of whatever changes then.
            with contextlib.suppress(OSError):
                if os.pwrite(self._pack.fileno(), packed, self._size) == len(packed):
                    self._places[revision] = (self._size, len(packed))
                    self._size += len(packed)
        return revision

    def _body(self, revision: str) -> bytes | None:
        place = self._places.get(revision)
        if place is None:
            return None
        return bytes(lz4.block.decompress(os.pread(self._pack.fileno(), place[1], place[0])))

    def _change(self, path: str, old: _Entry | None, new: _Entry | None) -> FileChange | Unpatchable:
        for entry in (new, old):
            if entry is not None and entry.kind != "file":
                return Unpatchable(path, _REASONS[entry.kind])
        try:
            self._root.writable(path)
        except PathRefused as refused:
            return Unpatchable(path, refused.reason)
        states: list[FileState | None] = []
        for entry in (old, new):
            body = None if entry is None else self._body(entry.identity)
            if entry is not None and body is None:
                return Unpatchable(path, "its bytes could not be kept")
            states.append(None if entry is None else FileState(body or b"", entry.mode))
        return FileChange(path, *states)

    def _file_clock(self) -> int:
        """The time as the file system counts it."""
        os.utime(self._pack.fileno())
        return os.fstat(self._pack.fileno()).st_mtime_ns


def _signature(status: os.stat_result) -> _Signature:
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _is_old(status: os.stat_result, now_ns: int) -> bool:
    """Whether whoever writes the file now would leave it with other times."""
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    # Some file systems count whole seconds, or two at a time.
    tick_ns = _TICK_NS if newest % _SECOND_NS else 2 * _SECOND_NS
    return newest < now_ns - tick_ns


def _target(sight: Sight) -> str:
    try:
        return os.readlink(sight.name, dir_fd=sight.folder)
    except OSError:
        return ""


def _name_of(tree: Mapping[str, _Entry]) -> str:
    digest = sha256()
    for part in _parts(tree):
        digest.update(part)
    return digest.hexdigest()


def _parts(tree: Mapping[str, _Entry]) -> Iterator[bytes]:
    for path in sorted(tree):
        entry = tree[path]
        yield b"%s\0%s %o %s\0" % (
            os.fsencode(path),
            entry.kind.encode(),
            entry.mode,
            os.fsencode(entry.identity),
        )
