"""What one caller can take of the gateway: bytes, time and places are bounded, and every refusal has the one shape."""

import asyncio
import json
import socket
from pathlib import Path

import pytest

from tests.gateway.serving import V1, Served, caller, serving
from tests.patience import PATIENCE_S
from tests.spec import spec

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def refusal(answer: bytes) -> tuple[int, str]:
    """Status and code of an answer on a raw socket, whose shape is proven on the way."""
    head, _, body = answer.partition(b"\r\n\r\n")
    error = json.loads(body)["error"]
    assert set(error) == {"code", "message", "hint", "request_id", "details"}
    assert f"x-request-id: {error['request_id']}".encode() in head
    assert b"connection: close" in head
    return int(head.split(b" ")[1]), error["code"]


@spec("ERR-1")
@pytest.mark.parametrize(
    "head",
    [
        HEALTH + b"X-Long: " + b"x" * 20_000 + b"\r\n\r\n",
        HEALTH + b"".join(b"X-%d: yyyyyyyyyyyyyyyy\r\n" % number for number in range(1000)) + b"\r\n",
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        HEALTH + b"X-Endless: " + b"x" * 2_000_000,
    ],
)
async def test_a_head_that_is_too_large_is_refused(gateway: Served, head: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    try:
        for start in range(0, len(head), 4096):
            writer.write(head[start : start + 4096])
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.readuntil(b"}}}")
    finally:
        writer.close()
    assert refusal(answer) == (431, "headers_too_large")


@spec("ERR-1")
@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET  HTTP/1.1\r\n\r\n",
        b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\x00host\r\n\r\n",
    ],
)
async def test_what_is_not_http_is_refused(gateway: Served, request_bytes: bytes) -> None:
    assert refusal(await gateway.raw(request_bytes)) == (400, "malformed_request")


@spec("ERR-1")
@pytest.mark.parametrize("broken", [b"ZZ\r\nhello\r\n", b"1\r\n{\r\nZZ\r\n", b"1\r\n{xxxx", b"fffffffffffffffff\r\n"])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("path", ["tokens", "import"])
async def test_a_body_that_breaks_off_its_chunks_is_refused(
    gateway: Served, broken: bytes, at_once: bool, path: str
) -> None:
    head = (
        f"POST {V1}/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.token}\r\n"
        "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
    ).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(head + broken if at_once else head)
    async with asyncio.timeout(PATIENCE_S):
        if not at_once:
            # The gateway is waiting for the body by now.
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(broken)
        answer = await reader.read()
    writer.close()
    assert refusal(answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")) == (400, "malformed_request")


async def test_a_broken_body_that_nobody_reads_changes_no_answer(gateway: Served) -> None:
    answer = await gateway.raw(HEALTH + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"connection: close" in answer


@spec("ERR-1")
async def test_a_head_that_trickles_in_is_not_waited_for(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", idle_timeout_s=0.5) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        trickle = asyncio.create_task(_trickle(writer))
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.read()
        trickle.cancel()
        writer.close()
        assert refusal(answer) == (408, "request_timeout")


async def _trickle(writer: asyncio.StreamWriter) -> None:
    for byte in HEALTH + b"X-Slow: " + b"y" * 1000:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.05)


async def test_a_connection_that_says_nothing_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", idle_timeout_s=0.5) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        async with asyncio.timeout(PATIENCE_S):
            assert await reader.read() == b""
        writer.close()


async def test_a_connection_that_has_nothing_more_to_say_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", idle_timeout_s=0.5) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(HEALTH + b"\r\n")
        async with asyncio.timeout(PATIENCE_S):
            assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()


@spec("ERR-1")
async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", idle_timeout_s=0.5) as gateway:
        request = (
            f"POST {V1}/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.token}\r\n"
            "Content-Length: 100\r\n\r\n{"
        )
        answer = await gateway.raw(request.encode())
        assert refusal(answer) == (408, "request_timeout")


@spec("ACC-6")
async def test_a_body_above_the_limit_is_refused_and_the_caller_can_read_why(gateway: Served) -> None:
    head = (
        f"POST {V1}/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.token}\r\n"
        "Content-Length: 4000000\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(head.encode())
    for _ in range(40):
        writer.write(b"x" * 100_000)
        await writer.drain()
    async with asyncio.timeout(PATIENCE_S):
        answer = await reader.read()
    writer.close()
    assert refusal(answer) == (413, "body_too_large")


@spec("ERR-1")
async def test_one_connection_too_many_is_told_so_but_probes_are_answered(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", max_connections=3) as gateway:
        held = [await asyncio.open_connection("127.0.0.1", gateway.port) for _ in range(3)]
        for reader, writer in held:
            writer.write(HEALTH + b"\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        request = f"GET {V1}/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.token}\r\n\r\n"
        answer = await gateway.raw(request.encode())
        assert refusal(answer) == (503, "too_many_connections")
        assert b"retry-after: 1" in answer
        assert (await gateway.raw(HEALTH + b"Connection: close\r\n\r\n")).startswith(b"HTTP/1.1 200")
        for _, writer in held:
            writer.close()
        async with asyncio.timeout(PATIENCE_S), caller(gateway.port, gateway.token) as http:
            while (await http.get(f"{V1}/runs")).status_code != 200:
                await asyncio.sleep(0.02)


async def test_requests_that_are_sent_at_once_are_answered_in_turn(gateway: Served) -> None:
    await gateway.run()
    authorized = f"Host: localhost\r\nAuthorization: Bearer {gateway.token}\r\n".encode()
    requests = b"".join(
        b"GET %b HTTP/1.1\r\n%b%b\r\n" % (path.encode(), authorized, last)
        for path, last in (("/healthz", b""), (f"{V1}/runs/run_1", b""), (f"{V1}/nothing", b"Connection: close\r\n"))
    )
    answer = await gateway.raw(requests)
    statuses = [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [200, 200, 404]


async def test_a_caller_who_asks_before_sending_is_told_to_go_on(gateway: Served) -> None:
    await gateway.run()
    body = b'{"type":"external.x","data":{}}'
    head = (
        f"POST {V1}/runs/run_1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gateway.token}\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(head.encode())
    async with asyncio.timeout(PATIENCE_S):
        assert (await reader.readline()) == b"HTTP/1.1 100 Continue\r\n"
        writer.write(body)
        answer = await reader.read()
    writer.close()
    assert b"HTTP/1.1 201 " in answer


async def test_a_connection_is_used_again(gateway: Served) -> None:
    with socket.create_connection(("127.0.0.1", gateway.port)) as link:
        link.setblocking(False)
        loop = asyncio.get_running_loop()
        for _ in range(3):
            await loop.sock_sendall(link, HEALTH + b"\r\n")
            assert (await loop.sock_recv(link, 4096)).startswith(b"HTTP/1.1 200 OK")


@spec("SSE-8")
async def test_what_was_meant_for_a_reader_that_left_reaches_nobody_else(gateway: Served) -> None:
    await gateway.run()
    authorized = f"Host: localhost\r\nAuthorization: Bearer {gateway.token}\r\n".encode()
    stream = b"GET %b/runs/run_1/events HTTP/1.1\r\n%bAccept: text/event-stream\r\n\r\n" % (V1.encode(), authorized)
    for _ in range(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        # A request behind the stream makes the server look away from the connection.
        writer.write(stream + HEALTH + b"\r\n")
        await reader.readuntil(b"event: synced")
        writer.transport.abort()
    await gateway.say("run_1", "to whom?")
    # The same numbers for sockets are given out again.
    others = [await asyncio.open_connection("127.0.0.1", gateway.port) for _ in range(30)]
    for number in range(20):
        await gateway.say("run_1", str(number))
    for reader, writer in others:
        writer.write(HEALTH + b"Connection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200 OK")
        writer.close()
    async with asyncio.timeout(PATIENCE_S):
        while gateway.services.tally.subscribers:
            await gateway.say("run_1", "anybody?")
