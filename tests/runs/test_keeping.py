"""Agents that are kept: started with the gateway, again when they end, and left alone when somebody ended them."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwire.host import Ended, Failed, Finished, RunHost
from runwire.journal.records import Effect, RunInfo
from runwire.runs.keeping import Backoff, Keeping, Kept, session_of
from runwire.runs.starting import Starter
from runwire.runs.task import NewTask, WorkspaceSpec
from runwire.testing.clock import ManualClock
from tests.patience import PATIENCE_S
from tests.runs.house import House, at_work, open_house

KEPT = Kept("fetcher", NewTask(prompt="fetch the news"))


def evenly() -> float:
    """Spreads nothing."""
    return 0.0


class Waits:
    """Sleeps no longer than the test lets it, and remembers for how long it should have."""

    def __init__(self, clock: ManualClock, most: int) -> None:
        self.asked: list[float] = []
        self.enough = asyncio.Event()
        self._clock = clock
        self._most = most

    async def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        self._clock.advance(seconds)
        if len(self.asked) >= self._most:
            self.enough.set()
            await asyncio.Event().wait()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def house(tmp_path: Path, clock: ManualClock) -> AsyncIterator[House]:
    async with open_house(tmp_path / "data", clock=clock) as house:
        yield house


def keeping(house: House, waits: Waits, starter: Starter | None = None) -> Keeping:
    return Keeping(
        journal=house.journal,
        tasks=house.tasks,
        starter=starter or house.starter,
        clock=house.ground.clock,
        rng=evenly,
        sleep=waits.sleep,
    )


async def kept_until_enough(house: House, waits: Waits, kept: Kept = KEPT, *, starter: Starter | None = None) -> None:
    """Keep an agent until the test has seen enough waits."""
    running = asyncio.create_task(keeping(house, waits, starter).keep(kept))
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.wait({running, asyncio.create_task(waits.enough.wait())}, return_when=asyncio.FIRST_COMPLETED)
    running.cancel()
    await asyncio.wait({running})


async def runs_of(house: House) -> dict[str, int]:
    """Every task of the kept agent, with how many runs it has."""
    page = await house.tasks.list(session_id=session_of("fetcher"))
    return {view.task.task_id: view.runs for view in page.tasks}


async def test_waits_double_up_to_five_minutes(house: House, clock: ManualClock) -> None:
    async def fails(_: RunHost) -> Ended:
        return Failed("agent_exited", "gone")

    waits = Waits(clock, most=11)
    async with at_work(house.worker(fails)):
        await kept_until_enough(house, waits)
    assert waits.asked == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert list((await runs_of(house)).values()) == [11]


async def test_one_that_has_lived_is_started_again_soon(house: House, clock: ManualClock) -> None:
    lives = iter([0, 0, 600, 599, 0])

    async def lives_on(_: RunHost) -> Ended:
        clock.advance(next(lives))
        return Finished()

    waits = Waits(clock, most=5)
    async with at_work(house.worker(lives_on, lease_s=3_600)):
        await kept_until_enough(house, waits)
    assert waits.asked == [1, 2, 1, 2, 4]


async def test_waits_are_spread() -> None:
    backoff = Backoff(lambda: 0.5)
    assert [backoff.after(0.0), backoff.after(0.0)] == [1.05, 2.1]


async def test_one_that_was_cancelled_stays_down_and_is_said_to(
    house: House, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    begun = asyncio.Event()

    async def waits_for_ever(_: RunHost) -> Ended:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    waits = Waits(clock, most=1)
    async with asyncio.timeout(PATIENCE_S), at_work(house.worker(waits_for_ever)):
        with caplog.at_level(logging.INFO, "runwire.runs.keeping"):
            running = asyncio.create_task(keeping(house, waits).keep(KEPT))
            await begun.wait()
            (run,) = [view.latest_run for view in (await house.tasks.list()).tasks]
            assert run is not None
            await house.cancelling.cancel(run.birth.run_id, by="ada")
            await running
    assert waits.asked == []
    assert "fetcher was cancelled: it stays down until the gateway starts again" in caplog.text
    assert list((await runs_of(house)).values()) == [1]


async def test_the_next_start_finds_the_task_of_the_last(house: House, clock: ManualClock) -> None:
    async def ends(_: RunHost) -> Ended:
        return Finished()

    async with at_work(house.worker(ends)):
        for _ in range(3):
            await kept_until_enough(house, Waits(clock, most=1))
    assert list((await runs_of(house)).values()) == [3]


class Tried(Starter):
    """Tells when somebody has tried to start another run."""

    def __init__(self, house: House) -> None:
        super().__init__(ground=house.ground, workplaces=house.folders, vault=house.vault)
        self.tried = asyncio.Event()

    async def another(
        self, task_id: str, *, prompt: str | None = None, model: str | None = None, also: Effect | None = None
    ) -> RunInfo:
        try:
            return await super().another(task_id, prompt=prompt, model=model, also=also)
        finally:
            self.tried.set()


async def test_a_run_that_is_still_there_is_not_started_twice(house: House, clock: ManualClock) -> None:
    waits, starter = Waits(clock, most=1), Tried(house)
    first = asyncio.create_task(keeping(house, waits).keep(KEPT))
    while not await runs_of(house):
        await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait({first})

    async def ends(_: RunHost) -> Ended:
        await starter.tried.wait()
        return Finished()

    async with at_work(house.worker(ends)):
        await kept_until_enough(house, waits, starter=starter)
    assert list((await runs_of(house)).values()) == [1]


async def test_what_it_is_there_for_may_change_and_then_it_is_another_task(house: House, clock: ManualClock) -> None:
    async def ends(_: RunHost) -> Ended:
        return Finished()

    async with at_work(house.worker(ends)):
        await kept_until_enough(house, Waits(clock, most=1))
        await kept_until_enough(house, Waits(clock, most=2), Kept("fetcher", NewTask(prompt="fetch the weather")))
        await kept_until_enough(house, Waits(clock, most=1))
    assert sorted((await runs_of(house)).values()) == [2, 2]


async def test_a_secret_in_its_prompt_does_not_make_it_another_task(house: House, clock: ManualClock) -> None:
    house.secrets.register("password", "hunter2-hunter2")

    async def ends(_: RunHost) -> Ended:
        return Finished()

    kept = Kept("fetcher", NewTask(prompt="log in with hunter2-hunter2"))
    async with at_work(house.worker(ends)):
        await kept_until_enough(house, Waits(clock, most=1), kept)
        await kept_until_enough(house, Waits(clock, most=1), kept)
    assert list((await runs_of(house)).values()) == [2]


async def test_a_task_that_cannot_start_is_tried_again(house: House, clock: ManualClock) -> None:
    waits = Waits(clock, most=3)
    task = NewTask(prompt="x", session_id=None, workspace=WorkspaceSpec(mode="in_place"))
    await kept_until_enough(house, waits, Kept("fetcher", task))
    assert waits.asked == [1, 2, 4]
    assert await runs_of(house) == {}
