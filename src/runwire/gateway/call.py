"""One request while it is answered: what was asked, by whom, and what has been told so far."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Message, Receive, Scope, Send

from runwire.errors import BodyTooLarge, InvalidRequest, RequestTimeout
from runwire.gateway.errors import REQUEST_ID, wrong_body
from runwire.journal.replies import Asked
from runwire.journal.tokens import Token

_T = TypeVar("_T")
_PARAMETERS_MAX = 64


class CallerGone(Exception):
    """The caller has hung up: there is nobody left to answer."""


async def tell(send: Send, message: Message) -> None:
    """Send part of an answer, if there is still somebody to send it to."""
    try:
        await send(message)
    except OSError as error:
        raise CallerGone from error


@dataclass(slots=True)
class Call:
    """A request and the course of its answer."""

    scope: Scope
    receive: Receive
    request_id: str
    patience_s: float
    """How long the next piece of a body may take."""
    template: str = ""
    path: Mapping[str, str] = field(default_factory=dict)
    caller: Token | None = None
    asked: Asked | None = None
    """The request under its idempotency key, when it has one and is being carried out."""
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    """What every answer to this request carries."""
    _query: Mapping[str, str] | None = None
    _body: bytes | None = None

    def __post_init__(self) -> None:
        """Every answer names the request."""
        self.headers.append((REQUEST_ID, self.request_id.encode()))

    @property
    def method(self) -> str:
        """GET, POST and so on."""
        return str(self.scope["method"])

    @property
    def query(self) -> Mapping[str, str]:
        """The query's parameters; of one that is given twice, the last. Those that nobody asks for are ignored."""
        if self._query is None:
            text = self.scope["query_string"].decode("latin-1")
            try:
                self._query = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_PARAMETERS_MAX))
            except ValueError as error:
                raise InvalidRequest(f"a query has at most {_PARAMETERS_MAX} parameters") from error
        return self._query

    def header(self, name: bytes) -> str | None:
        """The first header of that (lower-case) name."""
        for key, value in self.scope["headers"]:
            if key == name:
                return bytes(value).decode("latin-1")
        return None

    async def body(self, limit_bytes: int) -> bytes:
        """The whole body."""
        if self._body is None:
            self._body = b"".join([piece async for piece in self.pieces(limit_bytes)])
        return self._body

    async def json(self, kind: type[_T], limit_bytes: int, *, default: bytes = b"") -> _T:
        """The body, or what stands for an empty one, as a value of `kind`; one that does not fit is refused by field."""
        body = await self.body(limit_bytes) or default
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise wrong_body(error) from error

    async def pieces(self, limit_bytes: int) -> AsyncGenerator[bytes]:
        """The body as it comes. It is counted, whatever its length claims to be."""
        claimed = self.header(b"content-length") or ""
        if claimed.isdecimal() and (len(claimed) > 18 or int(claimed) > limit_bytes):
            raise BodyTooLarge(limit_bytes)
        size, more = 0, True
        while more:
            message = await self._next_piece()
            piece: bytes = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(piece)
            if size > limit_bytes:
                raise BodyTooLarge(limit_bytes)
            if piece:
                yield piece

    async def gone(self) -> None:
        """Return when the caller has hung up. Nothing else may read the request any more."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def _next_piece(self) -> Message:
        try:
            async with asyncio.timeout(self.patience_s):
                message = await self.receive()
        except TimeoutError as error:
            raise RequestTimeout from error
        if message["type"] == "http.disconnect":
            raise message.get("refusal") or CallerGone
        return message
