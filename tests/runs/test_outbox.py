"""What a run emits arrives in order, together where it can, and not at all behind what failed."""

import asyncio
from dataclasses import dataclass, field

import apsw
import pytest

from runwire.errors import Conflict, StaleLease
from runwire.host import Stopped
from runwire.journal.records import RunBirth
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.assistant import AssistantTextComplete, AssistantTextDelta
from runwire.protocol.events.run import RunCheckpointSaved, RunQueued, RunStarted
from runwire.runs.outbox import Outbox
from tests.runs.house import House

QUEUED = RunQueued(kind="agent_loop", model=None, provider=None, workspace_path=None, workspace_mode=None)


@dataclass
class Box:
    house: House
    outbox: Outbox
    broken: list[BaseException] = field(default_factory=list)

    async def texts(self) -> list[str]:
        log = [decode_envelope(one) for one in await self.house.log("run_1")]
        return [one.type for one in log[2:]]


def saved(name: str) -> RunCheckpointSaved:
    return RunCheckpointSaved(checkpoint_id=name)


@pytest.fixture
async def box(house: House) -> Box:
    journal = house.journal
    await journal.create_run(RunBirth("run_1"), [QUEUED])
    claimed = await journal.claim("run_1", lambda _: [RunStarted(worker_id="w")], also=lambda _db, _generation: None)
    broken: list[BaseException] = []
    outbox = Outbox(journal=journal, run_id="run_1", lease=claimed.generation, broken=broken.append)
    return Box(house, outbox, broken)


async def test_what_one_pass_emits_is_one_commit(box: Box) -> None:
    before = box.house.journal.figures().commits
    for name in "abc":
        box.outbox.put([saved(name)])
    await box.outbox.put([saved("d")])
    assert box.house.journal.figures().commits == before + 1
    ids = [decode_envelope(one).data for one in await box.house.log("run_1")][2:]
    assert [bytes(one)[-3:-2] for one in ids] == [b"a", b"b", b"c", b"d"]


async def test_what_those_say_who_were_woken_goes_with_what_waited(box: Box) -> None:
    before = box.house.journal.figures().commits
    first = box.outbox.put([saved("a")])
    box.outbox.flush()
    box.outbox.put([saved("b")])
    await first
    await box.outbox.put([saved("c")])
    assert box.house.journal.figures().commits == before + 2
    assert len(await box.texts()) == 3


async def test_a_promise_tells_where_its_own_event_is(box: Box) -> None:
    first = box.outbox.put([saved("a")])
    second = box.outbox.put([saved("b"), saved("c")])
    third = box.outbox.put([saved("d")])
    log = [decode_envelope(one) for one in await box.house.log("run_1")]
    last, one, two = await third, await first, await second
    log = [decode_envelope(one) for one in await box.house.log("run_1")]
    assert [(one.sequence, one.event_id), (two.sequence, two.event_id), (last.sequence, last.event_id)] == [
        (log[at].sequence, log[at].event_id) for at in (2, 4, 5)
    ]
    assert one.position == last.position - 3


async def test_stream_text_between_two_events_does_not_shift_the_first_ones_place(box: Box) -> None:
    journal = box.house.journal
    await journal.offer("run_1", AssistantTextDelta(turn_index=0, block_index=0, delta="hello"))
    first = box.outbox.put([saved("a")])
    last = box.outbox.put([AssistantTextComplete(turn_index=0, block_index=0, text="hello")])
    await last
    place = await first
    log = {decode_envelope(one).sequence: decode_envelope(one) for one in await box.house.log("run_1")}
    assert log[place.sequence].type == "run.checkpoint_saved"
    assert log[place.sequence].event_id == place.event_id


async def test_a_refusal_of_one_takes_no_other_with_it(box: Box) -> None:
    def refuse(_: apsw.Connection) -> None:
        raise Conflict("not now")

    before = box.outbox.put([saved("a")])
    refused = box.outbox.put([saved("b")], refuse)
    after = box.outbox.put([saved("c")])
    await before
    await after
    with pytest.raises(Conflict, match="not now"):
        await refused
    assert len(await box.texts()) == 2
    assert box.broken == []


async def test_nothing_is_stored_behind_a_lost_lease(box: Box) -> None:
    await box.house.journal.claim(
        "run_1", lambda _: [RunStarted(worker_id="other")], also=lambda _db, _generation: None
    )
    first = box.outbox.put([saved("a")])
    with pytest.raises(Stopped) as stopped:
        await first
    assert stopped.value.why == "lost"
    assert isinstance(box.broken[0], StaleLease)
    with pytest.raises(Stopped):
        box.outbox.put([saved("b")])
    assert await box.texts() == ["run.started"]


async def test_text_that_is_no_unicode_is_the_emitters_mistake(box: Box) -> None:
    bad = box.outbox.put([AgentUnparsed(raw="\ud800", error="lone")])
    with pytest.raises(ValueError, match="surrogate"):
        await bad
    assert isinstance(box.broken[0], ValueError)


async def test_one_who_gives_up_waiting_takes_nothing_from_the_others(box: Box) -> None:
    ticket = box.outbox.put([saved("a")])

    async def wait() -> None:
        await ticket

    waiting = asyncio.get_running_loop().create_task(wait())
    await asyncio.sleep(0)
    waiting.cancel()
    assert (await ticket).sequence == 2
    assert await box.texts() == ["run.checkpoint_saved"]


async def test_a_barrier_without_events_waits_for_all_before_it(box: Box) -> None:
    box.outbox.put([saved("a")])
    await box.outbox.put([])
    assert await box.texts() == ["run.checkpoint_saved"]
