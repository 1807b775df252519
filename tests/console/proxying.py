"""Something between a browser and a gateway: it may put a prefix before every path, and it may fall silent."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress


class Proxy:
    """Passes requests on, one a connection. What lies beyond its prefix it does not know."""

    def __init__(self, port: int, prefix: str) -> None:
        self._port = port
        self._prefix = prefix.encode()
        self._open: set[asyncio.Task[None]] = set()
        self._answers: set[asyncio.Task[None]] = set()

    def hush(self) -> None:
        """Keep back what is left of every answer that is on its way, and close nothing."""
        for answer in self._answers:
            answer.cancel()

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a browser."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def end(self) -> None:
        """Close every connection."""
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(ConnectionError, asyncio.IncompleteReadError):
            method, path, rest = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)
            if not path.startswith(self._prefix + b"/"):
                writer.write(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                return
            behind, onward = await asyncio.open_connection("127.0.0.1", self._port)
            with closing(onward):
                onward.write(b" ".join((method, path.removeprefix(self._prefix), _once(rest))))
                await self._exchange((reader, onward), (behind, writer))

    async def _exchange(self, there: "_Pipe", back: "_Pipe") -> None:
        asking, answer = asyncio.create_task(_pass(*there)), asyncio.create_task(_pass(*back))
        self._answers.add(answer)
        try:
            await asyncio.wait([answer])
            if answer.cancelled():
                # Nobody is told that nothing more will come.
                await asyncio.Event().wait()
        finally:
            self._answers.discard(answer)
            asking.cancel()
            answer.cancel()
            await asyncio.gather(asking, answer, return_exceptions=True)


_Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def _once(head: bytes) -> bytes:
    """The rest of a head, that asks for the connection to end with the answer."""
    kept = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*kept[:-2], b"connection: close", *kept[-2:]])


async def _pass(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(65536):
        target.write(piece)
        await target.drain()


@asynccontextmanager
async def proxied(port: int, prefix: str = "") -> AsyncGenerator[tuple[Proxy, int]]:
    """A proxy before a gateway, and its port."""
    proxy = Proxy(port, prefix)
    server = await asyncio.start_server(proxy.take, "127.0.0.1", 0)
    try:
        yield proxy, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await proxy.end()
        await server.wait_closed()
