"""Who may still act for a run: nobody whose stay is over, and no more at once than the task allows."""

import asyncio
from collections.abc import Callable
from functools import partial

import apsw
import pytest

from runwire.host import Emit, Ended, Finished, RunHost, Stopped, ToolAsk, Verdict
from runwire.runs.errors import ClaimLost
from runwire.runs.hosting import Held
from runwire.runs.rows.queue import ask_to_cancel, find_entry, give_back, park, ready_runs
from tests.patience import PATIENCE_S
from tests.runs.house import AllowAll, House, ask, at_work
from tests.runs.test_claiming import done, taken_by


async def may_go(house: House) -> list[str]:
    """The runs that a worker would find ready."""
    found = await house.journal.reader.query(lambda db: ready_runs(db, house.ground.clock.now_ns(), 32))
    return [one.run_id for one in found]


@pytest.mark.parametrize("leave", [park, give_back])
async def test_a_stay_that_is_over_neither_parks_the_run_nor_gives_it_back(
    house: House, leave: Callable[[apsw.Connection, str, int], None]
) -> None:
    run_id = await house.run()
    first = await taken_by(house, run_id, "worker_a")
    await house.journal.write(lambda db: give_back(db, run_id, first))
    second = await taken_by(house, run_id, "worker_b")
    before = await house.journal.reader.query(lambda db: find_entry(db, run_id))
    with pytest.raises(ClaimLost):
        await house.journal.write(lambda db: leave(db, run_id, first))
    assert await house.journal.reader.query(lambda db: find_entry(db, run_id)) == before
    await house.journal.write(lambda db: leave(db, run_id, second))
    assert await may_go(house) == [run_id]


async def test_two_who_saw_the_same_free_place_among_children_do_not_both_take_it(house: House) -> None:
    parent = await house.run("parent", experimental=["run.child_*"], concurrency=1)
    await taken_by(house, parent, "worker_a")
    info = await house.journal.reader.run(parent)
    task = await house.tasks.get(info.birth.task_id or "")
    born = [await house.starter.child(info, task, agent="native", prompt=part) for part in ("one", "two")]
    one, two = (child.birth.run_id for child in born)
    assert await may_go(house) == [one, two]
    generation = await taken_by(house, one, "worker_b")
    with pytest.raises(ClaimLost):
        await taken_by(house, two, "worker_c")
    assert await may_go(house) == []
    await house.journal.write(lambda db: give_back(db, one, generation))
    await taken_by(house, two, "worker_c")
    assert await may_go(house) == []


async def test_a_cancel_that_came_while_its_worker_closed_ends_the_run_there(house: House) -> None:
    begun = asyncio.Event()

    async def works(host: RunHost) -> Ended:
        begun.set()
        while True:
            await host.said()
            await asyncio.sleep(0)

    run_id = await house.run()
    async with at_work(house.worker(works)):
        await begun.wait()
        # Nobody rings for it: the worker has stopped listening.
        await house.journal.write(lambda db: ask_to_cancel(db, run_id, "anna", "enough", 1))
    assert (await house.types(run_id))[-1] == "run.cancelled"
    assert await house.journal.reader.query(lambda db: find_entry(db, run_id)) is None


async def test_a_lease_that_ran_out_while_a_decision_was_waited_for_lets_nothing_happen(house: House) -> None:
    stopped: list[str] = []
    over = asyncio.Event()

    class Slow(AllowAll):
        """Takes longer than the lease holds."""

        async def permit(self, held: Held, ask: ToolAsk, emit: Emit) -> Verdict:
            verdict = await super().permit(held, ask, emit)
            worker._lease._until_s = 0.0
            return verdict

    async def works(host: RunHost) -> Ended:
        try:
            await host.permit(ask())
        except Stopped as why:
            stopped.append(why.why)
            raise
        finally:
            over.set()
        return Finished()

    run_id = await house.run()
    worker = house.worker(works, permitting=Slow())
    async with at_work(worker), asyncio.timeout(PATIENCE_S):
        await over.wait()
    assert stopped == ["lost"]
    assert (await house.types(run_id))[-1] == "tool.started"


async def test_a_stay_that_ended_in_order_is_no_loss(house: House) -> None:
    run_id = await house.run()
    for _ in range(6):
        generation = await taken_by(house, run_id, "worker_a")
        await house.journal.write(partial(give_back, run_id=run_id, generation=generation))
    entry = await house.journal.reader.query(lambda db: find_entry(db, run_id))
    assert entry is not None
    assert entry.claims == 0
    async with at_work(house.worker(done)):
        assert (await house.end(run_id)).story.run.status == "completed"
