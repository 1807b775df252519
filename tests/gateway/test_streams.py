"""A run, live: what a subscriber is sent, in which order, and when the stream ends."""

import asyncio
import re
from pathlib import Path

import msgspec
import pytest

from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.journal.journal import JournalSettings
from runwire.protocol.envelope import sequence_of, type_of
from tests.gateway.serving import SSE, V1, Frame, Served, messages, note, parse_frames, serving
from tests.patience import PATIENCE_S
from tests.spec import spec

EVENTS = "/runs/run_1/events"


@spec("SSE-1", "SSE-2", "SSE-3", "SSE-5")
async def test_a_finished_run_is_sent_byte_for_byte_and_then_the_stream_ends(gateway: Served) -> None:
    await gateway.run()
    await gateway.finish("run_1")
    stored = await gateway.stored("run_1")
    body = (await gateway.http.get(V1 + EVENTS, headers=SSE)).content
    events = b"".join(b"id: %d\ndata: %b\n\n" % (number, envelope) for number, envelope in enumerate(stored))
    head, retry, rest = body.partition(b"retry: 1000\n\n")
    assert (head, retry) == (b"", b"retry: 1000\n\n")
    assert rest == events + b'event: synced\ndata: {"sequence":2}\n\n'


@spec("SSE-7")
async def test_nothing_on_the_way_may_keep_or_change_a_stream(gateway: Served) -> None:
    await gateway.run()
    async with gateway.subscribed(EVENTS) as stream:
        headers = stream.response.headers
        assert headers["cache-control"] == "no-store, no-transform"
        assert headers["x-accel-buffering"] == "no"
        assert headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in headers


@spec("SSE-3", "SEQ-7")
async def test_the_backlog_comes_first_then_synced_once_then_what_happens(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", "before")
    async with gateway.subscribed(EVENTS) as stream:
        backlog = await stream.until("synced")
        assert [frame.id for frame in backlog] == ["0", "1", "2", None]
        assert backlog[-1].data == b'{"sequence":2}'
        await gateway.say("run_1", "after", "and after")
        assert [(await stream.message()).id for _ in range(2)] == ["3", "4"]
        await gateway.finish("run_1")
        rest = await stream.rest()
    assert [frame.id for frame in rest] == ["5"]
    assert sum(frame.event == "synced" for frame in stream.seen) == 1
    assert messages(stream.seen) == await gateway.stored("run_1")


@spec("SSE-4")
async def test_an_idle_stream_shows_that_it_lives(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", heartbeat_s=0.2) as gateway:
        await gateway.run()
        async with gateway.subscribed(EVENTS) as stream:
            await stream.until("synced")
            for _ in range(2):
                assert await stream.next() == Frame("heartbeat", None, b"{}")


@spec("SSE-4", "CUR-5")
async def test_a_stream_whose_filter_lets_nothing_through_shows_that_it_lives(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", heartbeat_s=0.3) as gateway:
        await gateway.run()
        async with gateway.subscribed(EVENTS, {"type": "tool.*"}) as stream:
            assert [frame.event for frame in await stream.until("synced")] == ["synced"]
            waiting = asyncio.create_task(stream.next())
            while not waiting.done():
                await gateway.say("run_1", "not for this one")
                await asyncio.sleep(0.02)
            assert await waiting == Frame("heartbeat", None, b"{}")


@spec("SSE-5")
async def test_what_follows_the_terminal_event_is_sent_before_the_end(gateway: Served) -> None:
    await gateway.run()
    await gateway.finish("run_1")
    await gateway.services.artifacts.create(
        "run_1", NewArtifact("command_output", ArtifactMeta(mime="text/plain")), b"late"
    )
    frames = parse_frames((await gateway.http.get(V1 + EVENTS, headers=SSE)).content)
    assert [type_of(envelope) for envelope in messages(frames)][-2:] == ["run.finished", "artifact.created"]


@spec("SSE-6")
@pytest.mark.parametrize("headers", [{"last-event-id": "2"}, {}])
async def test_a_reader_that_has_all_of_a_finished_run_is_told_to_stop(
    gateway: Served, headers: dict[str, str]
) -> None:
    await gateway.run()
    await gateway.finish("run_1")
    params = {} if headers else {"after_sequence": "2"}
    response = await gateway.http.get(V1 + EVENTS, headers=SSE | headers, params=params)
    assert (response.status_code, response.content) == (204, b"")


@spec("SSE-6", "CUR-5")
async def test_so_is_one_whose_filter_leaves_nothing_to_send(gateway: Served) -> None:
    await gateway.run()
    await gateway.finish("run_1")
    headers = SSE | {"last-event-id": "1"}
    assert (await gateway.http.get(V1 + EVENTS, headers=headers, params={"type": "run.started"})).status_code == 204
    assert (await gateway.http.get(V1 + EVENTS, headers=headers, params={"type": "run.finished"})).status_code == 200


@spec("SEQ-7", "SSE-1")
async def test_a_stream_that_is_taken_up_anywhere_misses_and_repeats_nothing(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(20)))
    await gateway.finish("run_1")
    stored = await gateway.stored("run_1")
    for last in range(-1, len(stored) - 1):
        response = await gateway.http.get(V1 + EVENTS, headers=SSE | {"last-event-id": str(last)})
        assert messages(parse_frames(response.content)) == stored[last + 1 :]


@spec("SEQ-7", "SEQ-6")
async def test_readers_that_join_while_the_run_grows_all_see_the_same(gateway: Served) -> None:
    await gateway.run()

    async def follow() -> list[bytes]:
        async with gateway.subscribed(EVENTS) as stream:
            await stream.rest()
            return messages(stream.seen)

    async with asyncio.TaskGroup() as group:
        readers = []
        for number in range(40):
            readers.append(group.create_task(follow()))
            await gateway.say("run_1", *[f"{number} {'z' * 1000}"] * 5)
        await gateway.finish("run_1")
    stored = await gateway.stored("run_1")
    assert len(stored) == 203
    for reader in readers:
        assert reader.result() == stored


@spec("SEQ-7")
async def test_a_stream_goes_on_when_the_log_is_sealed_and_pruned_below_it(gateway: Served) -> None:
    await gateway.run()
    async with gateway.subscribed(EVENTS) as stream:
        await stream.until("synced")
        for number in range(5):
            await gateway.say("run_1", str(number))
            await gateway.services.journal.keeper.seal_all()
            await gateway.services.retention.prune("run_1", number)
        await gateway.finish("run_1")
        await stream.rest()
    assert [sequence_of(envelope) for envelope in messages(stream.seen)] == list(range(8))


async def test_a_stream_ends_when_its_run_is_removed(gateway: Served) -> None:
    await gateway.run()
    async with gateway.subscribed(EVENTS) as stream:
        await stream.until("synced")
        await gateway.services.retention.delete("run_1")
        assert await stream.rest() == []
    assert (await gateway.http.get(V1 + EVENTS, headers=SSE)).status_code == 404


@spec("SSE-1")
async def test_a_frame_far_larger_than_a_write_arrives_whole(gateway: Served) -> None:
    await gateway.run()
    async with gateway.subscribed(EVENTS) as stream:
        await stream.until("synced")
        await gateway.services.journal.append("run_1", note("€" * 1_000_000))
        await gateway.finish("run_1")
        await stream.rest()
    assert messages(stream.seen) == await gateway.stored("run_1")


@spec("SEQ-6", "SEQ-7")
async def test_a_long_sealed_log_is_replayed_exactly(gateway: Served) -> None:
    await gateway.run()
    for start in range(0, 20_000, 1000):
        await gateway.say("run_1", *[f"{number} {'x' * 200}" for number in range(start, start + 1000)])
    await gateway.services.journal.keeper.seal_all()
    await gateway.say("run_1", "unsealed")
    await gateway.finish("run_1")
    stored = await gateway.stored("run_1")
    response = await gateway.http.get(V1 + EVENTS, headers=SSE)
    assert messages(parse_frames(response.content)) == stored
    some = await gateway.http.get(V1 + EVENTS, headers=SSE, params={"type": "run.*"})
    assert [sequence_of(envelope) for envelope in messages(parse_frames(some.content))] == [0, 1, 20_003]


async def test_a_reader_that_leaves_is_forgotten_at_once(gateway: Served) -> None:
    await gateway.run()
    async with gateway.subscribed(EVENTS) as stream:
        await stream.until("synced")
        assert gateway.services.tally.subscribers == 1
    async with asyncio.timeout(PATIENCE_S):
        while gateway.services.tally.subscribers:
            await asyncio.sleep(0.01)


async def test_a_stream_over_an_old_protocol_ends_with_its_connection(gateway: Served) -> None:
    await gateway.run()
    await gateway.finish("run_1")
    request = f"GET {V1}{EVENTS} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {gateway.token}\r\n"
    head, _, body = (await gateway.raw(f"{request}Accept: text/event-stream\r\n\r\n".encode())).partition(b"\r\n\r\n")
    assert not re.search(b"transfer-encoding", head, re.IGNORECASE)
    assert messages(parse_frames(body)) == await gateway.stored("run_1")


async def test_a_reader_that_the_memory_has_left_behind_gets_the_rest_from_the_store(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as gateway:
        assert JournalSettings().tail_bytes < 3 * 8_000_000
        await gateway.run()
        async with gateway.subscribed(EVENTS) as stream:
            await stream.until("synced")
            # The client does not read while far more is written than memory and sockets hold.
            for number in range(30):
                await gateway.services.journal.append_all("run_1", [note(f"{number} " + "q" * 100_000)] * 10)
            await gateway.finish("run_1")
            await stream.rest()
        assert [int(frame.id or -1) for frame in stream.seen if frame.event == "message"] == list(range(303))
        assert msgspec.json.decode(messages(stream.seen)[-1])["type"] == "run.finished"
