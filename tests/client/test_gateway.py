"""The client against a real gateway: through restarts and a network that breaks everything."""

import asyncio
import random
import signal
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import aclosing
from pathlib import Path

import pytest

from runwire.client.client import Client
from runwire.client.items import Event, FeedEvent, FeedSynced, Synced
from runwire.client.patience import Backoff, Patience
from runwire.errors import GatewayError, GatewayUnreachable
from tests.cli.program import Shell
from tests.cli.running import Gateway, running
from tests.client.chaos import chaos
from tests.client.logs import log
from tests.spec import spec

RUN = "run_01JC0000000000000000000001"
OTHER = "run_01JC0000000000000000000002"
HASTE = Patience(backoff=Backoff(first_s=0.005, most_s=0.05))


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Generator[Gateway]:
    home = tmp_path_factory.mktemp("home")
    with running(Shell(home), home / "data") as started:
        yield started


@pytest.fixture
async def client(gateway: Gateway) -> AsyncGenerator[Client]:
    async with Client(gateway.url, gateway.token, patience=HASTE) as opened:
        yield opened


async def _blocks(lines: Iterable[bytes]) -> AsyncGenerator[bytes]:
    for line in lines:
        yield line + b"\n"


async def _imported(client: Client, run_id: str, notes: int, *, over: bool) -> list[bytes]:
    lines = log(run_id, notes, over=over)
    assert (await client.import_log(_blocks(lines))).run_id == run_id
    return lines


@spec("SEQ-6", "SSE-5", "BULK-1", "BULK-3", "BULK-4")
async def test_a_finished_run_is_read_to_its_end_byte_for_byte(client: Client) -> None:
    lines = await _imported(client, RUN, 200, over=True)
    items = [item async for item in client.events(RUN)]
    assert [item.envelope for item in items if isinstance(item, Event)] == lines
    assert items[-1] == Synced(len(lines) - 1)
    assert [line async for line in client.export(RUN)] == lines
    page = await client.read(RUN, after=3, limit=2)
    assert [bytes(envelope) for envelope in page.data] == lines[4:6]
    assert (page.has_more, page.next_after_sequence) == (True, 5)


@spec("CUR-5", "SSE-3")
async def test_a_run_is_followed_live_and_filters_apply(client: Client) -> None:
    await _imported(client, OTHER, 3, over=False)
    async with aclosing(client.events(OTHER, types="external.live")) as items:
        assert await anext(items) == Synced(4)
        await client.append(OTHER, "external.note", {})
        stored = await client.append(OTHER, "external.live", {"n": 1})
        assert await anext(items) == stored
    assert (stored.sequence, stored.type) == (6, "external.live")


@spec("EXT-4")
async def test_an_append_under_a_key_is_stored_once(client: Client) -> None:
    run_id = "run_01JC0000000000000000000003"
    await _imported(client, run_id, 0, over=False)
    first = await client.append(run_id, "external.note", {}, key="once")
    assert await client.append(run_id, "external.note", {}, key="once") == first
    assert (await client.run(run_id)).head_sequence == first.sequence


@spec("ERR-1", "ERR-3", "ACC-1")
async def test_errors_carry_the_gateways_code_hint_and_facts(client: Client, gateway: Gateway) -> None:
    with pytest.raises(GatewayError) as caught:
        await client.run("run_nowhere")
    assert (caught.value.code, caught.value.status) == ("run_not_found", 404)
    assert caught.value.hint
    assert str(caught.value.details["request_id"]).startswith("req_")
    async with Client(gateway.url, "not the token") as stranger:
        with pytest.raises(GatewayError) as caught:
            await stranger.runs()
        assert (caught.value.code, caught.value.status) == ("unauthorized", 401)
        assert (await stranger.health()).status == "ok"


@spec("CUR-4", "SSE-6")
async def test_a_cursor_beyond_the_log_is_refused(client: Client) -> None:
    run_id = "run_01JC0000000000000000000004"
    await _imported(client, run_id, 1, over=True)
    with pytest.raises(GatewayError) as caught:
        [item async for item in client.events(run_id, after=99)]
    assert caught.value.code == "cursor_ahead"
    assert [item async for item in client.events(run_id, after=3)] == []


@spec("SEQ-6", "CUR-2")
@pytest.mark.parametrize("seed", range(3))
async def test_nothing_is_lost_and_nothing_comes_twice_over_a_network_that_cuts_at_random_bytes(
    gateway: Gateway, client: Client, seed: int
) -> None:
    run_id = f"run_01JC00000000000000000001{seed:02d}"
    lines = await _imported(client, run_id, 300, over=True)
    dice = random.Random(seed)
    async with (
        chaos(gateway.port, dice=dice, within=12_000) as network,
        Client(network.url, gateway.token, patience=HASTE) as reader,
    ):
        got = [item.envelope async for item in _persistent(reader, run_id) if isinstance(item, Event)]
        assert got == lines
        assert network.cuts > 5


async def _persistent(reader: Client, run_id: str) -> AsyncGenerator[Event | Synced]:
    """A reader that does not give up when even its first request is cut: a client itself waits only for the known."""
    after = -1
    while True:
        try:
            async for item in reader.events(run_id, after):
                yield item
                after = item.sequence
            return
        except GatewayUnreachable:
            continue


async def test_a_live_run_is_followed_through_a_breaking_network(gateway: Gateway, client: Client) -> None:
    run_id = "run_01JC0000000000000000000020"
    await _imported(client, run_id, 0, over=False)
    head = 2 + 150 - 1
    async with (
        chaos(gateway.port, dice=random.Random(7), within=20_000) as network,
        Client(network.url, gateway.token, patience=HASTE) as reader,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(_append(client, run_id, 150))
        got: list[Event] = []
        async with aclosing(_persistent(reader, run_id)) as items:
            async for item in items:
                if isinstance(item, Event):
                    got.append(item)
                    if item.sequence == head:
                        break
    assert [event.sequence for event in got] == list(range(head + 1))
    assert [event.envelope for event in got] == [line async for line in client.export(run_id)]


async def _append(client: Client, run_id: str, count: int) -> None:
    for number in range(count):
        await client.append(run_id, "external.live", {"n": number, "padding": "x" * 200})


@spec("FEED-1")
async def test_the_feed_is_followed_through_a_breaking_network(gateway: Gateway, client: Client) -> None:
    run_id = "run_01JC0000000000000000000021"
    await _imported(client, run_id, 0, over=False)
    numbers: list[int] = []
    async with (
        chaos(gateway.port, dice=random.Random(11), within=20_000) as network,
        Client(network.url, gateway.token, patience=HASTE) as reader,
        asyncio.TaskGroup() as group,
    ):
        start = (await client.feed(limit=1, **{"from": "now"})).next_cursor
        group.create_task(_append(client, run_id, 100))
        async with aclosing(_persistent_feed(reader, start)) as items:
            async for event in items:
                numbers.append(int(event.envelope.split(b'"n":')[1].split(b",")[0]))
                if len(numbers) == 100:
                    break
    assert numbers == list(range(100))


async def _persistent_feed(reader: Client, cursor: str) -> AsyncGenerator[FeedEvent]:
    while True:
        try:
            async for item in reader.watch(cursor=cursor, type="external.live"):
                cursor = item.cursor
                if isinstance(item, FeedEvent):
                    yield item
        except GatewayUnreachable:
            continue


@spec("FEED-2", "FEED-4")
async def test_the_feed_begins_now_and_is_told_when_it_has_caught_up(client: Client) -> None:
    run_id = "run_01JC0000000000000000000022"
    await _imported(client, run_id, 3, over=False)
    async with aclosing(client.watch(run_id=run_id)) as items:
        assert isinstance(await anext(items), FeedSynced)
        stored = await client.append(run_id, "external.note", {"n": 1})
        event = await anext(items)
    assert isinstance(event, FeedEvent)
    assert (event.envelope, event.run_id, event.type) == (stored.envelope, run_id, "external.note")


@spec("GAP-1", "GAP-3", "ACC-2")
async def test_housekeeping_through_the_client(client: Client) -> None:
    run_id = "run_01JC0000000000000000000023"
    await _imported(client, run_id, 20, over=True)
    foreseen = await client.prune({"run_id": run_id, "through_sequence": 9, "dry_run": True})
    assert [(pruned.run_id, pruned.through_sequence) for pruned in foreseen] == [(run_id, 9)]
    assert (await client.run(run_id)).first_sequence == 0
    await client.prune({"run_id": run_id, "through_sequence": 9})
    events = [item async for item in client.events(run_id) if isinstance(item, Event)]
    assert (events[0].type, events[0].sequence) == ("gap.events_pruned", 9)

    made = await client.create_token("dashboard", ["read"], ttl_s=60)
    async with Client(client.url, made.token) as dashboard:
        await dashboard.runs()
        with pytest.raises(GatewayError, match="scope 'admin'"):
            await dashboard.tokens()
        assert made.token_id.encode() in b"".join(bytes(token) for token in (await client.tokens()).data)
        await client.revoke_token(made.token_id)
        with pytest.raises(GatewayError) as caught:
            await dashboard.runs()
    assert caught.value.status == 401


@spec("SSE-9", "SEQ-4")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "told to end"])
async def test_a_stream_goes_on_when_the_gateway_comes_back(tmp_path: Path, number: signal.Signals) -> None:
    with running(Shell(tmp_path), tmp_path / "data") as gateway:
        async with Client(gateway.url, gateway.token, patience=HASTE) as client:
            await _imported(client, RUN, 3, over=False)
            got: list[int] = []
            async with aclosing(client.events(RUN)) as items:
                async for item in items:
                    if isinstance(item, Event):
                        got.append(item.sequence)
                    elif len(got) <= 5:
                        # Synced for the first time: the gateway goes, comes back, and the log grows.
                        await asyncio.to_thread(gateway.restart, number)
                        async with Client(gateway.url, gateway.token) as writer:
                            await _append(writer, RUN, 3)
                    if got[-1:] == [7]:
                        break
    assert got == list(range(8))
