"""The console's files: what `make console` has built, sent as it is and without a token. It knows no route of the API."""

import asyncio
import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from starlette.responses import Response

from runwire.errors import NotFound
from runwire.gateway.call import Call
from runwire.gateway.ranges import names
from runwire.gateway.services import Services

INDEX = "index.html"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
# A plain name: it cannot lead anywhere else, and hides nothing.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", re.ASCII)
_REFUSES_GZIP = re.compile(r"(?:^|,)\s*gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)", re.IGNORECASE)
_TAKES_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;|,|$)", re.IGNORECASE)
# The page runs its own files and nothing else: no script or style in its text, none from elsewhere, and what becomes
# markup or a script's address has passed one of the named policies.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify runwire 'allow-duplicates'"
)
_ALWAYS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "vary": "accept-encoding",
}
_ASK_AGAIN = "no-cache"
# The names of assets hold a hash of what is in them.
_FOR_EVER = "public, max-age=31536000, immutable"
_NOT_BUILT = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Runwire: the console is not built</title>
<h1>The console is not built</h1>
<p>The gateway works, but the files of its console are not there.</p>
<p>In a checkout, <code>make console</code> builds them; then load this page again. A wheel of a release has them inside.</p>
<p>Meanwhile <code>runwire top</code> shows every run in the terminal.</p>
</html>
"""


@dataclass(frozen=True, slots=True)
class _File:
    """One file as it is sent."""

    body: bytes
    packed: bool


async def show_page(services: Services, call: Call) -> Response:
    """The page of the console; where it has not been built, one that says what to do."""
    found = await _find(services.console / INDEX, call)
    if found is None:
        headers = _ALWAYS | {"cache-control": "no-store"}
        return Response(_NOT_BUILT, 503, headers, "text/html; charset=utf-8")
    return _sent(call, INDEX, found, _ASK_AGAIN)


async def show_asset(services: Services, call: Call) -> Response:
    """One of the files that the page is made of."""
    name = call.path["name"]
    known = _NAME.fullmatch(name) is not None and Path(name).suffix in _TYPES
    found = await _find(services.console / "assets" / name, call) if known else None
    if found is None:
        raise NotFound("the console has no such file", hint="load the page again: it may have been built anew")
    return _sent(call, name, found, _FOR_EVER)


async def _find(path: Path, call: Call) -> _File | None:
    return await asyncio.to_thread(_read, path, takes_gzip=_takes_gzip(call.header(b"accept-encoding")))


def _read(path: Path, *, takes_gzip: bool) -> _File | None:
    if takes_gzip and (body := _bytes(path.with_name(f"{path.name}.gz"))) is not None:
        return _File(body, packed=True)
    body = _bytes(path)
    return None if body is None else _File(body, packed=False)


def _bytes(path: Path) -> bytes | None:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            return file.read()
    except OSError:
        return None


def _sent(call: Call, name: str, file: _File, lasts: str) -> Response:
    etag = f'"{sha256(file.body).hexdigest()[:32]}"'
    headers = _ALWAYS | {"cache-control": lasts, "etag": etag}
    if names(call.header(b"if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    if file.packed:
        headers["content-encoding"] = "gzip"
    return Response(file.body, 200, headers | {"content-type": _TYPES[Path(name).suffix]})


def _takes_gzip(header: str | None) -> bool:
    return header is not None and bool(_TAKES_GZIP.search(header)) and not _REFUSES_GZIP.search(header)
