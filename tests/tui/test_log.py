"""The log as rows: what retention has taken is no row, and what is found stays found."""

from collections.abc import AsyncIterator

from runwire.client.client import Client
from runwire.protocol.envelope import sequence_of, type_of
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.turn import TurnStarted
from runwire.protocol.payload import Payload, encode_payload
from runwire.tui.log import HELD_EVENTS, Log, Sought
from tests.client.logs import RUN, envelope
from tests.gateway.serving import FINISHED, QUEUED, STARTED, Served, note
from tests.gateway.working import Working
from tests.protocol.logs import turn_completed
from tests.tui.driving import looking_at


async def everything(log: Log) -> list[bytes]:
    """Every row, fetched in whatever order it takes."""
    while rows := log.missing(range(len(log)))[:100]:
        await log.fetch(rows)
    found = [log.held(row) for row in range(len(log))]
    return [line for line in found if line is not None]


def client_of(served: Served) -> Client:
    """A client who may do everything."""
    return Client(f"http://127.0.0.1:{served.port}", served.token)


async def test_a_pruned_beginning_leaves_no_empty_rows(working: Working) -> None:
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    await served.say(run_id, *(f"note {number}" for number in range(50)))
    await served.finish(run_id)
    async with client_of(served) as client:
        await client.prune({"run_id": run_id, "through_sequence": 30})
        log = Log(client, run_id)
        await log.open()
        stored = await served.stored(run_id)
        assert await everything(log) == stored
        assert [log.sequence(row) for row in range(len(log))] == [sequence_of(line) for line in stored]
        assert [log.row(sequence_of(line)) for line in stored] == list(range(len(stored)))


async def _told_in_pieces() -> AsyncIterator[bytes]:
    """A run whose text came in many pieces and is told once more when it is complete."""
    pieces = [AssistantTextDelta(turn_index=0, block_index=0, delta=f"{number} ") for number in range(40)]
    payloads: list[Payload] = [QUEUED, STARTED, TurnStarted(turn_index=0, model=None, provider=None), *pieces]
    payloads.append(AssistantTextComplete(turn_index=0, block_index=0, text="".join(piece.delta for piece in pieces)))
    payloads.append(turn_completed())
    for sequence, payload in enumerate([*payloads, FINISHED]):
        yield envelope(sequence, payload.type, encode_payload(payload)) + b"\n"


async def test_holes_in_the_middle_are_found_when_somebody_looks(working: Working) -> None:
    served = working.served
    async with looking_at(served) as seen:
        await seen.client.import_log(_told_in_pieces())
        await seen.client.prune({"run_id": RUN, "max_events": 12})
        stored = await served.stored(RUN)
        assert (len(stored), sequence_of(stored[0])) == (12, 0)
        await seen.shows("done")
        timeline = await seen.open("run.finished")
        await seen.until(lambda: timeline.count == len(stored), "rows for what is left and no others")
        await seen.until(lambda: not timeline.record.missing(range(timeline.count)), "all of them")
        assert [timeline.record.held(row) for row in range(timeline.count)] == stored
        assert timeline.cursor == timeline.count - 1
        await seen.shows("gap.events_pruned", "12/12")


async def test_memory_is_bounded_and_what_is_looked_at_stays(working: Working) -> None:
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    await served.say(run_id, *(f"note {number}" for number in range(HELD_EVENTS + 500)))
    async with client_of(served) as client:
        log = Log(client, run_id)
        await log.open()
        for start in range(0, len(log), 200):
            await log.fetch(range(start, min(start + 200, len(log))))
        assert len(log._held) == HELD_EVENTS
        assert not log.missing(range(len(log) - 200, len(log)))
        assert log.missing(range(10)) == list(range(10))


async def test_what_comes_while_a_search_is_under_way_is_found_too(working: Working) -> None:
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    await served.say(run_id, "needle one", "hay")
    async with client_of(served) as client:
        log = Log(client, run_id)
        await log.open()
        sought = Sought.of("needle type:external.*")
        assert sought is not None
        later: list[bytes] = []

        async def meanwhile() -> None:
            await served.say(run_id, "needle two")
            later.append((await served.stored(run_id))[-1])
            log.add(sequence_of(later[0]), later[0], sought)

        await meanwhile()
        await log.seek(sought, lambda _: None)
        await served.services.journal.append_all(run_id, [note("needle three"), FINISHED])
        for line in (await served.stored(run_id))[-2:]:
            log.add(sequence_of(line), line, sought)
        assert log.found is not None
        assert list(log.found) == [2, 4, 5]
        assert [type_of(line) for line in await everything(log)] == ["external.note"] * 3


def test_what_is_typed_becomes_a_filter() -> None:
    assert Sought.of("  ") is None
    assert Sought.of("type:run.* Some Words type:tool.shell.*") == Sought("run.*,tool.shell.*", "some words")
    assert Sought.of("type:") is None
