"""A gateway as users meet it: real services on a real data directory, behind a real socket."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2
import msgspec

from runwire.config import Config
from runwire.gateway.app import create_app
from runwire.gateway.server import serve
from runwire.gateway.services import Services
from runwire.journal.frames import envelopes
from runwire.journal.records import RunBirth
from runwire.protocol.events.run import RunFinished, RunQueued, RunStarted
from runwire.protocol.payload import Opaque, Payload
from runwire.wiring.serving import open_services
from tests.patience import PATIENCE_S

V1 = "/hecate/v1"
SSE = {"accept": "text/event-stream"}
NDJSON = {"accept": "application/x-ndjson"}
QUEUED = RunQueued(kind="shell", model=None, provider=None, workspace_path=None, workspace_mode=None)
STARTED = RunStarted(worker_id="worker-1")
FINISHED = RunFinished(turns=1, cost_micros_usd=7, duration_ms=5)


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event."""

    event: str
    id: str | None
    data: bytes


@dataclass(slots=True)
class Subscription:
    """A live stream, read frame by frame."""

    response: httpx2.Response
    chunks: AsyncIterator[bytes]
    text: bytes = b""
    seen: list[Frame] = field(default_factory=list)

    async def next(self) -> Frame | None:
        """The next frame, `retry` left out; None at the end of the stream."""
        while True:
            while b"\n\n" not in self.text:
                async with asyncio.timeout(PATIENCE_S):
                    chunk = await anext(self.chunks, None)
                if chunk is None:
                    return None
                self.text += chunk
            block, _, self.text = self.text.partition(b"\n\n")
            frame = parse_frame(block)
            if frame is not None:
                self.seen.append(frame)
                return frame

    async def message(self) -> Frame:
        """The next frame, which must be an event of the run."""
        frame = await self.next()
        assert frame is not None
        assert frame.event == "message", frame
        return frame

    async def until(self, event: str) -> list[Frame]:
        """Every frame up to the first of a kind, that one included."""
        found = []
        while (frame := await self.next()) is not None:
            found.append(frame)
            if frame.event == event:
                return found
        raise AssertionError(f"the stream ended without {event}: {found}")

    async def rest(self) -> list[Frame]:
        """Every frame to the end of the stream."""
        found = []
        while (frame := await self.next()) is not None:
            found.append(frame)
        return found


@dataclass(frozen=True, slots=True)
class Served:
    """One running gateway and a caller who may do everything."""

    services: Services
    port: int
    token: str
    http: httpx2.AsyncClient

    async def run(self, *payloads: Payload | Opaque, run_id: str = "run_1", task_id: str | None = "task_1") -> str:
        """Begin a run, by default with two events, and return its id."""
        birth = RunBirth(run_id, task_id=task_id, session_id="chat_1", agent="zot")
        await self.services.journal.create_run(birth, payloads or (QUEUED, STARTED))
        return run_id

    async def say(self, run_id: str, *texts: str) -> None:
        """Append one event for each text."""
        await self.services.journal.append_all(run_id, [note(text) for text in texts])

    async def finish(self, run_id: str) -> None:
        """End a run."""
        await self.services.journal.append(run_id, FINISHED)

    async def stored(self, run_id: str) -> list[bytes]:
        """A run's envelopes, as the journal has them."""
        found: list[bytes] = []
        cursor = -1
        while (batch := await self.services.journal.reader.read(run_id, cursor, 1 << 20)) is not None:
            found += envelopes(batch.frames)
            cursor = batch.last
        return found

    @asynccontextmanager
    async def subscribed(
        self, path: str, params: Mapping[str, str] | None = None, *, last: str | None = None
    ) -> AsyncGenerator[Subscription]:
        """Follow a stream, from behind the last event of an earlier one where that is named."""
        headers = SSE if last is None else SSE | {"last-event-id": last}
        async with self.http.stream("GET", V1 + path, headers=headers, params=params) as response:
            assert response.status_code == 200, await response.aread()
            yield Subscription(response, response.aiter_raw())

    async def raw(self, request: bytes, *, until_closed: bool = True) -> bytes:
        """Send bytes and return what comes back until the server closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            async with asyncio.timeout(PATIENCE_S):
                return await (reader.read() if until_closed else reader.read(65536))
        finally:
            writer.close()


def note(text: str, event_type: str = "external.note") -> Opaque:
    """An event that carries a text."""
    return Opaque.of(event_type, msgspec.json.encode({"text": text}))


def parse_frame(block: bytes) -> Frame | None:
    """A frame as EventSource would understand it; None for a block that dispatches nothing."""
    fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if line)
    if b"data" not in fields:
        return None
    identifier = fields[b"id"].decode() if b"id" in fields else None
    return Frame(fields.get(b"event", b"message").decode(), identifier, fields[b"data"])


def parse_frames(body: bytes) -> list[Frame]:
    """Every frame of a stream that has ended."""
    assert body.endswith(b"\n\n")
    return [frame for block in body.split(b"\n\n") if (frame := parse_frame(block)) is not None]


def messages(frames: Sequence[Frame]) -> list[bytes]:
    """The envelopes among some frames."""
    return [frame.data for frame in frames if frame.event == "message"]


def error_of(response: httpx2.Response) -> dict[str, Any]:
    """The error of an answer, whose shape is proven on the way."""
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    error: dict[str, Any] = body.pop("error")
    # Agno's clients look for the message elsewhere.
    assert body == ({"detail": error["message"]} if response.url.path.startswith("/agno/") else {})
    assert set(error) == {"code", "message", "hint", "request_id", "details"}
    assert error["request_id"] == response.headers["x-request-id"]
    assert error["request_id"].startswith("req_")
    assert error["message"]
    assert error["hint"]
    assert isinstance(error["details"], dict)
    return error


@asynccontextmanager
async def serving(
    data: Path, *, slots: int | None = None, console: Path | None = None, **settings: Any
) -> AsyncGenerator[Served]:
    """A gateway on a data directory and a free port, until the block ends; with slots it works on runs, too."""
    config = Config(data=data, **({"port": 0} | settings))
    environ = {} if slots is None else {"PATH": os.environ["PATH"]}
    async with open_services(config, environ=environ, workers=slots) as services:
        services = services if console is None else replace(services, console=console)
        token = await services.tokens.start()
        listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(serve(create_app(services), services, started=listening.set_result, stop=stop))
            port = await listening
            try:
                async with caller(port, token) as http:
                    try:
                        yield Served(services, port, token, http)
                    finally:
                        stop.set()
            finally:
                # A test that fails must not cut it short: the loop cannot be closed over a socket that still listens.
                await listener


def caller(port: int, token: str | None) -> httpx2.AsyncClient:
    """An HTTP client of a gateway."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers=headers,
        timeout=PATIENCE_S,
        limits=httpx2.Limits(max_connections=None),
        trust_env=False,
        # Reading the certificates takes longer than most tests, and plain HTTP needs none.
        verify=False,
    )


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
