"""Where a request comes from: which names the gateway answers to, and whose pages may call it."""

import re
from ipaddress import ip_address

from runwire.config import Config
from runwire.errors import HostNotAllowed, OriginNotAllowed
from runwire.gateway.call import Call

_WILDCARDS = frozenset({"", "0.0.0.0", "::"})
_HOST = re.compile(r"[a-z0-9._-]+(:[0-9]{1,5})?|\[[0-9a-f:.]+\](:[0-9]{1,5})?|[0-9a-f:.]*:[0-9a-f:.]*", re.ASCII)
_METHODS = b"GET, HEAD, POST, DELETE"
_SENT = b"authorization, content-type, idempotency-key, if-none-match, if-range, last-event-id, range"
_SHOWN = b"accept-ranges, content-range, etag, idempotency-replayed, retry-after, x-request-id"


class Door:
    """Lets in requests to our own names, by no page or by a trusted one. A rebound DNS name fails the first test."""

    def __init__(self, config: Config) -> None:
        """Local names and what the operator has allowed."""
        self._hosts = {_bare(host) for host in config.allowed_hosts} | {_bare(config.host)} - _WILDCARDS
        self._origins = {origin.rstrip("/").lower() for origin in config.allowed_origins}

    def check(self, call: Call) -> bytes | None:
        """Refuse a foreign request; return the origin of a page of another, trusted site."""
        hosts = [value for name, value in call.scope["headers"] if name == b"host"]
        host = hosts[0].decode("latin-1").lower() if len(hosts) == 1 else ""
        if not self._is_ours(host):
            raise HostNotAllowed(host)
        origin = call.header(b"origin")
        if origin is None or _is_same(origin, host):
            return None
        if origin.lower() not in self._origins:
            raise OriginNotAllowed(origin)
        return origin.encode("latin-1")

    def _is_ours(self, host: str) -> bool:
        name = _bare(host)
        if name in self._hosts or name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False


def is_preflight(call: Call) -> bool:
    """Whether a browser asks beforehand what a page may do."""
    return call.method == "OPTIONS" and call.header(b"access-control-request-method") is not None


def shared_headers(origin: bytes) -> list[tuple[bytes, bytes]]:
    """What lets a trusted page read an answer."""
    return [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", _SHOWN), (b"vary", b"origin")]


def preflight_headers() -> list[tuple[bytes, bytes]]:
    """What a trusted page may send."""
    return [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _SENT),
        (b"access-control-max-age", b"600"),
    ]


def _is_same(origin: str, host: str) -> bool:
    """Whether a page was served by this gateway. The scheme is a proxy's business, so both count."""
    return origin.lower() in {f"http://{host}", f"https://{host}"}


def _bare(host: str) -> str:
    """A host without its port and brackets; the empty text for what is no host."""
    host = host.strip().lower()
    if _HOST.fullmatch(host) is None:
        return ""
    if host.startswith("["):
        return host[1 : host.index("]")]
    return host.rstrip(".") if host.count(":") > 1 else host.partition(":")[0].rstrip(".")
