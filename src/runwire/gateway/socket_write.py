"""Writing to a socket that never blocks: on the loop without giving up the interpreter, and from a thread.

`os.write` and `socket.send` let other threads run meanwhile. With a thousand readers to serve, each such pause hands the
interpreter to whichever thread compresses or reads, and getting it back takes longer than the write. The socket never
blocks, so there is nothing to wait for: the C function is called with the interpreter held.
"""

import ctypes
import errno
import os
from threading import Lock

_libc = ctypes.PyDLL(None, use_errno=True)
_send = _libc.send
_send.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_send.restype = ctypes.c_ssize_t

_FULL = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR, errno.ENOBUFS})


def write_now(socket: int, data: bytes) -> int:
    """Give a non-blocking socket as much as it takes; return how much that was. A broken one is an OSError."""
    taken: int = _send(socket, data, len(data), 0)
    if taken >= 0:
        return taken
    number = ctypes.get_errno()
    if number in _FULL:
        return 0
    raise OSError(number, os.strerror(number))


class SocketOutlet:
    """A socket as a thread may write to it, though the loop closes it meanwhile."""

    __slots__ = ("_lock", "_socket")

    def __init__(self, socket: int) -> None:
        """Write to a number of our own: when the connection's is closed, the next connection may be given it."""
        self._socket: int | None = os.dup(socket)
        self._lock = Lock()

    def take(self, frames: bytes) -> int:
        """Give the socket as much as it takes, and say how much that was. A broken or closed one is an OSError."""
        with self._lock:
            if self._socket is None:
                raise OSError(errno.EBADF, "the outlet has been closed")
            try:
                return os.write(self._socket, frames)
            except (BlockingIOError, InterruptedError):
                return 0

    def close(self) -> None:
        """Let go of the socket, as soon as nobody is writing to it."""
        with self._lock:
            if self._socket is not None:
                os.close(self._socket)
                self._socket = None
