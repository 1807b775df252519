"""Our side of the benchmark reaches the real journal and the real gateway. No figure is judged here."""

import re
from pathlib import Path

import pytest

from bench import ours, ours_server
from bench.context import Context
from bench.corpus import secrets
from bench.load.producers import Shape
from bench.load.subscribers import Load, Received, get, holding, post, receive
from bench.machine import share_out
from bench.processes import Server
from runwire.journal.layout import database_of


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(quick=True, repetitions=1, cache=tmp_path, cores=share_out(pin=False))


@pytest.mark.parametrize("shape", [Shape(3), Shape(2, burst=10), Shape(2, runs=5)])
def test_a_load_is_appended_and_its_batches_counted(tmp_path: Path, shape: Shape) -> None:
    found = ours.append_rate(tmp_path, shape, 0.02)

    assert found.per_second > 0
    assert found.mean_batch >= 1


@pytest.mark.parametrize(("redaction", "leaks"), [("none", True), ("200 secrets", False)])
def test_secrets_are_stored_only_by_the_side_that_does_not_redact(
    tmp_path: Path, redaction: ours.Redaction, leaks: bool
) -> None:
    ours.append_rate(tmp_path, Shape(2, burst=100), 0.02, redaction)

    stored = database_of(tmp_path).read_bytes()
    assert any(secret.encode() in stored for secret in secrets()) is leaks


def test_settings_are_those_of_our_own_store(tmp_path: Path) -> None:
    assert ours.settings(tmp_path).synchronous == "FULL"


def test_a_filled_store_holds_as_many_events_as_asked_for(tmp_path: Path) -> None:
    filled = ours.fill(tmp_path, runs=2, events_per_run=30)

    for run_id in filled.runs:
        frames = b"".join(ours.stored_frames(tmp_path, run_id))
        assert [int(number) for number in re.findall(rb"^id: (\d+)$", frames, re.MULTILINE)] == list(range(30))
    assert filled.bytes_on_disk > 0


def test_a_subscriber_hears_what_the_producer_makes(context: Context, tmp_path: Path) -> None:
    with ours_server.running(context, tmp_path / "data") as server:
        unpaced = _hear(server, rate=0)
        paced = _hear(server, rate=500)

    # The first event, which begins the run, is read before the producer is told to start.
    assert unpaced.frames == [51, 51]
    assert paced.frames == [51, 51]
    assert len(paced.delays_ms) == 100


@pytest.mark.parametrize("coalesce", [True, False])
def test_every_chunk_of_a_streamed_text_arrives(context: Context, tmp_path: Path, coalesce: bool) -> None:
    request = post(ours_server.stream_path(40), ours_server.TOKEN)
    with ours_server.running(context, tmp_path / "data", coalesce=coalesce) as server:
        (answer,) = receive(Load(server.port, (request,), keep=True)).bodies

    deltas = re.findall(rb'"type":"assistant.text_delta","data":\{[^}]*"delta":"([^"]*)"', answer)
    assert b"".join(deltas).decode() == "".join(f"word{index:04d} " for index in range(40))
    assert (len(deltas) > 5) is not coalesce


def test_readers_can_be_held_while_a_run_grows(context: Context, tmp_path: Path) -> None:
    with ours_server.running(context, tmp_path / "data") as server:
        run_id = ours_server.new_run(server)
        request = get(ours_server.events_path(run_id), ours_server.TOKEN)
        with holding(server.port, request, 3, b"event: synced"):
            ours_server.grow(server, run_id, 1000)

            assert server.resident_kb() > 0


def _hear(server: Server, rate: int) -> Received:
    run_id = ours_server.new_run(server)
    order = post(ours_server.produce_path(run_id, 50, rate, 16), ours_server.TOKEN)
    request = get(ours_server.events_path(run_id), ours_server.TOKEN)
    return receive(Load(server.port, (request,) * 2, b"event: synced", order, sample_every=1))
