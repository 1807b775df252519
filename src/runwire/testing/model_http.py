"""A small HTTP server on loopback that can misbehave on purpose: stay silent, hang up, stream byte by byte."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol, Self

_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_NO_BODY = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came. Header names are in small letters; the path is without its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Reply:
    """One response on a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, has_body: bool = True) -> None:
        self._reader = reader
        self._writer = writer
        self._has_body = has_body

    async def whole(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer at once."""
        self._head(status, {"content-type": "application/json", **headers, "content-length": str(len(body))})
        if self._has_body and status not in _NO_BODY:
            self._writer.write(body)
        await self._writer.drain()

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[Callable[[bytes], Awaitable[None]]]:
        """Answer piece by piece, as the real servers do."""
        self._head(200, {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked"})
        await self._writer.drain()

        async def send(data: bytes) -> None:
            self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self._writer.drain()

        yield send
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def until_left(self) -> None:
        """Say nothing more until the client hangs up."""
        await self._reader.read()
        raise ConnectionResetError

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        phrase = _PHRASES.get(status, "Overloaded")
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())


class Respond(Protocol):
    """Answers one request; a `ConnectionError` hangs up."""

    async def __call__(self, request: Request, reply: Reply) -> None: ...


class LoopbackServer:
    """Serves on a free port of loopback until it is closed; `async with LoopbackServer(respond) as server`."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._connections: set[asyncio.StreamWriter] = set()
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in tuple(self._connections):
            writer.transport.abort()
        await self.until(lambda: not self._connections)
        await self._server.wait_closed()

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return len(self._connections)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that a request or a connection changes."""
        async with self._changed:
            await self._changed.wait_for(holds)

    async def tell(self) -> None:
        """Wake those who wait in `until`."""
        async with self._changed:
            self._changed.notify_all()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while (request := await _read(reader)) is not None:
                await self._respond(request, Reply(reader, writer, has_body=request.method != "HEAD"))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away: what many of the tests are about
        finally:
            writer.transport.abort()
            self._connections.discard(writer)
            await self.tell()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None when there is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    opening, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    method, target, _ = opening.split(" ", 2)
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _read_chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target.partition("?")[0], headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    pieces: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        pieces.append((await reader.readexactly(size + 2))[:-2])
    await reader.readuntil(b"\r\n")
    return b"".join(pieces)
