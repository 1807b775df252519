"""The first process inside the namespaces that `unshare` made. A program of its own: it imports nothing of ours.

Its first argument says what to mount (see unshare.py); the rest is the command. The order matters: what stays writable
is copied as a detached mount first, then everything there is becomes read-only and without devices in one step, then
the copies and the empty folders are put in place.
"""

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn, TypedDict

_SYS_OPEN_TREE, _SYS_MOVE_MOUNT, _SYS_MOUNT_SETATTR = 428, 429, 442
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH = 4
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 23, 24, 38, 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttr(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns"))


class Orders(TypedDict):
    """What unshare.py asks for."""

    mounts: list[tuple[str, str, str]]
    read_only: list[str]
    tmp_limit_bytes: int
    loopback: bool
    cwd: str


def main(argv: Sequence[str]) -> int:
    """Arrange the mounts, give up every right, run the command, and end as it ends."""
    orders: Orders = json.loads(argv[0])
    command = argv[1:]
    _arrange(orders)
    if orders["loopback"]:
        _raise_loopback()
    os.chdir(orders["cwd"])
    _give_up_rights()
    return _stay_until_it_ends(command)


def _arrange(orders: Orders) -> None:
    mounts = orders["mounts"]
    room = f"size={orders['tmp_limit_bytes']}"
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE, "")
    devices = {name: _copy(f"/dev/{name}") for name in _DEVICES if os.path.exists(f"/dev/{name}")}
    copies = {target: _copy(source) for kind, target, source in mounts if kind in {"write", "read"}}
    _set_attributes(_AT_FDCWD, "/", _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, _AT_RECURSIVE)
    blank = _copy("/dev/null")
    for kind, target, _ in mounts:
        if kind == "empty":
            _make_place(target, like=-1)
            _mount("tmpfs", target, "tmpfs", _MS_NOSUID | _MS_NODEV, f"mode=0755,{room}")
        elif kind == "blank":
            _put(_copy_of(blank), target)
        else:
            flags = _ATTR_NOSUID | _ATTR_NODEV | (_ATTR_RDONLY if kind == "read" else 0)
            _set_attributes(copies[target], "", flags, _AT_EMPTY_PATH | _AT_RECURSIVE)
            _put(copies[target], target)
    _open_to_all("/tmp")
    _fill_dev(devices)
    _fill_proc(orders["read_only"])


def _fill_dev(devices: Mapping[str, int]) -> None:
    _mount("tmpfs", "/dev", "tmpfs", _MS_NOSUID | _MS_NOEXEC, "mode=0755,size=64k")
    for name, copy in devices.items():
        _put(copy, f"/dev/{name}")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"/dev/{name}")
    os.mkdir("/dev/shm")
    _mount("tmpfs", "/dev/shm", "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=1777,size=256m")
    os.mkdir("/dev/pts")
    _mount("devpts", "/dev/pts", "devpts", _MS_NOSUID | _MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    os.symlink("pts/ptmx", "/dev/ptmx")


def _fill_proc(read_only: Sequence[str]) -> None:
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, "")
    for path in read_only:
        if os.path.exists(path):
            copy = _copy(path)
            _set_attributes(copy, "", _ATTR_RDONLY, _AT_EMPTY_PATH | _AT_RECURSIVE)
            _put(copy, path)


def _copy(path: str) -> int:
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
    return _call(_SYS_OPEN_TREE, ctypes.c_int(_AT_FDCWD), _text(path), ctypes.c_uint(flags))


def _copy_of(copy: int) -> int:
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_EMPTY_PATH
    return _call(_SYS_OPEN_TREE, ctypes.c_int(copy), _text(""), ctypes.c_uint(flags))


def _put(copy: int, target: str) -> None:
    _make_place(target, like=copy)
    flags = ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH)
    _call(_SYS_MOVE_MOUNT, ctypes.c_int(copy), _text(""), ctypes.c_int(_AT_FDCWD), _text(target), flags)
    os.close(copy)


def _set_attributes(descriptor: int, path: str, attributes: int, flags: int) -> None:
    attr = _MountAttr(attributes, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(attr))
    _call(_SYS_MOUNT_SETATTR, ctypes.c_int(descriptor), _text(path), ctypes.c_uint(flags), ctypes.byref(attr), size)


def _make_place(target: str, *, like: int) -> None:
    """Make a folder or an empty file to mount on, where an empty folder around it left none."""
    if os.path.lexists(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    is_file = like >= 0 and not os.path.isdir(f"/proc/self/fd/{like}")
    if is_file:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644))
    else:
        os.mkdir(target)


def _open_to_all(path: str) -> None:
    try:
        os.chmod(path, 0o1777)
    except OSError as error:
        # A folder that stands in for it may belong to somebody else, who chose its rights.
        if error.errno not in {errno.EPERM, errno.EROFS}:
            raise


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        (flags,) = struct.unpack_from("H", fcntl.ioctl(link, _SIOCGIFFLAGS, asked), 16)
        fcntl.ioctl(link, _SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", flags | _IFF_UP, b""))


def _give_up_rights() -> None:
    capability = 0
    while _libc.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) >= 0:
        _checked(_libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0))
        capability += 1
    _checked(_libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, bytes(24)))
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _stay_until_it_ends(command: Sequence[str]) -> int:
    child = os.fork()
    if child == 0:
        _become(command)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # We are the first process of this namespace: whoever loses its parent becomes our child.
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _become(command: Sequence[str]) -> NoReturn:
    try:
        # Python ignores broken pipes, and whoever is run by it would too.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.setsid()
        os.execv(command[0], list(command))
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _mount(source: str, target: str, kind: str, flags: int, data: str) -> None:
    _checked(_libc.mount(_text(source), _text(target), _text(kind), ctypes.c_ulong(flags), _text(data)), target)


def _call(number: int, *arguments: object) -> int:
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments))


def _checked(result: int, what: str = "") -> int:
    if result < 0:
        problem = ctypes.get_errno()
        raise OSError(problem, os.strerror(problem), what or None)
    return result


def _text(text: str) -> ctypes.c_char_p:
    return ctypes.c_char_p(os.fsencode(text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
