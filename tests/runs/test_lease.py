"""Two clocks hold a lease: the machine's, which stands in the store, and one that nobody sets and that sleeps with it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwire.host import Ended, Finished, RunHost
from runwire.protocol.events.user import UserMessage
from runwire.runs.approval import Answer
from runwire.runs.lease import Lease
from runwire.testing.clock import ManualClock
from tests.runs.house import House, at_work, open_house
from tests.runs.test_hosting import QUICK, Office, asks_once

HOUR_S = 3_600


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def house(tmp_path: Path, clock: ManualClock) -> AsyncIterator[House]:
    async with open_house(tmp_path / "data", clock=clock) as house:
        yield house


async def test_a_lease_is_over_when_either_clock_says_so(house: House, clock: ManualClock) -> None:
    loop = asyncio.get_running_loop()
    lease = Lease(journal=house.journal, clock=clock, worker_id="worker_a", folder=house.data / "workers", lease_s=30)
    assert not lease.alive()
    lease.renewed(lease.row(), loop.time())
    assert (lease.alive(), lease.young()) == (True, True)
    clock.advance(31)
    assert (lease.alive(), lease.young()) == (False, False)
    later = Lease(journal=house.journal, clock=clock, worker_id="worker_b", folder=house.data / "workers", lease_s=30)
    later.renewed(later.row(), loop.time() - 31)
    assert (later.alive(), later.young()) == (False, False)


async def test_a_run_that_finds_its_lease_over_is_taken_up_again_and_its_slot_works_on(
    house: House, clock: ManualClock
) -> None:
    begun: list[str] = []
    lost = asyncio.Event()

    async def sleeps(host: RunHost) -> Ended:
        begun.append(host.facts.prompt)
        if len(begun) == 1:
            # The machine sleeps in the middle of its work.
            clock.advance(HOUR_S)
            lost.set()
        await host.said()
        return Finished()

    run_id = await house.run("long")
    async with at_work(house.worker(sleeps)):
        await lost.wait()
        other = await house.run("other")
        assert (await house.end(other)).story.run.status == "completed"
        assert (await house.end(run_id)).story.run.status == "completed"
    assert sorted(begun) == ["long", "long", "other"]


async def test_an_executor_that_waits_for_what_cannot_be_stored_fails_and_its_slot_works_on(house: House) -> None:
    async def mistakes(host: RunHost) -> Ended:
        if host.facts.prompt == "mistake":
            await host.emit(UserMessage(turn_index=0, text="\ud800"))
        return Finished()

    wrong, right = await house.run("mistake"), await house.run("other")
    async with at_work(house.worker(mistakes)):
        assert (await house.end(wrong)).story.run.error_code == "internal_error"
        assert (await house.end(right)).story.run.status == "completed"


async def test_a_run_that_was_parked_for_long_has_all_its_own_time_left(house: House, clock: ManualClock) -> None:
    office = Office(house)
    run_id = await house.run(timeout_s=60.0)
    async with at_work(house.worker(asks_once, permitting=office.permits, manners=QUICK)):
        (approval,) = await office.pending()
        await office.entry(run_id, "parked")
        clock.advance(HOUR_S)
        await office.approvals.resolve(approval, Answer(decision="approved", by="anna"))
        info = await house.end(run_id)
    assert (info.story.run.status, info.story.run.error_code) == ("completed", None)
