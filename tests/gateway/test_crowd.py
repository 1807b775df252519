"""Many readers, some of whom have stopped reading: nobody else notices, memory stays bounded, nothing is lost."""

import asyncio
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.gateway.processes import TOKEN, Up, up
from tests.gateway.serving import V1, Served, messages, note, parse_frames
from tests.spec import spec

EVENTS = f"{V1}/runs/run_1/events"
CROWD = 200
MANY = 400
LOAD = 8000
READER_KB_MAX = 40


def request(run_id: str, token: str) -> bytes:
    return (
        f"GET {V1}/runs/{run_id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Accept: text/event-stream\r\n\r\n"
    ).encode()


async def read_all(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(60):
        return (await reader.read()).partition(b"\r\n\r\n")[2]


@spec("SSE-8", "SEQ-7")
async def test_a_reader_that_has_stopped_slows_nobody_and_loses_nothing(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", "before")
    frozen = socket.socket()
    frozen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    frozen.connect(("127.0.0.1", gateway.port))
    frozen.sendall(request("run_1", gateway.token))

    crowd = [await asyncio.open_connection("127.0.0.1", gateway.port, limit=1 << 20) for _ in range(CROWD)]
    for _, writer in crowd:
        writer.write(request("run_1", gateway.token))
    async with asyncio.TaskGroup() as group:
        readers = [group.create_task(read_all(reader)) for reader, _ in crowd]
        while gateway.services.tally.subscribers <= CROWD:
            await asyncio.sleep(0.01)
        # Far more than the frozen reader's buffers hold.
        for number in range(300):
            await gateway.services.journal.append_all("run_1", [note(f"{number} {'y' * 400}")] * 10)
        await gateway.finish("run_1")
    stored = await gateway.stored("run_1")
    for reading in readers:
        assert messages(parse_frames(reading.result())) == stored
    for _, writer in crowd:
        writer.close()

    assert gateway.services.tally.subscribers == 1
    thawed = await asyncio.to_thread(drain, frozen)
    assert messages(parse_frames(thawed)) == stored


def drain(link: socket.socket) -> bytes:
    """Read a stream to its end."""
    body = b""
    with link:
        link.settimeout(30)
        while part := link.recv(1 << 20):
            body += part
    return body.partition(b"\r\n\r\n")[2]


@spec("SSE-8")
async def test_readers_that_stop_and_go_at_their_own_pace_all_get_everything(gateway: Served) -> None:
    await gateway.run()

    async def read_slowly(pause_s: float) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=4096)
        writer.write(request("run_1", gateway.token))
        parts = []
        while part := await reader.read(20_000):
            parts.append(part)
            await asyncio.sleep(pause_s)
        writer.close()
        return b"".join(parts).partition(b"\r\n\r\n")[2]

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        slow = [group.create_task(read_slowly(pause / 2000)) for pause in range(12)]
        for number in range(100):
            await gateway.services.journal.append_all("run_1", [note(f"{number} {'z' * 700}")] * 20)
            await asyncio.sleep(0)
            if number % 25 == 0:
                await gateway.services.journal.keeper.seal_all()
        await gateway.finish("run_1")
    stored = await gateway.stored("run_1")
    for reading in slow:
        assert messages(parse_frames(reading.result())) == stored


@pytest.mark.skipif(sys.platform != "linux", reason="reads a process's memory from /proc")
@spec("SSE-8")
def test_a_reader_costs_little_and_no_more_when_it_stops(tmp_path: Path) -> None:
    # The same load without readers, for what a process takes by itself.
    with up(tmp_path / "alone") as alone, up(tmp_path / "data") as gateway:
        for each in (alone, gateway):
            begin(each, "run_1")
            load(each)
        with subscribed(gateway, "run_1"):
            idle = (resident_kb(gateway) - resident_kb(alone)) / MANY
            for each in (alone, gateway):
                load(each)
            # What nobody reads has piled up nowhere.
            stopped = (resident_kb(gateway) - resident_kb(alone)) / MANY
        assert idle < READER_KB_MAX
        assert stopped < READER_KB_MAX


def begin(gateway: Up, run_id: str) -> None:
    first = (
        f'{{"schema_version":"1","event_id":"evt_{run_id}","run_id":"{run_id}","sequence":0,'
        f'"occurred_at":"2026-01-01T00:00:00.000000000Z","type":"external.x","data":{{}}}}\n'
    )
    post(gateway, "/import", first.encode())


def load(gateway: Up) -> None:
    """Far more than a reader's buffers hold."""
    event = '{"type":"external.x","data":{"text":"%s"}}' % ("x" * 1000)
    body = '{"events":[' + ",".join([event] * 200) + "]}"
    for _ in range(LOAD // 200):
        post(gateway, "/runs/run_1/events", body.encode())


def post(gateway: Up, path: str, body: bytes) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    answer = httpx2.post(f"{gateway.url}{V1}{path}", content=body, headers=headers, trust_env=False)
    assert answer.status_code == 201, answer.text


@contextmanager
def subscribed(gateway: Up, run_id: str) -> Iterator[None]:
    """A crowd that has everything there is so far, and reads not a byte further."""
    where = urlsplit(gateway.url)
    with ExitStack() as stack:
        for _ in range(MANY):
            link = stack.enter_context(socket.create_connection((where.hostname or "", where.port or 0), timeout=10))
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.sendall(request(run_id, TOKEN).replace(b"/events HTTP", b"/events?after_sequence=%d HTTP" % LOAD))
            seen = b""
            while b"event: synced" not in seen:
                seen += link.recv(4096)
        yield


def resident_kb(gateway: Up) -> int:
    # A moment for what is in flight to be let go of.
    time.sleep(1)
    status = Path(f"/proc/{gateway.process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
