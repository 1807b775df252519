"""One HTTP connection pool to one gateway. Every failure leaves here as a GatewayError."""

import ssl
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self, TypeVar
from urllib.parse import urlsplit

import httpx2
import msgspec

from runwire.errors import GatewayError, GatewayUnreachable
from runwire.version import VERSION

PREFIX = "/hecate/v1"

_T = TypeVar("_T")
_CONNECT_S = 5.0
_ANSWER_S = 60.0
_ERROR_BODY_MAX = 256 * 1024


class _Problem(msgspec.Struct):
    code: str
    message: str
    hint: str = ""
    request_id: str = ""
    details: dict[str, object] = {}


class _ErrorShape(msgspec.Struct):
    error: _Problem


_ERROR = msgspec.json.Decoder(_ErrorShape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request: where to, with what, and how long silence is tolerated."""

    path: str
    method: str = "GET"
    params: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    content: bytes | AsyncIterable[bytes] | None = None
    silence_s: float | None = _ANSWER_S


class Connection:
    """Sends calls to the gateway at `url`; an async context manager that owns the sockets."""

    def __init__(self, *, url: str, token: str | None, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        """Prepare a pool; nothing is sent before the first call."""
        self.url = url.rstrip("/")
        headers = {"user-agent": f"runwire/{VERSION}"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._http = httpx2.AsyncClient(
            base_url=self.url,
            headers=headers,
            transport=transport,
            # Reading the certificate store takes a tenth of a second, which plain HTTP need not pay.
            verify=ssl.create_default_context() if self.url.startswith("https:") else False,
            # A proxy from the environment is for the world outside, not for this machine.
            trust_env=not is_local(self.url),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        )

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(self, call: Call, kind: type[_T]) -> _T:
        """Send a call and decode its JSON answer."""
        async with self.open(call) as response:
            body = await self._read(response)
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._not_ours(response.status_code, f"its answer to {call.path} cannot be read: {error}") from error

    @asynccontextmanager
    async def open(self, call: Call) -> AsyncGenerator[httpx2.Response]:
        """Send a call and yield its answer with the body still to come; an error status raises instead."""
        request = self._http.build_request(
            call.method,
            call.path,
            params=call.params,
            headers=call.headers,
            content=call.content,
            timeout=httpx2.Timeout(_CONNECT_S, read=call.silence_s, write=_ANSWER_S, pool=None),
        )
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.HTTPError as error:
            raise self.unreachable(_cause(error)) from error
        try:
            if not response.is_success:
                raise self._refusal(response.status_code, await self._read(response), response.headers)
            yield response
        finally:
            await response.aclose()

    async def chunks(self, response: httpx2.Response, media_type: str | None = None) -> AsyncGenerator[bytes]:
        """The body as it comes; one that breaks off is a GatewayUnreachable, one of another type is not a gateway's."""
        given = response.headers.get("content-type", "")
        if media_type is not None and not given.startswith(media_type):
            raise self._not_ours(response.status_code, f"it sent {given or 'an unknown type'} instead of {media_type}")
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx2.HTTPError as error:
            raise self.unreachable(_cause(error)) from error

    def unreachable(self, cause: str) -> GatewayUnreachable:
        """Say that there is no talking to the gateway, and why."""
        return GatewayUnreachable(self.url, cause=cause)

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in self.chunks(response):
            body += chunk
            if not response.is_success and len(body) > _ERROR_BODY_MAX:
                break
        return bytes(body)

    def _refusal(self, status: int, body: bytes, headers: httpx2.Headers) -> GatewayError:
        try:
            problem = _ERROR.decode(body).error
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._not_ours(status, f"it answered {status}, and not in the way that a gateway does")
        details = dict(problem.details)
        if problem.request_id:
            details.setdefault("request_id", problem.request_id)
        if headers.get("retry-after", "").isdigit():
            details.setdefault("retry_after_s", int(headers["retry-after"]))
        return GatewayError(problem.message, code=problem.code, status=status, hint=problem.hint, details=details)

    def _not_ours(self, status: int, problem: str) -> GatewayError:
        return GatewayError(
            f"{self.url} does not behave like a gateway: {problem}",
            code="not_a_gateway",
            status=status if status >= 400 else 502,
            hint="check the address; a proxy in between may have answered",
            details={"url": self.url},
        )


def is_local(url: str) -> bool:
    """Whether an address means this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _cause(error: Exception) -> str:
    if isinstance(error, httpx2.ConnectTimeout):
        return "no answer to the connection attempt"
    if isinstance(error, httpx2.ReadTimeout):
        return "it has gone silent"
    return str(error) or type(error).__name__
