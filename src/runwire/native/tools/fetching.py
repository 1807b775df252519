"""Requests that leave the machine: to checked and pinned addresses, redirects followed one by one and checked again."""

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import aclosing
from time import monotonic
from urllib.parse import urljoin, urlsplit

import httpx2

from runwire.journal.artifact import ArtifactMeta, Draft, NewArtifact
from runwire.native.tools.outcome import failed
from runwire.native.tools.tool import Fetch, Fetched, ToolContext, ToolResult
from runwire.version import VERSION
from runwire.workspace.addresses import Guard, PinnedTransport, Resolve

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEPS_METHOD = frozenset({307, 308})
_FOR_ONE_ORIGIN = frozenset({"authorization", "cookie", "proxy-authorization"})
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})
AGENT = f"runwire/{VERSION}"


class FetchFailed(Exception):
    """No answer came. The code is what the event says."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class PinnedFetcher:
    """Sends requests through a guard of their own. Certificates are read once, connections are not kept."""

    def __init__(self, *, resolve: Resolve | None = None) -> None:
        """Resolve names by the system, or as the given function says."""
        self._resolve = resolve
        self._context: ssl.SSLContext | None = None

    async def fetch(self, request: Fetch) -> Fetched:
        """Send it and follow where it leads; AddressRefused, or FetchFailed when nothing answers."""
        began = monotonic()
        guard = Guard(request.allow_hosts, resolve=self._resolve)
        if self._context is None:
            self._context = await asyncio.to_thread(httpx2.create_ssl_context)
        transport = PinnedTransport(guard, verify=self._context)
        try:
            async with (
                asyncio.timeout(request.timeout_s),
                httpx2.AsyncClient(transport=transport, trust_env=False, timeout=None) as client,
            ):
                return await _follow(client, request, began)
        except TimeoutError:
            raise FetchFailed("timed_out", f"no answer in {request.timeout_s:g} s") from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, UnicodeError) as error:
            raise FetchFailed("invalid_input", f"the request cannot be sent: {error}") from None
        except httpx2.HTTPError as error:
            raise FetchFailed("unreachable", f"{type(error).__name__}: {error}") from None


async def _follow(client: httpx2.AsyncClient, request: Fetch, began: float) -> Fetched:
    method, url, headers, body = request.method, request.url, dict(request.headers), request.body
    for _ in range(request.redirects_max + 1):
        sent = client.build_request(method, url, headers=headers, content=body)
        response = await client.send(sent, stream=True, follow_redirects=False)
        try:
            target = response.headers.get("location")
            if response.status_code not in _REDIRECTS or not target:
                kept, truncated = await _read(response, request.limit_bytes)
                took = round((monotonic() - began) * 1000)
                shown = {name: value for name, value in response.headers.items() if name.lower() != "set-cookie"}
                return Fetched(
                    status=response.status_code,
                    url=url,
                    headers=shown,
                    body=kept,
                    truncated=truncated,
                    duration_ms=took,
                )
        finally:
            await response.aclose()
        following = urljoin(url, target)
        check_url(following)
        if _origin(following) != _origin(url):
            headers = {name: value for name, value in headers.items() if name.lower() not in _FOR_ONE_ORIGIN}
        if response.status_code not in _KEEPS_METHOD and method not in {"GET", "HEAD"}:
            method, body = "GET", None
            headers = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
        url = following
    raise FetchFailed("too_many_redirects", f"more than {request.redirects_max} redirects")


async def _read(response: httpx2.Response, limit_bytes: int) -> tuple[bytes, bool]:
    kept, size = [], 0
    async with aclosing(response.aiter_bytes(65_536)) as pieces:
        async for piece in pieces:
            kept.append(piece)
            size += len(piece)
            if size > limit_bytes:
                return b"".join(kept)[:limit_bytes], True
    return b"".join(kept), False


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def check_url(url: str) -> str:
    """The host of an address that may be asked; FetchFailed when it is none of the web's."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise FetchFailed("invalid_input", f"url: {error}") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise FetchFailed("invalid_input", "url: it must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise FetchFailed("invalid_input", "url: a name and password in it would be told to everyone; use a header")
    return host


def host_of(url: str) -> tuple[str, ...]:
    """The host for policies; none where the address is no address, for then nothing is sent."""
    try:
        return (check_url(url).lower(),)
    except FetchFailed:
        return ()


def check_headers(headers: Mapping[str, str]) -> str | None:
    """What is wrong with headers that somebody wants to send."""
    for name, value in headers.items():
        if name.lower() in _OURS:
            return f"headers: {name} is set by the connection itself"
        if not name or not name.isascii() or any(sign in name + value for sign in "\r\n\0"):
            return "headers: one of them is no header"
    return None


def no_answer(error: FetchFailed) -> ToolResult:
    """The end of a call that got no answer."""
    if error.code == "timed_out":
        return ToolResult(summary=error.message, output="", outcome="timed_out", limit="wall_clock")
    return failed(error.code, error.message)


async def keep(context: ToolContext, answer: Fetched) -> Draft:
    """The body of an answer as an artifact."""
    mime = answer.headers.get("content-type", "application/octet-stream")
    meta = ArtifactMeta(
        mime=mime,
        summary=f"{answer.status} {answer.url}"[:200],
        produced_by_tool_call_id=context.tool_call_id,
        url=answer.url,
        status_code=answer.status,
        headers=dict(answer.headers),
        truncated=answer.truncated,
    )
    return await context.host.draft(NewArtifact("fetched_resource", meta), answer.body)


def text_of(answer: Fetched) -> str:
    """The body as text, by the charset that the answer names."""
    _, _, rest = answer.headers.get("content-type", "").lower().partition("charset=")
    charset = rest.split(";")[0].strip(" \"'") or "utf-8"
    try:
        return answer.body.decode(charset, "replace")
    except LookupError:
        return answer.body.decode("utf-8", "replace")
