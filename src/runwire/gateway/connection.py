"""One HTTP connection: uvicorn's parser with our bounds. A caller can neither fill memory nor hold a place for nothing."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from socket import IPPROTO_TCP, TCP_NOTSENT_LOWAT
from typing import Any, Protocol
from urllib.parse import unquote

import httptools
import uvicorn
from starlette.types import ASGIApp, Message, Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from runwire.errors import HeadersTooLarge, MalformedRequest, RequestTimeout, RunwireError, TooManyConnections
from runwire.gateway.errors import error_headers, error_json
from runwire.gateway.socket_write import SocketOutlet, write_now

HEALTH = "/healthz"
_STRAIGHT = "runwire.straight"

# So much may wait in the kernel for a reader: enough to keep it busy, not enough to be felt when it has stopped.
_UNSENT_BYTES = 128 * 1024
# A caller that is still sending when its answer is complete is listened to for so long, so that it can read the answer.
_LINGER_S = 2.0
_PIPELINE_MAX = 16


class Straight(Protocol):
    """A way past the layers, straight to the socket: for a body without chunks, whose head has been sent."""

    def push(self, frames: bytes) -> int | None:
        """Hand bytes to the socket and say how many it took, or None while other bytes are being kept."""
        ...

    def write(self, rest: bytes) -> None:
        """Keep bytes until the socket has room for them."""
        ...

    def outlet(self) -> SocketOutlet:
        """The socket for a thread. Nothing else may be sent until it has been closed, and no bytes may be kept."""
        ...


def straight_of(scope: Scope) -> Straight | None:
    """The way straight to the socket, where the server is ours."""
    offered = scope.get("extensions", {}).get(_STRAIGHT)
    return None if offered is None else offered["exchange"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one connection may take, and how many there may be."""

    connections: int = 4096
    head_bytes: int = 16 * 1024
    idle_s: float = 15.0
    farewell_s: float = 5.0


class ServerSettings(uvicorn.Config):
    """uvicorn's settings and ours, as the connections see them."""

    def __init__(self, app: ASGIApp, *, bounds: Bounds, new_request_id: Callable[[], str]) -> None:
        """Serve `app` over uvloop and httptools, with nothing between it and the connection."""
        super().__init__(
            app,
            http=Connection,
            loop="uvloop",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=max(1, round(bounds.idle_s)),
            timeout_graceful_shutdown=max(1, round(bounds.farewell_s)),
        )
        self.bounds = bounds
        self.new_request_id = new_request_id


class Connection(HttpToolsProtocol):
    """uvicorn's connection with a bounded head, a bounded wait, a bounded number and a bounded buffer."""

    config: ServerSettings
    cycle: "Exchange"

    def __init__(
        self,
        config: ServerSettings,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Made by the server for each connection."""
        super().__init__(config, server_state, app_state, _loop)
        self._head_open = False
        self._head_bytes = 0
        self._unparsed_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._surplus = False
        self._deaf = False
        self._exchanges: list[Exchange] = []
        self._refusal: RunwireError | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # narrowed as uvicorn does
        """Take the connection; one too many is told so when it has said what it wants."""
        super().connection_made(transport)
        # Whatever the socket does not take at once pauses the writer: a reader that has stopped holds one write, no more.
        transport.set_write_buffer_limits(high=0)
        transport.get_extra_info("socket").setsockopt(IPPROTO_TCP, TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
        most = self.config.bounds.connections
        self._surplus = len(self.connections) > most
        if len(self.connections) > most * 2:
            transport.abort()
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything."""
        self._stop_head_timer()
        self._unset_keepalive_if_required()
        for exchange in self._exchanges:
            exchange.disconnected = True
            exchange.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, and refuse a head that is too large even before it is whole."""
        if not self._deaf:
            was_open = self._head_open
            super().data_received(data)
            self._look_at_head(len(data) if was_open else 0)

    def _look_at_head(self, size: int) -> None:
        if not self._head_open or self._deaf or self.transport.is_closing():
            return
        if self._head_timer is None:
            self._await_head()
        # The parser keeps a header to itself until it ends, so only the bytes that came can be counted.
        self._unparsed_bytes += size
        if self._unparsed_bytes > self.config.bounds.head_bytes:
            self._refuse(HeadersTooLarge(self.config.bounds.head_bytes))

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._head_open = True
        self._head_bytes = self._unparsed_bytes = 0

    def on_url(self, url: bytes) -> None:
        """More of the request's target."""
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        super().on_header(name, value)
        self._count(len(name) + len(value) + 4)

    def on_headers_complete(self) -> None:
        """The head is whole: start answering, or queue behind the request before."""
        self._head_open = False
        self._stop_head_timer()
        target = httptools.parse_url(self.url)
        path = target.path.decode("ascii")
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["http_version"] = self.parser.get_http_version()
        self.scope["path"] = unquote(path) if "%" in path else path
        self.scope["raw_path"] = target.path
        self.scope["query_string"] = target.query or b""
        self.scope["asgi"] = {"version": "3.0", "spec_version": "2.4"}
        if self._surplus and self.scope["path"] != HEALTH:
            self._refusal = TooManyConnections()
            raise self._refusal
        if len(self.pipeline) >= _PIPELINE_MAX:
            raise MalformedRequest
        self._exchanges = [exchange for exchange in self._exchanges if not exchange.response_complete]
        self.cycle = exchange = Exchange(self)
        if self._exchanges:
            self.flow.pause_reading()
            self.pipeline.appendleft((exchange, self.app))
        else:
            self._start_asgi_task(exchange, self.app)
        self._exchanges.append(exchange)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's text is not ours
        """Refuse what the parser could not take, or what we stopped it at."""
        self._refuse(self._refusal or MalformedRequest())

    def linger(self) -> None:
        """Say no more, but hear out a caller who is still sending: closing at once would take the answer from it."""
        self._deaf = True
        self._unset_keepalive_if_required()
        self._stop_head_timer()
        self.flow.resume_reading()
        self.transport.write_eof()
        self.loop.call_later(_LINGER_S, self.transport.abort)

    def drop_if_stuck(self) -> None:
        """Hang up on a caller who does not take what was sent."""
        if self.flow.write_paused:
            self.transport.abort()

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self.config.bounds.head_bytes:
            self._refusal = HeadersTooLarge(self.config.bounds.head_bytes)
            raise self._refusal

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.config.bounds.idle_s, self._head_overdue)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_overdue(self) -> None:
        if self._head_open:
            self._refuse(RequestTimeout())
        else:
            self.transport.close()

    def _refuse(self, error: RunwireError) -> None:
        """Answer outside of any request, or as the one whose body is broken, and close; in mid-answer there is only closing."""
        if self._deaf or self.transport.is_closing():
            return
        if all(exchange.response_complete for exchange in self._exchanges):
            request_id = self.config.new_request_id()
            body = error_json(error, request_id)
            head = [STATUS_LINE[error.status]]
            for name, value in (*error_headers(error, request_id, len(body)), (b"connection", b"close")):
                head += [name, b": ", value, b"\r\n"]
            self.transport.write(b"".join([*head, b"\r\n", body]))
            self.linger()
        elif self.cycle.more_body and not self.cycle.response_started:
            # What broke is the body of a request that is still to be answered, so that answer will tell.
            self._deaf = True
            self.cycle.spoil(error)
        else:
            self.transport.close()


class Exchange(RequestResponseCycle):
    """One request and its answer. Sending waits for the socket before it takes anything in."""

    def __init__(self, connection: Connection) -> None:
        """Begin to answer what the connection has just parsed."""
        super().__init__(
            scope=connection.scope,
            transport=connection.transport,
            flow=connection.flow,
            logger=connection.logger,
            access_logger=connection.access_logger,
            access_log=False,
            default_headers=connection.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=connection.expect_100_continue,
            keep_alive=connection.scope["http_version"] != "1.0" and connection.parser.should_keep_alive(),
            on_response=connection.on_response_complete,
        )
        self._spoilt: RunwireError | None = None
        self._linger = connection.linger
        self._socket = connection.transport.get_extra_info("socket").fileno()
        connection.scope["extensions"] = {_STRAIGHT: {"exchange": self}}

    async def receive(self) -> Message:  # type: ignore[override]  # one type for all messages, as Starlette has it
        """More of the body, or the end of the request: the caller has hung up, or what it sends cannot be read."""
        if self._spoilt is None:
            message = dict(await super().receive())
            if self._spoilt is None:
                return message
        return {"type": "http.disconnect", "refusal": self._spoilt}

    def spoil(self, error: RunwireError) -> None:
        """Let nothing more of the body be read, because of this."""
        self._spoilt = error
        self.message_event.set()

    async def send(self, message: Message) -> None:  # type: ignore[override]  # one type for all messages, as Starlette has it
        """Write part of the answer. Returns when it is the socket's, but for one write that may wait its turn."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            raise OSError("the client has hung up")
        if message["type"] == "http.response.body":
            self._write_body(message.get("body", b""), message.get("more_body", False))
        else:
            self._write_head(message["status"], message["headers"])

    def push(self, frames: bytes) -> int | None:
        """Hand bytes to the socket and say how many it took. What it does not take is kept nowhere.

        Only for a body without chunks. The transport's buffer is empty unless writing is paused, so nothing is overtaken.
        """
        # A socket that is closed leaves its number to the next one, which must not get what was meant for this one.
        if self.disconnected or self.transport.is_closing():
            raise OSError("the client has hung up")
        if self.flow.write_paused:
            return None
        return write_now(self._socket, frames)

    def write(self, rest: bytes) -> None:
        """Keep bytes until the socket has room for them."""
        self.transport.write(rest)

    def outlet(self) -> SocketOutlet:
        """The socket for a thread, while nothing is kept and nothing else is sent."""
        if self.disconnected or self.transport.is_closing():
            raise OSError("the client has hung up")
        return SocketOutlet(self._socket)

    def _write_head(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.response_started = True
        self.waiting_for_100_continue = False
        bodiless = status in (204, 304) or self.scope["method"] == "HEAD"
        content = [STATUS_LINE[status]]
        counted = bodiless
        for name, value in (*self.default_headers, *headers):
            if name == b"connection":
                self.keep_alive = False
                continue
            counted = counted or name == b"content-length"
            content += [name, b": ", value, b"\r\n"]
        ends_by_closing = (b"connection", b"close") in headers or self.scope["http_version"] != "1.1"
        self.chunked_encoding = not counted and not ends_by_closing
        if self.chunked_encoding:
            content.append(b"transfer-encoding: chunked\r\n")
        if self.more_body or not (counted or self.chunked_encoding):
            self.keep_alive = False
        if not self.keep_alive:
            content.append(b"connection: close\r\n")
        content.append(b"\r\n")
        self.transport.write(b"".join(content))

    def _write_body(self, body: bytes, more: bool) -> None:
        if body and self.scope["method"] != "HEAD":
            self.transport.write(b"%x\r\n%b\r\n" % (len(body), body) if self.chunked_encoding else body)
        if more:
            return
        if self.chunked_encoding:
            self.transport.write(b"0\r\n\r\n")
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive and self.more_body:
            self._linger()
        elif not self.keep_alive:
            self.transport.close()
        self.on_response()
