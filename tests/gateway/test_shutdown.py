"""The end of a process: streams end so that their readers resume at the next one, and nothing is lost on the way."""

import asyncio
import json
import signal
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from runwire.protocol.envelope import sequence_of
from tests.gateway.processes import TOKEN, Up, up
from tests.gateway.serving import SSE, V1, free_port, messages, parse_frames, serving
from tests.patience import PATIENCE_S
from tests.spec import spec

HEADERS = {"authorization": f"Bearer {TOKEN}"}
BEGINNING = (
    b'{"schema_version":"1","event_id":"evt_0","run_id":"run_1","sequence":0,'
    b'"occurred_at":"2026-01-01T00:00:00.000000000Z","type":"external.x","data":{}}\n'
)


@spec("SSE-9")
async def test_streams_end_without_a_word_when_the_process_does(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as gateway:
        await gateway.run()
        async with gateway.subscribed("/runs/run_1/events") as run, gateway.subscribed("/events/stream") as feed:
            await run.until("synced")
            await feed.until("synced")
            gateway.services.close_streams()
            async with asyncio.timeout(PATIENCE_S):
                assert await run.rest() == []
                assert await feed.rest() == []


@spec("SSE-9", "SEQ-7")
async def test_a_reader_resumes_at_the_next_process_where_it_was(tmp_path: Path) -> None:
    seen: list[bytes] = []
    async with serving(tmp_path / "data") as gateway:
        await gateway.run()
        async with gateway.subscribed("/runs/run_1/events") as stream:
            await stream.until("synced")
            await gateway.say("run_1", "a", "b")
            gateway.services.close_streams()
            await stream.rest()
            seen += messages(stream.seen)
    async with serving(tmp_path / "data") as gateway:
        await gateway.say("run_1", "c")
        await gateway.finish("run_1")
        last = str(sequence_of(seen[-1]))
        response = await gateway.http.get(f"{V1}/runs/run_1/events", headers=SSE | {"last-event-id": last})
        seen += messages(parse_frames(response.content))
        assert seen == await gateway.stored("run_1")


def append(gateway: Up, text: str) -> None:
    body = {"type": "external.x", "data": {"text": text}}
    answer = httpx2.post(f"{gateway.url}{V1}/runs/run_1/events", json=body, headers=HEADERS, trust_env=False)
    assert answer.status_code == 201


@spec("SSE-9")
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, by: signal.Signals) -> None:
    data = tmp_path / "data"
    port = free_port()
    with up(data, port=port) as gateway:
        httpx2.post(f"{gateway.url}{V1}/import", content=BEGINNING, headers=HEADERS, trust_env=False)
        followed: list[bytes] = []
        synced = threading.Event()

        def follow() -> None:
            url = f"{gateway.url}{V1}/runs/run_1/events"
            with httpx2.stream("GET", url, headers=HEADERS | SSE, timeout=20, trust_env=False) as response:
                for chunk in response.iter_raw():
                    followed.append(chunk)
                    if b"synced" in b"".join(followed):
                        synced.set()

        reader = threading.Thread(target=follow)
        reader.start()
        assert synced.wait(10)
        append(gateway, "the last words")
        assert gateway.stop(by) == 0
        reader.join(10)
        assert not reader.is_alive()
        body = b"".join(followed)
        assert b"the last words" in body
        assert body.endswith(b"\n\n")
    with up(data, port=port) as gateway:
        answer = httpx2.get(f"{gateway.url}{V1}/runs/run_1", headers=HEADERS, trust_env=False)
        assert answer.json()["head_sequence"] == 1


@spec("SSE-8", "SSE-9")
def test_a_reader_that_has_stopped_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with up(tmp_path / "data") as gateway:
        httpx2.post(f"{gateway.url}{V1}/import", content=BEGINNING, headers=HEADERS, trust_env=False)
        where = urlsplit(gateway.url)
        with socket.create_connection((where.hostname or "", where.port or 0)) as frozen:
            frozen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            request = f"GET {V1}/runs/run_1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
            frozen.sendall(f"{request}Accept: text/event-stream\r\n\r\n".encode())
            for _ in range(20):
                append(gateway, "x" * 200_000)
            started = time.monotonic()
            assert gateway.stop() == 0
            assert time.monotonic() - started < 4
    log = [json.loads(line) for line in (tmp_path / "data.log").read_text().splitlines() if line.startswith("{")]
    assert [line for line in log if line["level"] not in {"info", "debug"}] == []


def test_an_address_that_is_taken_is_told(tmp_path: Path) -> None:
    port = free_port()
    with up(tmp_path / "one", port=port):
        with pytest.raises(AssertionError) as told, up(tmp_path / "two", port=port):
            pass
        assert "cannot listen" in str(told.value)
