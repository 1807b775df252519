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

from runwire.protocol.envelope import sequence_of
from tests.gateway.processes import TOKEN, Up, up
from tests.gateway.serving import V1, Served, messages, note, parse_frames, serving
from tests.patience import PATIENCE_S
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
    async with asyncio.timeout(PATIENCE_S):
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

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
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


@pytest.mark.skipif(sys.platform != "linux", reason="reads a process's memory from /proc")
@spec("SSE-8")
def test_a_reader_that_stops_at_the_start_of_a_long_log_costs_little(tmp_path: Path) -> None:
    with up(tmp_path / "data") as gateway:
        # What is imported is sealed at once, so nothing but the readers takes memory afterwards.
        post(gateway, "/import", b"".join(event("run_1", sequence, "x" * 1000) for sequence in range(LOAD)))
        with stopped(gateway, "run_1", 20):
            before = resident_kb(gateway)
            with stopped(gateway, "run_1", MANY):
                assert (resident_kb(gateway) - before) / MANY < READER_KB_MAX


@contextmanager
def stopped(gateway: Up, run_id: str, count: int) -> Iterator[None]:
    """Readers who have seen the first bytes of a log, and read not a byte further."""
    where = urlsplit(gateway.url)
    with ExitStack() as stack:
        links = []
        for _ in range(count):
            link = stack.enter_context(socket.socket())
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.settimeout(10)
            link.connect((where.hostname or "", where.port or 0))
            link.sendall(request(run_id, TOKEN))
            links.append(link)
        for link in links:
            seen = b""
            while b"data: " not in seen:
                seen += link.recv(4096)
        yield


@spec("SSE-8", "SEQ-7")
async def test_a_reader_that_stops_in_the_stored_past_goes_on_where_it_was_when_that_is_pruned(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as gateway:
        await gateway.run()
        for start in range(0, 20_000, 1000):
            await gateway.say("run_1", *[f"{number} {'x' * 700}" for number in range(start, start + 1000)])
        await gateway.finish("run_1")
        stored = await gateway.stored("run_1")
    async with serving(tmp_path / "data") as gateway:
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.connect(("127.0.0.1", gateway.port))
        link.sendall(request("run_1", gateway.token))
        while not gateway.services.tally.stream_bytes > 10_000:
            await asyncio.sleep(0.01)
        await gateway.services.retention.prune("run_1", 10_000)
        seen = messages(parse_frames(await asyncio.to_thread(drain, link)))
        left = await gateway.stored("run_1")
    sequences = [sequence_of(envelope) for envelope in seen]
    assert sequences == sorted(set(sequences))
    had = next(at for at, envelope in enumerate(seen) if envelope != stored[at])
    assert 0 < had < 10_000
    # What it had before stays as it was; from there on it gets what is left, the marker of the gap first.
    assert seen[had:] == [envelope for envelope in left if sequence_of(envelope) >= had]
    assert b"gap.events_pruned" in seen[had]


def begin(gateway: Up, run_id: str) -> None:
    post(gateway, "/import", event(run_id, 0, ""))


def event(run_id: str, sequence: int, text: str) -> bytes:
    """A line of a log to import."""
    return (
        f'{{"schema_version":"1","event_id":"evt_{run_id}_{sequence}","run_id":"{run_id}","sequence":{sequence},'
        f'"occurred_at":"2026-01-01T00:00:00.000000000Z","type":"external.x","data":{{"text":"{text}"}}}}\n'
    ).encode()


def load(gateway: Up) -> None:
    """Far more than a reader's buffers hold."""
    one = '{"type":"external.x","data":{"text":"%s"}}' % ("x" * 1000)
    body = '{"events":[' + ",".join([one] * 200) + "]}"
    for _ in range(LOAD // 200):
        post(gateway, "/runs/run_1/events", body.encode())


def post(gateway: Up, path: str, body: bytes) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx2.Client(headers=headers, trust_env=False, verify=False, timeout=PATIENCE_S) as http:
        answer = http.post(f"{gateway.url}{V1}{path}", content=body)
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
