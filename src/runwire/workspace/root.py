"""A workspace as one open folder. Everything that tools read and write goes through it, and nothing leads out.

A path is looked up from the folder's descriptor, never as a string from `/`, and no symbolic link is followed, not even
one that stays inside: that is simple to promise and cannot be raced. It does not lock (locking.py does) and knows
nothing of patches.
"""

import contextlib
import errno
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from runwire.workspace.changes import FileState
from runwire.workspace.errors import PathRefused, WorkspaceInvalid
from runwire.workspace.openat import OpenBeneath, opener
from runwire.workspace.placing import folds_case, path_of

PATH_LIMIT_BYTES = 4096
READ_LIMIT_BYTES = 64 * 1024 * 1024
TEMP_PREFIX = ".runwire-"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_REASONS = {
    errno.ELOOP: "there is a symbolic link on the way",
    errno.EXDEV: "it leads out of the workspace",
    errno.ENOTDIR: "something on the way is no folder",
    errno.ENAMETOOLONG: "a name in it is too long",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "permission is denied",
    errno.EPERM: "permission is denied",
    errno.EROFS: "it is read-only",
    errno.EAGAIN: "the folder is renamed while it is read",
    errno.ENXIO: "it is no plain file",
    errno.ETXTBSY: "it is being run",
    errno.ENOTEMPTY: "the folder is not empty",
    errno.EINVAL: "the file system does not take such a name",
    errno.EILSEQ: "the file system does not take such a name",
}

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class Found:
    """What stands at a path."""

    name: str
    kind: Kind
    size: int
    mode: int
    modified_ns: int


class Root:
    """One workspace, held open. Close it, or use it as a context manager."""

    def __init__(self, folder: int, *, path: Path, opens: OpenBeneath, folds_case: bool | None = None) -> None:
        """Take over an open folder; `Root.open` is the usual way in. Whether case is folded in it is found out if need be."""
        self._folder = folder
        self._opens = opens
        self._folds_case = folds_case
        self.path = path
        """The folder's real path, for those who must name it to another program."""

    @classmethod
    def open(cls, path: Path | str, *, opens: OpenBeneath | None = None) -> Self:
        """Hold a folder open as a workspace."""
        try:
            folder = os.open(path, _FOLDER | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            problem = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise WorkspaceInvalid(str(path), f"cannot be opened as a folder: {problem}") from error
        real = path_of(folder, path)
        known = path if isinstance(path, Path) and real == str(path) else Path(real)
        return cls(folder, path=known, opens=opens or opener())

    def __enter__(self) -> Self:
        """Be closed at the end of the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the folder."""
        self.close()

    def close(self) -> None:
        """Let the folder go. A second time does nothing."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def relative(self, path: str) -> str:
        """The path as seen from the workspace, `.` for the workspace itself; refused when it leads out."""
        _check_letters(path)
        if path.startswith("/"):
            beneath = os.path.relpath(os.path.normpath(path), self.path)
            if beneath == ".." or beneath.startswith("../"):
                # The system may spell the way to the workspace differently (/tmp is a link on some).
                with contextlib.suppress(OSError):
                    beneath = os.path.relpath(os.path.realpath(path), self.path)
        else:
            beneath = os.path.normpath(path or ".")
        if beneath == ".." or beneath.startswith("../"):
            raise PathRefused(path, "it leads out of the workspace")
        return beneath

    def read(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> FileState | None:
        """The bytes and mode of a plain file; None when there is none."""
        with self._opened(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            if descriptor is None:
                return None
            status = _plain(path, descriptor)
            if status.st_size > limit_bytes:
                raise PathRefused(path, f"it has {status.st_size} bytes, and {limit_bytes} is the most that is read")
            with os.fdopen(os.dup(descriptor), "rb") as file:
                body = file.read(limit_bytes + 1)
            if len(body) > limit_bytes:
                raise PathRefused(path, f"it passes {limit_bytes} bytes")
            return FileState(body, stat.S_IMODE(status.st_mode))

    def stat(self, path: str) -> Found | None:
        """What stands at a path, a link or a device included; None when nothing does."""
        relative = self.relative(path)
        if relative == ".":
            return _found(".", os.fstat(self._folder))
        with self._parent(path, relative) as (folder, name):
            if folder is None or not self._spelled(folder, name):
                return None
            try:
                return _found(name, os.stat(name, dir_fd=folder, follow_symlinks=False))
            except FileNotFoundError:
                return None
            except OSError as error:
                raise _refused(path, error) from error

    def list(self, path: str = ".") -> tuple[Found, ...]:
        """What is in a folder, by name. A folder that is not there is refused."""
        with self._opened(path, _FOLDER) as descriptor:
            if descriptor is None:
                raise PathRefused(path, "there is no such folder")
            found = []
            for name in sorted(os.listdir(descriptor)):
                # One may go while we look.
                with contextlib.suppress(FileNotFoundError):
                    found.append(_found(name, os.stat(name, dir_fd=descriptor, follow_symlinks=False)))
            return tuple(found)

    def write_temp(self, beside: str, body: bytes, mode: int, *, name: str | None = None) -> str:
        """Write a new file into the folder of `beside`, safe on disk, and give its path for `rename`."""
        relative = self.writable(beside)
        name = name or f"{TEMP_PREFIX}{secrets.token_hex(8)}"
        with self._parent(beside, relative) as (folder, _):
            if folder is None:
                raise PathRefused(beside, "its folder is not there")
            try:
                _write_new(folder, name, body, mode)
            except OSError as error:
                raise _refused(beside, error) from error
        return os.path.join(os.path.dirname(relative), name)

    def rename(self, source: str, target: str) -> None:
        """Put one file in the place of another, or of nothing, in one step; the folder is safe on disk after it.

        A hard link elsewhere to the old file keeps the old bytes.
        """
        source_relative, target_relative = self.writable(source), self.writable(target)
        with (
            self._parent(source, source_relative) as (from_folder, from_name),
            self._parent(target, target_relative) as (to_folder, to_name),
        ):
            if from_folder is None or to_folder is None:
                raise PathRefused(target, "its folder is not there")
            self._replaceable(target, to_folder, to_name)
            try:
                os.rename(from_name, to_name, src_dir_fd=from_folder, dst_dir_fd=to_folder)
                os.fsync(to_folder)
                os.fsync(from_folder)
            except OSError as error:
                raise _refused(target, error) from error

    def replace(self, path: str, body: bytes, mode: int = 0o644) -> None:
        """Make a file be these bytes in one step, with the folders it needs."""
        self.make_parents(path)
        temp = self.write_temp(path, body, mode)
        try:
            self.rename(temp, path)
        except BaseException:
            self.remove(temp)
            raise

    def remove(self, path: str) -> bool:
        """Remove a file (a link itself, never what it points to); say whether there was one."""
        relative = self.writable(path)
        with self._parent(path, relative) as (folder, name):
            if folder is None or not self._spelled(folder, name):
                return False
            try:
                os.unlink(name, dir_fd=folder)
                os.fsync(folder)
            except FileNotFoundError:
                return False
            except OSError as error:
                raise _refused(path, error) from error
        return True

    def chmod(self, path: str, mode: int) -> None:
        """Change the permission bits of a plain file."""
        self.writable(path)
        with self._opened(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
            if descriptor is None:
                raise PathRefused(path, "there is no such file")
            _plain(path, descriptor)
            os.fchmod(descriptor, stat.S_IMODE(mode) & 0o777)
            os.fsync(descriptor)

    def make_parents(self, path: str) -> tuple[str, ...]:
        """Make the folders that a path needs; tell which were made, outermost first."""
        made: tuple[str, ...] = ()
        parts = self.writable(path).split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            with self._parent(path, folder) as (above, name):
                if above is None:
                    raise PathRefused(path, "a folder on the way went away")
                try:
                    os.mkdir(name, 0o755, dir_fd=above)
                    os.fsync(above)
                    made = (*made, folder)
                except FileExistsError:
                    self._check_folder(path, folder)
                except OSError as error:
                    raise _refused(path, error) from error
        return made

    def remove_folder(self, path: str) -> bool:
        """Remove a folder if it is empty; say whether it went."""
        relative = self.writable(path)
        with self._parent(path, relative) as (folder, name):
            if folder is None:
                return False
            try:
                os.rmdir(name, dir_fd=folder)
            except OSError:
                return False
            os.fsync(folder)
            return True

    def _check_folder(self, path: str, folder: str) -> None:
        with self._opened(folder, _FOLDER) as descriptor:
            if descriptor is None:
                raise PathRefused(path, "something on the way is no folder")

    def writable(self, path: str) -> str:
        """The path as seen from the workspace, if a file may be written there; refused otherwise."""
        relative = self.relative(path)
        if relative == ".":
            raise PathRefused(path, "it is the workspace itself")
        if any(_is_git(part) for part in relative.split("/")):
            raise PathRefused(path, "what is in .git is written by git alone")
        return relative

    @contextlib.contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int | None]:
        relative = self.relative(path)
        try:
            descriptor = self._opens(self._folder, relative, flags, 0)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise _refused(path, error) from error
        try:
            yield descriptor if self._is_spelled(relative) else None
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def _parent(self, path: str, relative: str) -> Iterator[tuple[int | None, str]]:
        parent, _, name = relative.rpartition("/")
        with contextlib.ExitStack() as stack:
            try:
                folder = self._opens(self._folder, parent or ".", _FOLDER, 0)
                stack.callback(os.close, folder)
            except FileNotFoundError:
                yield None, name
                return
            except OSError as error:
                raise _refused(path, error) from error
            yield (folder if self._is_spelled(parent) else None), name

    def _replaceable(self, path: str, folder: int, name: str) -> None:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _refused(path, error) from error
        if not stat.S_ISREG(status.st_mode):
            raise PathRefused(path, "what stands there is no plain file")
        if not self._spelled(folder, name):
            raise PathRefused(path, "a file of that name in other letters is there")

    def _folds(self) -> bool:
        if self._folds_case is None:
            self._folds_case = folds_case(self.path)
        return self._folds_case

    def _is_spelled(self, relative: str) -> bool:
        if not self._folds() or relative in {"", "."}:
            return True
        parts = relative.split("/")
        for depth, part in enumerate(parts):
            folder = self._opens(self._folder, "/".join(parts[:depth]) or ".", _FOLDER, 0)
            try:
                if not self._spelled(folder, part):
                    return False
            finally:
                os.close(folder)
        return True

    def _spelled(self, folder: int, name: str) -> bool:
        # Where README and readme are one file, rules about paths would hold for one spelling only.
        return not self._folds() or name in os.listdir(folder)


def _check_letters(path: str) -> None:
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        raise PathRefused(path.encode(errors="replace").decode(), "it is no valid Unicode") from None
    if length > PATH_LIMIT_BYTES:
        raise PathRefused(path, f"it is longer than {PATH_LIMIT_BYTES} bytes")
    if any(unicodedata.category(letter) == "Cc" for letter in path):
        raise PathRefused(path, "it holds a control character")


def _is_git(name: str) -> bool:
    # Some file systems ignore case and invisible letters, so `.GIT` may be the same folder.
    return "".join(letter for letter in name if unicodedata.category(letter) != "Cf").casefold() == ".git"


def _write_new(folder: int, name: str, body: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        left = memoryview(body)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fchmod(descriptor, stat.S_IMODE(mode) & 0o777)
        os.fsync(descriptor)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)


def _plain(path: str, descriptor: int) -> os.stat_result:
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise PathRefused(path, "it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise PathRefused(path, "it is no plain file")
    return status


def _found(name: str, status: os.stat_result) -> Found:
    kinds: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "other")
    return Found(name, kind, status.st_size, stat.S_IMODE(status.st_mode), status.st_mtime_ns)


def _refused(path: str, error: OSError) -> PathRefused:
    return PathRefused(path, _REASONS.get(error.errno or 0, error.strerror or "it cannot be opened"))
