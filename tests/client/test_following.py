"""Streams that outlive their connections, against a server that breaks them on purpose."""

import asyncio

import pytest

from runwire.client.client import Client
from runwire.client.items import Drop, Event, FeedEvent, FeedItem, RunItem, Synced
from runwire.client.patience import Backoff, Patience
from runwire.errors import GatewayError, GatewayUnreachable, InvalidFilter
from tests.client.logs import HEARTBEAT, RETRY, RUN, envelope, finished, frame, synced
from tests.client.scripted import Step, answer, scripted, stream


class Waits:
    """Patience that never waits and remembers how long it would have."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        self.drops: list[Drop] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        await asyncio.sleep(0)

    def patience(self, *, heartbeat_s: float = 10.0, give_up_s: float | None = None) -> Patience:
        return Patience(
            heartbeat_s=heartbeat_s,
            backoff=Backoff(first_s=0.25, most_s=15.0, jitter=lambda: 1.0),
            give_up_s=give_up_s,
            sleep=self.sleep,
            dropped=self.drops.append,
        )


async def _events(url: str, patience: Patience, after: int = -1, types: str | None = None) -> list[RunItem]:
    async with Client(url, "secret", patience=patience) as client:
        return [item async for item in client.events(RUN, after, types)]


def _sequences(items: list[RunItem]) -> list[int]:
    return [item.sequence for item in items if isinstance(item, Event)]


async def test_envelopes_arrive_byte_for_byte() -> None:
    # Spaces, escapes and key order that an encoder of our own would not reproduce; line separators of Unicode.
    odd = '{ "b":1e2, "a":"\\u00e9\u2028\u2029\u0085" }'.encode()
    large = b'{"text":"' + b"x" * 3_000_000 + b'"}'
    async with scripted(
        stream(RETRY, frame(0, data=odd), frame(1, data=large), synced(1), HEARTBEAT, finished(2))
    ) as server:
        items = await _events(server.url, Waits().patience())
    assert items[:3] == [Event(0, envelope(0, data=odd)), Event(1, envelope(1, data=large)), Synced(1)]
    assert _sequences(items) == [0, 1, 2]
    assert server.asked[0].headers["accept"] == "text/event-stream"
    assert server.asked[0].headers["authorization"] == "Bearer secret"
    assert "last-event-id" not in server.asked[0].headers


async def test_a_stream_that_breaks_off_is_taken_up_after_the_last_whole_event() -> None:
    half = frame(2)[:-20]
    async with scripted(
        stream(frame(0), frame(1) + half, end="cut"),
        stream(frame(2), synced(2), frame(3), end="cut"),
        stream(synced(3), finished(4)),
    ) as server:
        items = await _events(server.url, Waits().patience())
    assert _sequences(items) == [0, 1, 2, 3, 4]
    assert [asked.headers.get("last-event-id") for asked in server.asked] == [None, "1", "3"]


async def test_what_a_server_sends_twice_comes_once() -> None:
    async with scripted(
        stream(frame(0), frame(1), end="cut"), stream(frame(0), frame(1), frame(1), synced(1), finished(2))
    ) as server:
        assert _sequences(await _events(server.url, Waits().patience())) == [0, 1, 2]


async def test_no_content_ends_the_stream() -> None:
    async with scripted(answer(204)) as server:
        assert await _events(server.url, Waits().patience(), after=7) == []
    assert server.asked[0].headers["last-event-id"] == "7"


async def test_a_stream_that_ends_with_the_run_is_not_reopened() -> None:
    waits = Waits()
    async with scripted(stream(frame(0), synced(0), finished(1))) as server:
        await _events(server.url, waits.patience())
    assert (len(server.asked), waits.waited) == (1, [])


async def test_a_backlog_cut_short_behind_the_end_of_the_run_is_completed() -> None:
    async with scripted(
        stream(frame(0), finished(1)), stream(frame(2, "artifact.referenced"), synced(2)), answer(204)
    ) as server:
        assert _sequences(await _events(server.url, Waits().patience())) == [0, 1, 2]
    assert len(server.asked) == 2


async def test_a_stream_that_ends_before_the_run_is_reopened() -> None:
    async with scripted(stream(frame(0), synced(0)), answer(204)) as server:
        assert _sequences(await _events(server.url, Waits().patience())) == [0]
    assert [asked.headers.get("last-event-id") for asked in server.asked] == [None, "0"]


async def test_a_filter_hides_the_end_of_the_run_from_the_reader_but_not_from_the_client() -> None:
    async with scripted(stream(frame(0, "tool.invoked"), synced(5), finished(6))) as server:
        items = await _events(server.url, Waits().patience(), types="tool.*")
    assert _sequences(items) == [0]
    assert len(server.asked) == 1
    assert "run.finished" in server.asked[0].target


async def test_a_filter_that_makes_no_sense_is_refused_before_anything_is_sent() -> None:
    async with scripted() as server, Client(server.url, None) as client:
        with pytest.raises(InvalidFilter):
            client.events(RUN, types="no such thing!")
    assert server.asked == []


async def test_waits_begin_where_the_server_says_and_double_until_something_comes() -> None:
    waits = Waits()
    down = answer(503, b'{"error":{"code":"unavailable","message":"not now","hint":"wait"}}')
    async with scripted(
        stream(b"retry: 2000\n\n", frame(0), end="cut"), down, down, down, stream(frame(1), end="cut"), answer(204)
    ) as server:
        await _events(server.url, waits.patience())
    assert waits.waited == [2.0, 4.0, 8.0, 15.0, 2.0]
    assert [drop.attempt for drop in waits.drops] == [1, 2, 3, 4, 1]


async def test_without_a_word_from_the_server_waits_begin_small_and_are_spread() -> None:
    assert [Backoff(jitter=lambda: 0.0).wait_s(attempt) for attempt in (1, 2, 3)] == [0.125, 0.25, 0.5]
    assert [Backoff(jitter=lambda: 1.0).wait_s(attempt) for attempt in (1, 2, 3, 500)] == [0.25, 0.5, 1.0, 15.0]


async def test_a_server_that_says_when_to_come_back_is_not_asked_earlier() -> None:
    waits = Waits()
    down = answer(503, b'{"error":{"code":"unavailable","message":"not now"}}', ["retry-after: 7"])
    async with scripted(stream(frame(0), end="cut"), down, answer(204)) as server:
        await _events(server.url, waits.patience())
    assert waits.waited == [0.25, 7.0]


async def test_an_error_that_will_not_pass_ends_the_stream_with_the_gateways_own_words() -> None:
    gone = answer(
        404,
        b'{"error":{"code":"run_not_found","message":"there is no run","hint":"check the id",'
        b'"request_id":"req_1","details":{"run_id":"x"}}}',
    )
    async with scripted(stream(frame(0), end="cut"), gone) as server:
        with pytest.raises(GatewayError) as caught:
            await _events(server.url, Waits().patience())
    error = caught.value
    assert (error.code, error.status, error.message, error.hint) == (
        "run_not_found",
        404,
        "there is no run",
        "check the id",
    )
    assert error.details == {"run_id": "x", "request_id": "req_1"}


async def test_an_answer_that_is_not_a_gateways_says_so() -> None:
    async with scripted(answer(502, b"<html>Bad Gateway</html>")) as server:
        with pytest.raises(GatewayError, match="does not behave like a gateway") as caught:
            await _events(server.url, Waits().patience())
    assert (caught.value.code, caught.value.status) == ("not_a_gateway", 502)


@pytest.mark.parametrize(
    "step",
    [
        answer(302, b"", ["location: /login"]),
        answer(200, b"<html>Please log in</html>", ["content-type: text/html"]),
    ],
    ids=["redirect", "page"],
)
async def test_whatever_else_answers_at_the_address_is_not_taken_for_a_gateway(step: Step) -> None:
    async with scripted(step, step) as server:
        with pytest.raises(GatewayError, match="does not behave like a gateway"):
            await _events(server.url, Waits().patience())
        async with Client(server.url, None) as client:
            with pytest.raises(GatewayError, match="does not behave like a gateway"):
                await client.health()


async def test_silence_for_three_heartbeats_is_taken_for_a_dead_peer() -> None:
    waits = Waits()
    async with scripted(stream(frame(0), synced(0), end="hang"), stream(synced(0), finished(1))) as server:
        items = await _events(server.url, waits.patience(heartbeat_s=0.05))
    assert _sequences(items) == [0, 1]
    assert "gone silent" in waits.drops[0].cause


async def test_heartbeats_keep_a_quiet_stream_open() -> None:
    async def quiet(_: object, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + frame(0) + synced(0))
        for _beat in range(12):
            await asyncio.sleep(0.05)
            writer.write(HEARTBEAT)
            await writer.drain()
        writer.write(finished(1))
        await writer.drain()

    waits = Waits()
    async with scripted(quiet) as server:
        # Six tenths of a second in all, which is more than three heartbeats; between two of them there is less.
        items = await _events(server.url, waits.patience(heartbeat_s=0.1))
    assert _sequences(items) == [0, 1]
    assert waits.drops == []


async def test_a_gateway_that_was_never_there_is_not_waited_for() -> None:
    async with scripted() as server:
        pass
    waits = Waits()
    with pytest.raises(GatewayUnreachable, match="cannot reach the gateway"):
        await _events(server.url, waits.patience())
    assert waits.waited == []


async def test_patience_can_end() -> None:
    waits = Waits()
    async with scripted(stream(frame(0), end="cut")) as server:
        with pytest.raises(GatewayUnreachable):
            await _events(server.url, waits.patience(give_up_s=3.0))
    assert waits.waited == [0.25, 0.5, 1.0]


async def test_a_stream_that_is_no_longer_read_is_closed() -> None:
    async with scripted(stream(frame(0), synced(0), end="hang")) as server, Client(server.url, None) as client:
        async for item in client.events(RUN):
            if isinstance(item, Synced):
                break


async def test_the_feed_begins_at_the_same_now_even_when_the_first_connection_breaks() -> None:
    page = answer(200, b'{"object":"list","data":[],"has_more":false,"next_cursor":"c41"}')
    event = b"id: c42\ndata: " + envelope(0) + b"\n\n"
    items: list[FeedItem] = []
    async with (
        scripted(page, stream(RETRY, end="cut"), stream(event, end="cut"), stream(end="hang")) as server,
        Client(server.url, "secret", patience=Waits().patience()) as client,
    ):
        async for item in client.watch():
            items.append(item)
            break
    assert items == [FeedEvent("c42", envelope(0))]
    assert "from=now" in server.asked[0].target
    assert [asked.headers.get("last-event-id") for asked in server.asked[1:3]] == ["c41", "c41"]
