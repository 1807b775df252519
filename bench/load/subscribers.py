"""One fast client process that holds many SSE connections: plain epoll and `recv_into`, no HTTP library in the way.

The same client reads ours, the limit and the rival. Every byte is received; frames are counted and times read on one
connection in `sample_every` (none when 0), because parsing all of them would measure the client. A run is over when
every connection has been closed by its server.
"""

import re
import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

_STAMP = re.compile(rb"at=(\d+) ")
_FRAME = b"\nid: "


@dataclass(frozen=True, slots=True)
class Load:
    """What to ask for, how often, and when to start the clock."""

    port: int
    requests: tuple[bytes, ...]
    ready: bytes | None = None
    trigger: bytes | None = None
    sample_every: int = 0
    keep: bool = False
    timeout_s: float = 120.0


@dataclass(slots=True)
class Received:
    """What arrived: seconds from the trigger (or first request) to the last byte, and what the samples showed."""

    seconds: float = 0.0
    first_byte_s: float = 0.0
    size: int = 0
    least_size: int = 0
    frames: list[int] = field(default_factory=list)
    delays_ms: list[float] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class _Connection:
    socket: socket.socket
    sampled: bool
    size: int = 0
    frames: int = 0
    tail: bytes = b""
    kept: list[bytes] = field(default_factory=list)


def get(path: str, token: str = "") -> bytes:
    """A GET for an event stream that the server closes when it is over."""
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    accept = "Accept: text/event-stream\r\nConnection: close\r\n"
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}{accept}\r\n".encode()


def post(path: str, token: str = "", form: str = "") -> bytes:
    """A POST with a form body, answered by a stream or by nothing of interest."""
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    kind = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\nConnection: close\r\n"
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}{kind}\r\n{form}".encode()


def receive(load: Load) -> Received:
    """Connect, wait until all are ready, pull the trigger, read until the last connection ends."""
    started = time.perf_counter()
    connections = _connect(load.port, load.requests, load.sample_every)
    if load.ready is not None:
        _await_ready(connections, load.ready, whole_frame=True)
        started = time.perf_counter()
    trigger = _pull(load.port, load.trigger) if load.trigger is not None else None
    result = Received()
    _drain(connections, load, started, result)
    result.seconds = time.perf_counter() - started
    if trigger is not None:
        trigger.close()
    result.size = sum(connection.size for connection in connections)
    result.least_size = min(connection.size for connection in connections)
    result.frames = [connection.frames for connection in connections if connection.sampled]
    result.bodies = [body(b"".join(connection.kept)) for connection in connections if load.keep]
    return result


@contextmanager
def holding(port: int, request: bytes, count: int, ready: bytes, receive_buffer: int = 0) -> Iterator[None]:
    """Hold `count` streams open, read up to `ready` and not further, while the block runs."""
    connections = _connect(port, (request,) * count, 0, receive_buffer)
    try:
        _await_ready(connections, ready, whole_frame=False)
        yield
    finally:
        for connection in connections:
            connection.socket.close()


def _connect(port: int, requests: Sequence[bytes], sample_every: int, receive_buffer: int = 0) -> list[_Connection]:
    connections = []
    for index, request in enumerate(requests):
        link = socket.socket()
        if receive_buffer:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        link.settimeout(10)
        link.connect(("127.0.0.1", port))
        link.sendall(request)
        connections.append(_Connection(socket=link, sampled=sample_every > 0 and index % sample_every == 0))
    return connections


def _await_ready(connections: list[_Connection], marker: bytes, *, whole_frame: bool) -> None:
    """Read each connection up to the marker, or up to the end of the frame that holds it, and not further."""
    ends = (b"\n\n", b"\n\n\r\n") if whole_frame else b""
    for connection in connections:
        seen = b""
        while marker not in seen or not seen.endswith(ends):
            part = connection.socket.recv(65536)
            if not part:
                raise RuntimeError(f"the server closed a stream before it was ready: {seen[:300]!r}")
            seen += part


def _pull(port: int, request: bytes) -> socket.socket:
    link = socket.create_connection(("127.0.0.1", port), timeout=10)
    link.sendall(request)
    return link


def _drain(connections: list[_Connection], load: Load, started: float, result: Received) -> None:
    buffer = bytearray(1 << 20)
    view = memoryview(buffer)
    poll = select.epoll()
    by_fd = {}
    for connection in connections:
        connection.socket.setblocking(False)
        by_fd[connection.socket.fileno()] = connection
        poll.register(connection.socket, select.EPOLLIN)
    deadline = time.perf_counter() + load.timeout_s
    while by_fd:
        ready = poll.poll(1.0)
        if not ready and time.perf_counter() > deadline:
            raise TimeoutError(f"{len(by_fd)} streams were still open after {load.timeout_s} s")
        for fd, _ in ready:
            connection = by_fd[fd]
            size = connection.socket.recv_into(buffer)
            if size == 0:
                poll.unregister(fd)
                del by_fd[fd]
                connection.socket.close()
                continue
            if not connection.size and not result.first_byte_s:
                result.first_byte_s = time.perf_counter() - started
            connection.size += size
            if load.keep:
                connection.kept.append(bytes(view[:size]))
            elif connection.sampled:
                _look(connection, bytes(view[:size]), result.delays_ms)


def _look(connection: _Connection, part: bytes, delays_ms: list[float]) -> None:
    """Count frames and read the times in them; what follows the last whole frame waits for the next part."""
    now = time.monotonic_ns()
    text = connection.tail + part
    end = text.rfind(b"\n\n") + 1
    connection.tail = text[end:]
    whole = text[:end]
    connection.frames += whole.count(_FRAME) + whole.startswith(_FRAME[1:])
    delays_ms.extend((now - int(stamp)) / 1e6 for stamp in _STAMP.findall(whole))


def body(response: bytes) -> bytes:
    """The body of an HTTP response, its chunks joined."""
    head, _, rest = response.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return rest
    parts, position = [], 0
    while position < len(rest):
        line_end = rest.index(b"\r\n", position)
        size = int(rest[position:line_end], 16)
        if size == 0:
            break
        parts.append(rest[line_end + 2 : line_end + 2 + size])
        position = line_end + 4 + size
    return b"".join(parts)
