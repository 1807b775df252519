"""All runs at once: nothing is skipped, cursors continue exactly, filters filter."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from runwire.clock import rfc3339
from runwire.gateway.feed import cursor_at, position_of
from runwire.journal.records import RunBirth
from runwire.protocol.envelope import run_id_of, sequence_of
from tests.gateway.serving import QUEUED, SSE, STARTED, V1, Frame, Served, error_of, messages, note, serving
from tests.spec import spec

FEED = f"{V1}/events"
START = {"from": "start"}


async def page(gateway: Served, params: Mapping[str, str | int] = START) -> dict[str, object]:
    response = await gateway.http.get(FEED, params=params)
    assert response.status_code == 200, response.text
    found: dict[str, object] = response.json()
    assert found["object"] == "list"
    return found


async def places(gateway: Served, params: Mapping[str, str | int] = START) -> list[tuple[str, int]]:
    found = (await page(gateway, params))["data"]
    assert isinstance(found, list)
    return [(event["run_id"], event["sequence"]) for event in found]


@pytest.fixture
async def two_runs(gateway: Served) -> Served:
    journal = gateway.services.journal
    await journal.create_run(RunBirth("run_a", "task_a", "chat_a", "zot"), [QUEUED, STARTED])
    await journal.create_run(RunBirth("run_b", "task_b", None, "pi"), [QUEUED])
    await gateway.say("run_a", "x")
    await gateway.finish("run_b")
    return gateway


ALL = [("run_a", 0), ("run_a", 1), ("run_b", 0), ("run_a", 2), ("run_b", 1)]


@spec("FEED-4")
async def test_the_list_begins_at_the_start_unless_told_otherwise(two_runs: Served) -> None:
    assert await places(two_runs, {}) == ALL
    assert await places(two_runs, {"from": "start"}) == ALL
    assert await places(two_runs, {"from": "now"}) == []


@spec("FEED-5")
@pytest.mark.parametrize("size", [1, 2, 3, 100])
async def test_a_cursor_goes_on_exactly_where_the_list_ended(two_runs: Served, size: int) -> None:
    found: list[tuple[str, int]] = []
    cursor: dict[str, str] = {}
    more = True
    while more:
        got = await page(two_runs, {"limit": size, **cursor})
        assert isinstance(got["data"], list)
        found += [(event["run_id"], event["sequence"]) for event in got["data"]]
        more, cursor = bool(got["has_more"]), {"cursor": str(got["next_cursor"])}
    assert found == ALL
    await two_runs.say("run_a", "later")
    assert await places(two_runs, cursor) == [("run_a", 3)]


@spec("FEED-3")
@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"run_id": "run_b"}, [("run_b", 0), ("run_b", 1)]),
        ({"task_id": "task_a"}, [("run_a", 0), ("run_a", 1), ("run_a", 2)]),
        ({"session_id": "chat_a"}, [("run_a", 0), ("run_a", 1), ("run_a", 2)]),
        ({"agent": "pi"}, [("run_b", 0), ("run_b", 1)]),
        ({"type": "run.*"}, [("run_a", 0), ("run_a", 1), ("run_b", 0), ("run_b", 1)]),
        ({"type": "external.*", "agent": "zot"}, [("run_a", 2)]),
        ({"type": "external.*", "agent": "pi"}, []),
        ({"run_id": "run_c"}, []),
        ({"since": "2000-01-01T00:00:00Z"}, ALL),
        ({"since": "2100-01-01T00:00:00+02:00"}, []),
    ],
)
async def test_filters_filter(two_runs: Served, params: dict[str, str], found: list[tuple[str, int]]) -> None:
    assert await places(two_runs, params) == found
    async with two_runs.subscribed("/events/stream", params | START) as stream:
        frames = await stream.until("synced")
    assert [(run_id_of(data), sequence_of(data)) for data in messages(frames)] == found


@spec("FEED-3")
async def test_since_is_the_moment_of_the_event_itself(gateway: Served) -> None:
    await gateway.run()
    moment = gateway.services.clock.now_ns() + 1
    while gateway.services.clock.now_ns() <= moment:
        await asyncio.sleep(0)
    await gateway.say("run_1", "later")
    assert await places(gateway, {"since": rfc3339(moment)}) == [("run_1", 2)]


@spec("FEED-4", "FEED-2")
async def test_the_stream_begins_now_and_sends_bare_envelopes_under_opaque_cursors(two_runs: Served) -> None:
    async with two_runs.subscribed("/events/stream") as stream:
        assert stream.response.headers["cache-control"] == "no-store, no-transform"
        (synced,) = await stream.until("synced")
        assert msgspec.json.decode(synced.data) == {"cursor": synced.id}
        await two_runs.say("run_a", "live")
        frame = await stream.message()
        assert frame.data == (await two_runs.stored("run_a"))[-1]
        assert frame.id is not None
    await two_runs.say("run_a", "and after")
    async with two_runs.subscribed("/events/stream", last=frame.id) as stream:
        assert [sequence_of(data) for data in messages(await stream.until("synced"))] == [4]
    # Last-Event-ID beats what the URL still says.
    async with two_runs.subscribed("/events/stream", START | {"cursor": "nonsense"}, last=frame.id) as stream:
        assert [sequence_of(data) for data in messages(await stream.until("synced"))] == [4]


@spec("FEED-1", "FEED-2")
async def test_a_reader_that_was_cut_off_before_its_first_event_misses_nothing(two_runs: Served) -> None:
    async with two_runs.subscribed("/events/stream") as stream:
        (synced,) = await stream.until("synced")
    await two_runs.say("run_a", "meanwhile")
    async with two_runs.subscribed("/events/stream", last=synced.id) as stream:
        assert [sequence_of(data) for data in messages(await stream.until("synced"))] == [3]


@spec("FEED-1")
async def test_a_reader_misses_nothing_that_many_writers_commit(gateway: Served) -> None:
    journal = gateway.services.journal
    for number in range(8):
        await journal.create_run(RunBirth(f"run_{number}"), [QUEUED])

    async def write(number: int) -> None:
        for text in range(40):
            await journal.append(f"run_{number}", note(str(text)))

    async with gateway.subscribed("/events/stream", START) as stream:
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(write(number))
        while len(messages(stream.seen)) < 8 * 41:
            assert await stream.next() is not None
    for number in range(8):
        of_run = [sequence_of(data) for data in messages(stream.seen) if run_id_of(data) == f"run_{number}"]
        assert of_run == list(range(41))


@spec("FEED-1", "FEED-5")
async def test_the_feed_reads_the_same_sealed_or_not(gateway: Served) -> None:
    for number in range(3):
        await gateway.run(run_id=f"run_{number}", task_id=None)
        await gateway.say(f"run_{number}", *map(str, range(100)))
    before = await page(gateway, {"limit": 5000})
    await gateway.services.journal.keeper.seal_all()
    assert await page(gateway, {"limit": 5000}) == before
    middle = cursor_at(150).decode()
    assert (await page(gateway, {"cursor": middle}))["data"] == before["data"][150:]  # type: ignore[index]  # it is a list


async def test_a_pruned_feed_goes_on_past_its_holes(gateway: Served) -> None:
    await gateway.run()
    await gateway.say("run_1", *map(str, range(300)))
    await gateway.services.retention.prune("run_1", 250)
    found = await places(gateway, {"limit": 5000})
    assert found[0] == ("run_1", 250)
    assert found[-1] == ("run_1", 301)
    async with gateway.subscribed("/events/stream", START) as stream:
        frames = await stream.until("synced")
    assert [sequence_of(data) for data in messages(frames)] == [sequence for _, sequence in found]


async def test_an_idle_feed_shows_that_it_lives(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", heartbeat_s=0.2) as gateway, gateway.subscribed("/events/stream") as stream:
        await stream.until("synced")
        assert await stream.next() == Frame("heartbeat", None, b"{}")


async def test_an_imported_run_appears_in_the_feed(gateway: Served) -> None:
    await gateway.run()
    await gateway.finish("run_1")
    log = b"".join(line + b"\n" for line in await gateway.stored("run_1")).replace(b"run_1", b"run_2")
    async with gateway.subscribed("/events/stream") as stream:
        await stream.until("synced")
        assert (await gateway.http.post(f"{V1}/import", content=log)).status_code == 201
        assert [sequence_of((await stream.message()).data) for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize("cursor", ["", "x", "AQAAAAAAAAA", "AgAAAAAAAAAA", "@@@@", "1", "AQAAAAAAAAAA=", "é"])
async def test_a_cursor_that_is_none_of_ours_is_refused(two_runs: Served, cursor: str) -> None:
    for path, headers in ((FEED, {}), (f"{FEED}/stream", SSE)):
        response = await two_runs.http.get(path, params={"cursor": cursor}, headers=headers)
        assert response.status_code == 400
        assert error_of(response)["code"] == "invalid_cursor"


async def test_a_cursor_from_another_future_is_refused(two_runs: Served) -> None:
    for path, headers in ((FEED, {}), (f"{FEED}/stream", SSE)):
        response = await two_runs.http.get(path, params={"cursor": cursor_at(6).decode()}, headers=headers)
        assert response.status_code == 400
        assert error_of(response)["code"] == "cursor_ahead"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"from": "yesterday"}, "invalid_filter"),
        ({"since": "yesterday"}, "invalid_filter"),
        ({"since": "2026-01-01T00:00:00"}, "invalid_filter"),
        ({"type": "A"}, "invalid_filter"),
        ({"limit": "0"}, "invalid_limit"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(gateway: Served, params: dict[str, str], code: str) -> None:
    response = await gateway.http.get(FEED, params=params)
    assert response.status_code == 400
    assert error_of(response)["code"] == code


def test_a_cursor_is_its_position_in_other_words() -> None:
    for position in (0, 1, 255, 2**40, 2**63 - 1):
        assert position_of(cursor_at(position).decode()) == position
