"""The doorbell within one process."""

import asyncio

from runwire.journal.bell.local import ANY_RUN, LocalBell
from runwire.journal.bell.topics import QUEUE, control


async def test_what_rings_between_listening_and_waiting_is_not_missed() -> None:
    bell = LocalBell()
    ring = bell.listen("run_a", 10)
    bell.ring(["run_a"])
    await asyncio.sleep(0)
    assert await ring


async def test_a_signal_wakes_its_listeners_and_nobody_who_follows_runs() -> None:
    bell = LocalBell()
    queue, other, runs = bell.listen(QUEUE, 10), bell.listen(control("run_a"), 10), bell.listen(ANY_RUN, 10)
    bell.signal(QUEUE)
    assert await queue
    assert not other.done()
    assert not runs.done()
    bell.ring_all()
    assert await other
    assert await runs


async def test_patience_ends() -> None:
    bell = LocalBell()
    assert not await bell.wait("run_a", 0.01)
    assert not bell.awaited


async def test_one_who_gives_up_is_forgotten() -> None:
    bell = LocalBell()
    waiting = asyncio.create_task(bell.wait("run_a", 100))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    bell.ring(["run_a"])
    assert not bell.awaited
