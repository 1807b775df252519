"""The limit of fan-out: a bare uvloop hub. `python -m bench.rivals.hub PORT`.

It parses nothing but the request line, keeps nothing, promises nothing: frames of one pass are joined once and the same
bytes object is written to every subscriber's transport. It waits only while some socket buffer is full.

`GET /events` subscribes. `POST /produce?events=N&rate=R&join=J` sends N frames (R a second; 0 is as fast as possible, J
joined per write) and then closes every subscriber.
"""

import asyncio
import sys
from typing import cast
from urllib.parse import parse_qs, urlsplit

import uvloop

from bench.corpus import drafts
from bench.load.frames import HEAD, SYNCED, frames, stamp


class Hub:
    """All subscribers, and which of them cannot take more just now."""

    def __init__(self) -> None:
        self.subscribers: set[asyncio.Transport] = set()
        self.full: set[asyncio.Transport] = set()
        self.drained = asyncio.Event()
        self.frames = frames(drafts(4096))
        self.producing: asyncio.Task[None] | None = None

    async def produce(self, events: int, rate: float, join: int) -> None:
        """Send `events` frames to everyone, then end all streams."""
        if rate:
            await self._paced(events, rate)
        else:
            await self._unpaced(events, join)
        for transport in list(self.subscribers):
            transport.close()

    async def _unpaced(self, events: int, join: int) -> None:
        for first in range(0, events, join):
            count = min(join, events - first)
            start = first % (len(self.frames) - join)
            self._write(b"".join(self.frames[start : start + count]))
            await asyncio.sleep(0)
            while self.full:
                self.drained.clear()
                await self.drained.wait()

    async def _paced(self, events: int, rate: float) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        for index in range(events):
            await asyncio.sleep(max(0.0, started + index / rate - loop.time()))
            # The stamp takes the place of as many bytes, so the frame stays as long as the others.
            words = stamp().encode()
            frame = self.frames[index % len(self.frames)]
            self._write(frame[: -4 - len(words)] + words + frame[-4:])

    def _write(self, joined: bytes) -> None:
        for transport in self.subscribers:
            transport.write(joined)


class Connection(asyncio.Protocol):
    """One client: a subscriber, or the one that starts the producer."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports keep the interface without inheriting it.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        method, target, _ = data.decode().split(" ", 2)
        if method == "GET" and target.startswith("/events"):
            self._transport.write(HEAD + SYNCED)
            self._hub.subscribers.add(self._transport)
            return
        self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        if method == "POST":
            query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
            produce = self._hub.produce(int(query["events"]), float(query["rate"]), int(query["join"]))
            self._hub.producing = asyncio.get_running_loop().create_task(produce)

    def pause_writing(self) -> None:
        self._hub.full.add(self._transport)

    def resume_writing(self) -> None:
        self._hub.full.discard(self._transport)
        self._hub.drained.set()

    def connection_lost(self, _: Exception | None) -> None:
        self._hub.subscribers.discard(self._transport)
        self._hub.full.discard(self._transport)
        self._hub.drained.set()


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    hub = Hub()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(hub), "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
