"""The rival of fan-out: what a Python service usually does. `python -m bench.rivals.queues PORT`.

Starlette's StreamingResponse on uvicorn (uvloop, httptools), an `asyncio.Queue` per subscriber, one write per event.
Same two routes as the hub; nothing is stored.
"""

import asyncio
import sys
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from bench.corpus import drafts
from bench.load.frames import SYNCED, frames, stamp

# A bounded queue, so that the producer waits for slow subscribers instead of filling memory.
_DEPTH = 256


class Queues:
    """All subscribers' queues and the producer that fills them."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[bytes | None]] = set()
        self._frames = frames(drafts(4096))
        self._producing: asyncio.Task[None] | None = None

    async def events(self, _: Request) -> Response:
        """Subscribe."""
        return StreamingResponse(self._follow(), media_type="text/event-stream")

    async def produce(self, request: Request) -> Response:
        """Start the producer."""
        events, rate = int(request.query_params["events"]), float(request.query_params["rate"])
        self._producing = asyncio.create_task(self._produce(events, rate))
        return PlainTextResponse("")

    async def _follow(self) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(_DEPTH)
        self._queues.add(queue)
        yield SYNCED
        while (frame := await queue.get()) is not None:
            yield frame

    async def _produce(self, events: int, rate: float) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        for index in range(events):
            frame = self._frames[index % len(self._frames)]
            if rate:
                await asyncio.sleep(max(0.0, started + index / rate - loop.time()))
                words = stamp().encode()
                frame = frame[: -4 - len(words)] + words + frame[-4:]
            for queue in self._queues:
                await queue.put(frame)
        for queue in self._queues:
            await queue.put(None)
        self._queues.clear()


async def healthy(_: Request) -> Response:
    """Say that the server is up."""
    return PlainTextResponse("ok")


def serve(port: int) -> None:
    """Serve until the process is ended."""
    queues = Queues()
    routes = [
        Route("/healthz", healthy),
        Route("/events", queues.events),
        Route("/produce", queues.produce, methods=["POST"]),
    ]
    uvicorn.run(
        Starlette(routes=routes), host="127.0.0.1", port=port, loop="uvloop", http="httptools", log_level="warning",
        access_log=False, backlog=4096,
    )  # fmt: skip


if __name__ == "__main__":
    serve(int(sys.argv[1]))
