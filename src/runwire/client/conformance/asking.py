"""Plain HTTP to a server that may do anything: what it answered, byte for byte, without any of the client's kindness."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

import httpx2

from runwire.client.connection import PREFIX, is_local
from runwire.errors import GatewayUnreachable

Params = Mapping[str, str | int]

_ANSWER_S = 20.0
_BODY_MAX = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, whole. `ended` says that the server closed it, and not our patience."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    ended: bool = True


class Asker:
    """Asks one server; an async context manager that owns the sockets."""

    def __init__(self, url: str, token: str | None) -> None:
        """Ask with `token`, if there is one."""
        self.url = url.rstrip("/")
        self.token = token
        self._http = httpx2.AsyncClient(
            base_url=self.url,
            verify=ssl.create_default_context() if self.url.startswith("https:") else False,
            trust_env=not is_local(self.url),
            timeout=httpx2.Timeout(_ANSWER_S, pool=None),
        )

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def get(
        self, path: str, params: Params | None = None, headers: Mapping[str, str] | None = None, *, known: bool = True
    ) -> Answer:
        """Get a path below the protocol's prefix; with `known` off no token is sent."""
        async with self._opened(self._request("GET", path, params, headers, known=known)) as response:
            return await _whole(response)

    async def post(self, path: str, body: bytes, media_type: str = "application/json") -> Answer:
        """Post a body."""
        request = self._request("POST", path, None, {"content-type": media_type}, content=body)
        async with self._opened(request) as response:
            return await _whole(response)

    async def stream(
        self,
        path: str,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        until: Callable[[bytes], bool],
        within_s: float = _ANSWER_S,
    ) -> Answer:
        """Read a stream of events until it ends, until enough of it has come, or for so long."""
        accept = {"accept": "text/event-stream", "accept-encoding": "identity", **(headers or {})}
        body = bytearray()
        async with self._opened(self._request("GET", path, params, accept)) as response:
            try:
                async with asyncio.timeout(within_s):
                    ended = await _read(response, body, until)
            except TimeoutError:
                ended = False
            return Answer(response.status_code, response.headers, bytes(body), ended)

    def _request(
        self,
        method: str,
        path: str,
        params: Params | None,
        headers: Mapping[str, str] | None,
        *,
        known: bool = True,
        content: bytes | None = None,
    ) -> httpx2.Request:
        shown = {"authorization": f"Bearer {self.token}"} if known and self.token else {}
        return self._http.build_request(
            method,
            PREFIX + path,
            params={name: str(value) for name, value in (params or {}).items()},
            headers={**shown, **(headers or {})},
            content=content,
        )

    @asynccontextmanager
    async def _opened(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Response]:
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.HTTPError as error:
            raise GatewayUnreachable(self.url, cause=str(error) or type(error).__name__) from error
        try:
            yield response
        except httpx2.HTTPError as error:
            raise GatewayUnreachable(self.url, cause=str(error) or type(error).__name__) from error
        finally:
            await response.aclose()


async def _whole(response: httpx2.Response) -> Answer:
    body = bytearray()
    await _read(response, body, lambda so_far: len(so_far) > _BODY_MAX)
    return Answer(response.status_code, response.headers, bytes(body))


async def _read(response: httpx2.Response, body: bytearray, until: Callable[[bytes], bool]) -> bool:
    """Take the body in; say whether the server ended it."""
    async for piece in response.aiter_bytes():
        body += piece
        if until(bytes(body)):
            return False
    return True
