"""A server on a real socket that misbehaves on command: what no healthy gateway would do, a client must still survive."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in."""

    target: str
    headers: dict[str, str]


Step = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Scripted:
    """A running server and what it was asked."""

    url: str
    asked: list[Asked] = field(default_factory=list)


@asynccontextmanager
async def scripted(*steps: Step) -> AsyncGenerator[Scripted]:
    """Serve each connection by the next step; after the last one, connections are closed unanswered."""
    server: asyncio.Server
    left = list(steps)
    state = Scripted("")
    tasks: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            asked = Asked(head[0].split(" ")[1], dict(_header(line) for line in head[1:] if line))
            state.asked.append(asked)
            if left:
                await left.pop(0)(asked, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            tasks.discard(asyncio.current_task())

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    state.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield state
    finally:
        server.close()
        for task in list(tasks):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


def stream(*frames: bytes, end: str = "clean", head: bytes = HEAD) -> Step:
    """A step that streams frames and then ends in order (`clean`), breaks off (`cut`) or falls silent (`hang`)."""

    async def step(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for frame in frames:
            writer.write(b"%x\r\n%b\r\n" % (len(frame), frame))
            await writer.drain()
        if end == "clean":
            writer.write(b"0\r\n\r\n")
        elif end == "hang":
            await asyncio.Event().wait()
        await writer.drain()

    return step


def answer(status: int, body: bytes = b"", headers: Sequence[str] = ()) -> Step:
    """A step that gives one whole answer."""

    async def step(_: Asked, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", "connection: close", *headers]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()

    return step


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip()
