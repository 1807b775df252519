"""Limits and rivals do what the table says they do, in small."""

import asyncio
from pathlib import Path

import apsw
import pytest

from bench.load.producers import Pace, drive, drive_bursts
from bench.load.subscribers import Load, body, get, post, receive
from bench.machine import share_out
from bench.processes import free_port, python, serving
from bench.rivals import sqlite_raw
from bench.rivals.row_log import RowLog, fill, read_row_by_row
from bench.rivals.sqlite_raw import Settings
from runwire.protocol.payload import Opaque


async def test_the_row_log_keeps_every_acknowledged_row_in_sequence(tmp_path: Path) -> None:
    async with RowLog(tmp_path / "rows.db", Settings()) as log:
        pace = Pace([["run_a"], ["run_b"]], [Opaque.of("external.one", b"{}"), Opaque.of("external.two", b"{}")], 0.05)
        singles = await drive(log.append, pace)
        bursts = await drive_bursts(log.append_all, pace, 2)

    rows = list(
        apsw.Connection(str(tmp_path / "rows.db")).execute(
            "SELECT run_id, count(*), max(sequence) + 1 FROM events GROUP BY 1"
        )
    )
    assert sum(count for _, count, _ in rows) == singles.events + bursts.events
    assert all(count == last for _, count, last in rows)


def test_rows_are_read_back_one_by_one(tmp_path: Path) -> None:
    fill(tmp_path / "rows.db", Settings(), iter([("run_a", 0, b"abc"), ("run_a", 1, b"de"), ("run_b", 0, b"f")]))

    assert read_row_by_row(tmp_path / "rows.db", "run_a") == (2, 5)


def test_raw_batches_and_single_commits_are_timed(tmp_path: Path) -> None:
    assert sqlite_raw.batches_per_second(tmp_path / "raw.db", Settings(), 8, 0.02) > 0
    assert len(sqlite_raw.commit_seconds(tmp_path / "one.db", Settings(), 3)) == 3


@pytest.mark.parametrize("module", ["bench.rivals.hub", "bench.rivals.queues"])
@pytest.mark.parametrize("rate", [0, 500])
def test_every_subscriber_hears_every_frame(module: str, rate: int) -> None:
    port = free_port()
    order = post(f"/produce?events=50&rate={rate}&join=16")
    with serving([python(), "-m", module, str(port)], port, cores=share_out(pin=False).server):
        received = receive(Load(port, (get("/events"),) * 5, b"event: synced", order, sample_every=1))

    assert received.frames == [50] * 5
    assert len(received.delays_ms) == (250 if rate else 0)


def test_the_flat_file_is_sent_whole(tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "frames").write_bytes(b"id: 0\ndata: {}\n\n" * 1000)
    command = [python(), "-m", "bench.rivals.segment", str(port), str(tmp_path / "frames")]
    with serving(command, port, cores=share_out(pin=False).server):
        received = receive(Load(port, (get("/"),), sample_every=1))

    assert received.frames == [1000]


def test_chunks_of_a_response_are_joined() -> None:
    assert body(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n") == b"abcde"
    assert body(b"HTTP/1.1 200 OK\r\n\r\nplain") == b"plain"


def test_a_server_that_dies_is_reported() -> None:
    with (
        pytest.raises(RuntimeError, match="ended with status 3"),
        serving([python(), "-c", "raise SystemExit(3)"], free_port(), cores=share_out().server),
    ):
        pass


async def test_producers_go_round_their_own_runs() -> None:
    seen: list[str] = []

    async def append(run_id: str, _: int) -> None:
        seen.append(run_id)
        await asyncio.sleep(0.001)

    await drive(append, Pace([["a", "b"]], [1], 0.02))

    assert seen[:4] == ["a", "b", "a", "b"]
