"""Which addresses an agent may reach. A name is resolved once, every address it has is checked, and the connection is
made to a checked one: there is no second look-up in which a name could turn into something else.

By default only the open internet: nothing on this machine, in this network, or of a cloud's own services.
"""

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import httpcore2
import httpx2

from runwire.workspace.errors import AddressRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""(host, port) -> addresses as text."""

RESOLVE_S = 10.0

# Python's own lists grew over its releases; these are refused under every one.
_CLOSED = tuple(
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128", "64:ff9b:1::/48", "100::/64"),
        *("2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


def is_open(address: Address) -> bool:
    """Whether this is an address of the open internet, also within the forms of IPv6 that carry one of IPv4."""
    if any(address in network for network in _CLOSED if network.version == address.version):
        return False
    if isinstance(address, ipaddress.IPv6Address) and (carried := tuple(_carried(address))):
        return all(is_open(each) for each in carried)
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _carried(address: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if address in _NAT64 or address in _COMPATIBLE:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Allowance:
    """One entry of `allow_hosts`: a name, `*.` and a name, an address or a network; with a port, only that port."""

    name: str
    network: Network | None
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "Allowance":
        """Read an entry."""
        host, port = _split_port(text.strip().lower())
        try:
            return cls(host, ipaddress.ip_network(host.strip("[]"), strict=False), port)
        except ValueError:
            return cls(_plain(host), None, port)

    def covers_name(self, host: str, port: int) -> bool:
        """Whether the host is allowed by its name."""
        if self.network is not None or self.port not in {None, port}:
            return False
        return host.endswith(self.name[1:]) if self.name.startswith("*.") else host == self.name

    def covers_address(self, address: Address, port: int) -> bool:
        """Whether one address is allowed."""
        return self.port in {None, port} and self.network is not None and address in self.network


class Guard:
    """Resolves and checks. One for all the network tools of a run."""

    def __init__(self, allow_hosts: Iterable[str] = (), *, resolve: Resolve | None = None) -> None:
        """Let through the open internet and what is named here."""
        self._allowed = tuple(Allowance.parse(text) for text in allow_hosts)
        self._resolve = resolve or system_resolve

    async def check(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses of a host, all of which may be reached; AddressRefused when one may not, or there is none."""
        plain = _plain(host)
        try:
            async with asyncio.timeout(RESOLVE_S):
                found = await self._resolve(plain, port)
            addresses = tuple(ipaddress.ip_address(text.partition("%")[0]) for text in found)
        except (OSError, UnicodeError, ValueError, TimeoutError) as error:
            raise AddressRefused(host, "it cannot be resolved") from error
        if not addresses:
            raise AddressRefused(host, "it has no address")
        if not any(entry.covers_name(plain, port) for entry in self._allowed):
            for address in addresses:
                self._check_address(host, address, port)
        return tuple(dict.fromkeys(str(address) for address in addresses))

    def _check_address(self, host: str, address: Address, port: int) -> None:
        if not is_open(address) and not any(entry.covers_address(address, port) for entry in self._allowed):
            raise AddressRefused(host, f"{address} is not an address of the open internet")


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """Ask the machine's own resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class PinnedTransport(httpx2.AsyncHTTPTransport):
    """Carries requests only to addresses that the guard let through. TLS and `Host` still speak of the name.

    It follows no redirects and reads no proxy from the environment: whoever follows one sends a new request through it.
    """

    def __init__(self, guard: Guard, *, verify: ssl.SSLContext | bool = True) -> None:
        """Ask this guard before each connection."""
        context = verify if isinstance(verify, ssl.SSLContext) else httpx2.create_ssl_context(verify=verify)
        super().__init__(verify=context, trust_env=False)
        # The one place where connections are made. The library offers no other door to it.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=context, max_connections=32, keepalive_expiry=5.0, network_backend=_PinnedBackend(guard)
        )


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        problem: Exception = httpcore2.ConnectError(f"no address of {host} answers")
        for address in await self._guard.check(host, port):
            try:
                return await self._sockets.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
        raise problem

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002 - the library's signature
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002 - the library's signature
    ) -> httpcore2.AsyncNetworkStream:
        raise AddressRefused(path, "it is a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _plain(host: str) -> str:
    host = host.strip("[]").rstrip(".").lower()
    with contextlib.suppress(UnicodeError):
        return host.encode("idna").decode("ascii") if not host.isascii() else host
    return host


def _split_port(text: str) -> tuple[str, int | None]:
    head, mark, tail = text.rpartition(":")
    # An address of IPv6 has colons of its own, so there a port needs brackets.
    if mark and tail.isdigit() and (":" not in head or head.endswith("]")):
        return head, int(tail)
    return text, None
