"""Our gateway with a producer beside it. `python -m bench.gateway_process PORT DIRECTORY`.

Everything that is measured is the product's own: services, application and server come from the composition root. This
file adds, in front of the application, a few addresses under /bench/ that make events in the same process, as a worker
of the product would; every other request goes through untouched.
"""

import asyncio
import os
import sys
from collections.abc import Coroutine
from urllib.parse import parse_qsl

import msgspec
import uvloop
from starlette.types import ASGIApp, Receive, Scope, Send

from bench.corpus import drafts
from bench.load.frames import stamp
from bench.ours import FINISHED, payloads, start_runs
from bench.ours_server import events_path
from runwire.config import load_config
from runwire.gateway.app import create_app
from runwire.gateway.server import serve
from runwire.journal.journal import Journal
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.tool import ToolCompleted
from runwire.wiring.serving import open_services

_GROWTH_BATCH = 500


class ProducerInFront:
    """Answers /bench/… and passes all the rest on."""

    def __init__(self, application: ASGIApp, journal: Journal) -> None:
        self._application = application
        self._journal = journal
        self._events = payloads(drafts(4096))
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or not scope["path"].startswith("/bench/"):
            await self._application(scope, receive, send)
            return
        query = dict(parse_qsl(scope["query_string"].decode()))
        match scope["path"]:
            case "/bench/health":
                await _answer(send, {})
            case "/bench/runs":
                (run_id,) = await start_runs(self._journal, 1)
                await _answer(send, {"run_id": run_id})
            case "/bench/grow":
                await self._append(query["run"], int(query["events"]), _GROWTH_BATCH)
                await _answer(send, {})
            case "/bench/produce":
                self._spawn(self._produce(query["run"], int(query["events"]), float(query["rate"]), int(query["join"])))
                await _answer(send, {})
            case "/bench/stream":
                (run_id,) = await start_runs(self._journal, 1)
                self._spawn(self._speak(run_id, int(query["chunks"])))
                await self._application(_as_reader(scope, run_id), receive, send)

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _produce(self, run_id: str, events: int, rate: float, join: int) -> None:
        if rate:
            await self._append_paced(run_id, events, rate)
        else:
            await self._append(run_id, events, join)
        await self._journal.append(run_id, FINISHED)

    async def _append(self, run_id: str, events: int, batch: int) -> None:
        for start in range(0, events, batch):
            offset = start % (len(self._events) - batch)
            await self._journal.append_all(run_id, self._events[offset : offset + min(batch, events - start)])

    async def _append_paced(self, run_id: str, events: int, rate: float) -> None:
        """Append on the beat whether or not the one before is durable yet, so that no delay hides another."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        models = [event for event in self._events if isinstance(event, ToolCompleted)]
        appends = []
        for index in range(events):
            await asyncio.sleep(max(0.0, started + index / rate - loop.time()))
            model = models[index % len(models)]
            words = stamp()
            stamped = msgspec.structs.replace(model, summary=words + str(model.summary)[len(words) :])
            appends.append(self._journal.append(run_id, stamped))
        await asyncio.gather(*appends)

    async def _speak(self, run_id: str, chunks: int) -> None:
        """Stream text as a model would: a chunk for every pass of the loop."""
        said = [f"word{index:04d} " for index in range(chunks)]
        for chunk in said:
            await asyncio.sleep(0)
            await self._journal.offer(run_id, AssistantTextDelta(turn_index=0, block_index=0, delta=chunk))
        whole = AssistantTextComplete(turn_index=0, block_index=0, text="".join(said))
        await self._journal.append_all(run_id, [whole, FINISHED])


def _as_reader(scope: Scope, run_id: str) -> Scope:
    """The same request as a GET for the run's events."""
    path = events_path(run_id)
    headers = [*scope["headers"], (b"accept", b"text/event-stream")]
    return {**scope, "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers}


async def _answer(send: Send, found: dict[str, str]) -> None:
    body = msgspec.json.encode(found)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def main(port: int, directory: str) -> None:
    """Serve until the process is told to end."""
    config = load_config(environ=os.environ, options={"data": directory, "port": port})
    async with open_services(config, environ=os.environ) as services:
        await services.tokens.start()
        await serve(ProducerInFront(create_app(services), services.journal), services)


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), sys.argv[2]))
