"""A proxy that meddles: it stands in front of a real gateway and breaks one promise of the protocol."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

import httpx2
import uvicorn
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send


@dataclass(slots=True)
class Passing:
    """A request on its way in, and then its answer on its way out."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    status: int = 0
    answered: dict[str, str] = field(default_factory=dict)

    @property
    def streams(self) -> bool:
        """Whether the answer is a stream of events."""
        return self.answered.get("content-type", "").startswith("text/event-stream")


def _nothing(_: Passing) -> None:
    """Leave it as it is."""


def _same(_: Passing, piece: bytes) -> bytes:
    return piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Meddling:
    """What the proxy changes: the request, the head of the answer, and each frame of a stream or else the whole body."""

    asked: Callable[[Passing], None] = _nothing
    answered: Callable[[Passing], None] = _nothing
    body: Callable[[Passing, bytes], bytes] = _same


class _Proxy:
    """The proxy as an application."""

    def __init__(self, url: str, meddling: Meddling) -> None:
        self._url = url
        self._meddling = meddling

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        kept = {name: value for name, value in request.headers.items() if name not in {"host", "accept-encoding"}}
        passing = Passing(request.url.path, dict(parse_qsl(request.url.query, keep_blank_values=True)), kept)
        self._meddling.asked(passing)
        # Reading the certificates takes longer than a request, and plain HTTP needs none.
        async with httpx2.AsyncClient(base_url=self._url, timeout=30, trust_env=False, verify=False) as http:
            passed = http.build_request(
                request.method,
                f"{passing.path}?{urlencode(passing.query)}",
                headers={**passing.headers, "accept-encoding": "identity"},
                content=await request.body(),
            )
            answer = await http.send(passed, stream=True)
            try:
                await (await self._answer(passing, answer))(scope, receive, send)
            finally:
                await answer.aclose()

    async def _answer(self, passing: Passing, answer: httpx2.Response) -> Response:
        left_out = {"content-length", "transfer-encoding", "connection"}
        passing.status = answer.status_code
        passing.answered = {name: value for name, value in answer.headers.items() if name not in left_out}
        self._meddling.answered(passing)
        if passing.streams:
            return StreamingResponse(self._frames(passing, answer), passing.status, passing.answered)
        body = self._meddling.body(passing, await answer.aread())
        return Response(body, passing.status, passing.answered)

    async def _frames(self, passing: Passing, answer: httpx2.Response) -> AsyncGenerator[bytes]:
        held = b""
        async for piece in answer.aiter_bytes():
            *frames, held = (held + piece).split(b"\n\n")
            for frame in frames:
                yield self._meddling.body(passing, frame + b"\n\n")


@contextmanager
def meddled(url: str, meddling: Meddling) -> Generator[str]:
    """The address of a proxy in front of the gateway at `url`."""
    config = uvicorn.Config(_Proxy(url, meddling), port=0, log_level="critical", lifespan="off", loop="asyncio")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)
