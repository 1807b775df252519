"""Which addresses are reached: checked once, and connected to as checked."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Sequence

import httpx2
import pytest

from runwire.workspace.addresses import Guard, PinnedTransport, is_open
from runwire.workspace.errors import AddressRefused


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
        ),
        *("100.64.0.1", "198.18.0.1", "192.0.2.1", "192.0.0.8", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::1", "::", "fe80::1", "fec0::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "100::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("64:ff9b:1::1", "2002:7f00:1::", "2002:c0a8:101::1", "2001:0:7f00:1::", "3fff::1", "5f00::1"),
    ],
)
def test_an_address_of_our_own_is_closed(address: str) -> None:
    assert not is_open(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_an_address_of_the_internet_is_open(address: str) -> None:
    assert is_open(ipaddress.ip_address(address))


def answering(*answers: Sequence[str]) -> tuple[list[str], "Guard"]:
    """A guard whose resolver gives another answer each time, and the names it was asked for."""
    asked: list[str] = []
    waiting = list(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - the signature of a resolver
        asked.append(host)
        return waiting.pop(0)

    return asked, Guard(resolve=resolve)


async def test_one_closed_address_among_open_ones_refuses_the_name() -> None:
    _, guard = answering(["1.1.1.1", "10.0.0.1"])
    with pytest.raises(AddressRefused, match=r"10\.0\.0\.1"):
        await guard.check("mixed.example", 443)


@pytest.mark.parametrize(
    "host", ["localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "LOCALHOST.", "0", "::ffff:7f00:1"]
)
async def test_every_spelling_of_this_machine_is_refused(host: str) -> None:
    with pytest.raises(AddressRefused):
        await Guard().check(host, 80)


async def test_a_name_that_does_not_resolve_is_refused() -> None:
    with pytest.raises(AddressRefused, match="resolved"):
        await Guard().check("no-such-host.invalid", 80)
    _, guard = answering([])
    with pytest.raises(AddressRefused):
        await guard.check("empty.example", 80)


@pytest.mark.parametrize(
    ("entry", "host", "address", "port", "is_allowed"),
    [
        ("internal.example", "internal.example", "10.0.0.1", 80, True),
        ("internal.example", "other.example", "10.0.0.1", 80, False),
        ("internal.example", "x.internal.example", "10.0.0.1", 80, False),
        ("*.corp.example", "db.corp.example", "10.0.0.1", 80, True),
        ("*.corp.example", "corp.example", "10.0.0.1", 80, False),
        ("*.corp.example", "evilcorp.example", "10.0.0.1", 80, False),
        ("10.0.0.0/8", "any.example", "10.9.9.9", 80, True),
        ("10.0.0.0/8", "any.example", "192.168.0.1", 80, False),
        ("127.0.0.1:8080", "localhost", "127.0.0.1", 8080, True),
        ("127.0.0.1:8080", "localhost", "127.0.0.1", 22, False),
        ("[::1]:9000", "localhost", "::1", 9000, True),
        ("localhost:5000", "localhost", "127.0.0.1", 5001, False),
    ],
)
async def test_what_is_allowed_is_exactly_what_was_named(
    entry: str, host: str, address: str, port: int, is_allowed: bool
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - the signature of a resolver
        return [address]

    guard = Guard([entry], resolve=resolve)
    if is_allowed:
        assert await guard.check(host, port) == (address,)
    else:
        with pytest.raises(AddressRefused):
            await guard.check(host, port)


class Server:
    """A web server on this machine that notes what it was asked."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(
            b"HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"
        )
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    noted = Server()
    async with await asyncio.start_server(noted.answer, "127.0.0.1", 0) as listening:
        noted.port = listening.sockets[0].getsockname()[1]
        yield noted


async def test_the_connection_goes_to_the_checked_address_under_the_name(server: Server) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - the signature of a resolver
        return ["127.0.0.1"]

    guard = Guard(["named.example"], resolve=resolve)
    async with httpx2.AsyncClient(transport=PinnedTransport(guard)) as client:
        answer = await client.get(f"http://named.example:{server.port}/path")
        assert (answer.status_code, answer.text) == (302, "ok")
        assert f"host: named.example:{server.port}" in server.heads[0].lower()
        with pytest.raises(AddressRefused):
            await client.get(answer.headers["location"])
        with pytest.raises(AddressRefused):
            await client.get(f"http://127.0.0.1:{server.port}/")
    assert len(server.heads) == 1


async def test_a_name_that_changes_its_mind_is_never_asked_twice(server: Server) -> None:
    asked, guard = answering(["10.255.255.1"], ["127.0.0.1"])
    async with httpx2.AsyncClient(transport=PinnedTransport(guard), timeout=2) as client:
        with pytest.raises(AddressRefused):
            await client.get(f"http://rebinding.example:{server.port}/")
    assert asked == ["rebinding.example"]
    # An open answer first: the connection goes there and nowhere else, though the name is this machine by now.
    asked, guard = answering(["198.41.0.4"], ["127.0.0.1"])
    async with httpx2.AsyncClient(transport=PinnedTransport(guard), timeout=0.3) as client:
        with pytest.raises(httpx2.HTTPError):
            await client.get(f"http://rebinding.example:{server.port}/")
    assert asked == ["rebinding.example"]
    assert server.heads == []


async def test_the_second_address_is_tried_when_the_first_is_dead(server: Server) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:  # noqa: ARG001 - the signature of a resolver
        return ["127.0.0.2" if port != server.port else "127.0.0.3", "127.0.0.1"]

    guard = Guard(["two.example"], resolve=resolve)
    async with httpx2.AsyncClient(transport=PinnedTransport(guard)) as client:
        assert (await client.get(f"http://two.example:{server.port}/")).status_code == 302


async def test_proxies_of_the_environment_are_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.port}")
    async with httpx2.AsyncClient(transport=PinnedTransport(Guard())) as client:
        with pytest.raises(AddressRefused):
            await client.get("http://127.0.0.1:1/")
    assert server.heads == []
