"""Writing to a socket without giving up the interpreter.

`os.write` and `socket.send` let other threads run meanwhile. With a thousand readers to serve, each such pause hands the
interpreter to whichever thread compresses or reads, and getting it back takes longer than the write. The socket never
blocks, so there is nothing to wait for: the C function is called with the interpreter held.
"""

import ctypes
import errno
import os

_libc = ctypes.PyDLL(None, use_errno=True)
_send = _libc.send
_send.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_send.restype = ctypes.c_ssize_t

_FULL = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR, errno.ENOBUFS})


def write_now(socket: int, data: bytes, start: int = 0) -> int:
    """Give a non-blocking socket as much from `start` on as it takes; return how much that was. A broken one is an OSError."""
    taken: int = _send(socket, data if start == 0 else _address(data) + start, len(data) - start, 0)
    if taken >= 0:
        return taken
    number = ctypes.get_errno()
    if number in _FULL:
        return 0
    raise OSError(number, os.strerror(number))


def _address(data: bytes) -> int:
    """Where the bytes lie, for as long as somebody holds them: what remains of large data is sent without copying it."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
