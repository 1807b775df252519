"""Something that listens where an AgentOS should be, and answers whatever a test has it answer."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

GONE = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"


@dataclass(slots=True)
class AgnoServer:
    """What was asked, and what is answered to each start and each continuation, in order."""

    answers: list[bytes]
    port: int = 0
    asked: list[str] = field(default_factory=list)
    """The first line of each request."""
    headers: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and hang up."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, _, headers = head.partition("\r\n")
        fields = {name.lower(): value for name, _, value in (one.partition(": ") for one in headers.split("\r\n"))}
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        self.asked.append(first)
        if body:
            self.headers.append(headers.lower())
            self.forms.append(dict(parse_qsl(body.decode())))
        writer.write(self.answers.pop(0) if body and self.answers else GONE)
        try:
            await writer.drain()
        finally:
            writer.close()


def streamed(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An answer that ends when the connection does."""
    lines = (f"HTTP/1.1 {status}", "content-type: text/event-stream", "connection: close", *headers)
    return "\r\n".join([*lines, "", ""]).encode() + body


@asynccontextmanager
async def serving(answers: Sequence[bytes]) -> AsyncGenerator[AgnoServer]:
    """Listen, as long as the context lasts."""
    made = AgnoServer([*answers])
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made
