"""Opening a path beneath a folder, so that no symbolic link and no race can lead out of it.

The kernel does it in one step where it can (openat2, Linux 5.6). Elsewhere we walk the path one component at a time,
each opened from the folder before it and never through a link; no string is resolved twice.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_SYS_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_RESOLVE = _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
# The kernel says EAGAIN when somebody renames beneath it so busily that it cannot be sure; that passes.
_TRIES = 64
# Where the call is unknown, or a filter around this process forbids it, we walk.
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EPERM, errno.E2BIG})

OpenBeneath = Callable[[int, str, int, int], int]
"""(folder descriptor, clean relative path, flags, mode) -> descriptor; raises OSError."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def opener() -> OpenBeneath:
    """The best way that this machine has, tried once."""
    if not sys.platform.startswith("linux"):
        return walk
    call = _openat2()
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(call(here, ".", os.O_RDONLY | os.O_DIRECTORY, 0))
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return walk
        raise
    finally:
        os.close(here)
    return call


def walk(folder: int, path: str, flags: int, mode: int = 0) -> int:
    """Open `path` component by component, refusing every symbolic link with ELOOP."""
    *parents, name = path.split("/")
    at = os.dup(folder)
    try:
        for parent in parents:
            below = _step(at, parent)
            os.close(at)
            at = below
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=at)
    except OSError as error:
        raise _as_link(error, at, name) from None
    finally:
        os.close(at)


def _step(at: int, name: str) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    except OSError as error:
        raise _as_link(error, at, name) from None


def _as_link(error: OSError, at: int, name: str) -> OSError:
    # O_DIRECTORY on a link answers "not a directory", as it does for a file; the caller should hear which it was.
    if error.errno != errno.ENOTDIR:
        return error
    try:
        is_link = (os.stat(name, dir_fd=at, follow_symlinks=False).st_mode & 0o170000) == 0o120000
    except OSError:
        return error
    return OSError(errno.ELOOP, os.strerror(errno.ELOOP)) if is_link else error


def _openat2() -> OpenBeneath:
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long

    def call(folder: int, path: str, flags: int, mode: int = 0) -> int:
        how = _OpenHow(flags | os.O_CLOEXEC, mode if flags & os.O_CREAT else 0, _RESOLVE)
        name = os.fsencode(path)
        for _ in range(_TRIES):
            found = syscall(
                ctypes.c_long(_SYS_OPENAT2),
                ctypes.c_int(folder),
                ctypes.c_char_p(name),
                ctypes.byref(how),
                ctypes.c_size_t(ctypes.sizeof(how)),
            )
            if found >= 0:
                return int(found)
            problem = ctypes.get_errno()
            if problem not in {errno.EAGAIN, errno.EINTR}:
                raise OSError(problem, os.strerror(problem), path)
        raise OSError(errno.EAGAIN, "the folder is renamed too busily", path)

    return call
