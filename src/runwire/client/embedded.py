"""The gateway without a socket: HTTP calls handed to an ASGI app in this process, answers streamed as they are made."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

import httpx2

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

# An app that is told of a hang-up gets this long to tidy up before it is cancelled.
_FAREWELL_S = 1.0


class EmbeddedTransport(httpx2.AsyncBaseTransport):
    """Runs one ASGI app for one client. Unlike httpx2's own, it does not wait for the end of an answer to show its start."""

    def __init__(self, app: App) -> None:
        """Serve calls from `app`, whose start-up and end belong to somebody else."""
        self._app = app
        self._exchanges: set[_Exchange] = set()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Run the app on a request until its answer begins."""
        exchange = _Exchange(self._app, request, self._exchanges.discard)
        self._exchanges.add(exchange)
        return await exchange.answer()

    async def aclose(self) -> None:
        """Hang up on every exchange that is still going on."""
        for exchange in list(self._exchanges):
            await exchange.aclose()


class _Exchange(httpx2.AsyncByteStream):
    """One request and its answer. It is the parent of the task that runs the app, and waits for it in the end."""

    def __init__(self, app: App, request: httpx2.Request, done: "Callable[[_Exchange], None]") -> None:
        self._request = request
        self._done = done
        body = request.stream
        if not isinstance(body, AsyncIterable):
            raise TypeError("an async client sends async bodies")
        self._body = aiter(body)
        self._body_over = False
        self._gone = asyncio.Event()
        # One message at a time: an app that writes faster than it is read has to wait.
        self._messages: asyncio.Queue[Message | BaseException | None] = asyncio.Queue(maxsize=1)
        self._task = asyncio.create_task(self._run(app))

    async def answer(self) -> httpx2.Response:
        """The answer's head, with this exchange as its body."""
        try:
            start = await self._next()
        except BaseException:
            await self.aclose()
            raise
        if start is None:
            await self.aclose()
            raise httpx2.RemoteProtocolError("the app ended without an answer", request=self._request)
        return httpx2.Response(start["status"], headers=list(start.get("headers", [])), stream=self)

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        """The body, piece by piece as the app writes it."""
        more = True
        while more:
            message = await self._next()
            if message is None:
                raise httpx2.RemoteProtocolError("the app broke off in the middle of its answer", request=self._request)
            more = message.get("more_body", False)
            if body := message.get("body", b""):
                yield bytes(body)

    async def aclose(self) -> None:
        """Tell the app that nobody listens any more, and see it end."""
        self._done(self)
        self._gone.set()
        while not self._messages.empty():
            self._messages.get_nowait()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._task, _FAREWELL_S)

    async def _next(self) -> Message | None:
        message = await self._messages.get()
        if isinstance(message, BaseException):
            raise httpx2.RemoteProtocolError(f"the app failed: {message!r}", request=self._request) from message
        return message

    async def _run(self, app: App) -> None:
        try:
            await app(self._scope(), self._receive, self._send)
            await self._put(None)
        except Exception as error:  # noqa: BLE001 - this task is supervised: the failure goes to whoever asked
            await self._put(error)

    async def _put(self, message: Message | BaseException | None) -> None:
        # Whoever waits here when the client leaves is freed by its emptying the queue.
        if not self._gone.is_set():
            await self._messages.put(message)

    async def _receive(self) -> Message:
        if self._body_over:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        chunk: bytes | None = b""
        while chunk == b"":
            # Nothing at all is not worth a message; a request without a body is over with its first.
            chunk = await anext(self._body, None)
        self._body_over = chunk is None
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    async def _send(self, message: Message) -> None:
        if self._gone.is_set():
            # What the ASGI specification asks of a server whose client has gone.
            raise OSError("the client has hung up")
        await self._put(message)

    def _scope(self) -> MutableMapping[str, Any]:
        url = self._request.url
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": self._request.method,
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in self._request.headers.raw],
            "server": (url.host, url.port or 80),
            "client": ("127.0.0.1", 0),
        }
