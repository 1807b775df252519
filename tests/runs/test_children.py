"""Children do not outlive the runs that they work for, whatever becomes of those."""

import asyncio
import socket

import pytest

from runwire.host import Ended, Failed, Finished, RunHost
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.experimental import RunChildFinished, RunChildStarted
from runwire.protocol.payload import Opaque, Payload
from tests.runs.house import House, at_work
from tests.runs.test_claiming import taken_by

ON_REQUEST = ["run.child_started", "run.child_finished"]


async def done(host: RunHost) -> Ended:
    host.spend(3)
    return Finished()


async def payloads_of(house: House, run_id: str) -> list[Payload | Opaque]:
    return [decode_payload(one.type, one.data) for one in map(decode_envelope, await house.log(run_id))]


async def left_alone(house: House, *, told: bool = True) -> tuple[str, str]:
    """A run whose worker died while a child was at work, and the child."""
    run_id = await house.run("parent", experimental=ON_REQUEST)
    generation = await taken_by(house, run_id, "worker_dead", host=socket.gethostname())
    info = await house.journal.reader.run(run_id)
    child = await house.starter.child(
        info, await house.tasks.get(info.birth.task_id or ""), agent="native", prompt="part"
    )
    child_id = child.birth.run_id
    if told:
        started = RunChildStarted(child_run_id=child_id, agent="native", summary="part", tool_call_id="call_1")
        await house.journal.append(run_id, started, lease=generation)
    return run_id, child_id


@pytest.mark.parametrize("told", [True, False])
async def test_a_child_of_a_lost_worker_is_cancelled_and_told_of(house: House, told: bool) -> None:
    run_id, child_id = await left_alone(house, told=told)
    await taken_by(house, child_id, "worker_dead", host=socket.gethostname())
    async with at_work(house.worker(done)):
        await house.end(run_id)
    child = (await house.end(child_id)).story.run
    assert (child.status, child.parent_run_id) == ("cancelled", run_id)
    found = [one for one in await payloads_of(house, run_id) if isinstance(one, RunChildStarted | RunChildFinished)]
    assert [one.child_run_id for one in found] == [child_id, child_id]
    assert isinstance(found[1], RunChildFinished)
    assert found[1].final_status == "cancelled"


async def test_a_child_that_ended_while_nobody_looked_is_told_as_it_ended(house: House) -> None:
    run_id, child_id = await left_alone(house)
    await house.journal.write(lambda db: db.execute("UPDATE workers SET host = 'elsewhere'"))
    async with at_work(house.worker(done)):
        assert (await house.end(child_id)).story.run.status == "completed"
    await house.journal.write(lambda db: db.execute("UPDATE workers SET lease_until_ns = 1 WHERE host = 'elsewhere'"))
    async with at_work(house.worker(done)):
        await house.end(run_id)
    *_, finished, _ = await payloads_of(house, run_id)
    assert isinstance(finished, RunChildFinished)
    assert (finished.final_status, finished.cost_micros_usd) == ("completed", 3)


async def test_the_children_of_a_run_that_cost_too_many_workers_are_stopped(house: House) -> None:
    run_id, child_id = await left_alone(house)
    await house.journal.write(lambda db: db.execute("UPDATE queue SET claims = 5 WHERE parent_run_id IS NULL"))
    async with at_work(house.worker(done)):
        assert (await house.end(run_id)).story.run.error_code == "worker_lost"
        assert (await house.end(child_id)).story.run.status == "cancelled"


@pytest.mark.parametrize("fault", ["time", "failure"])
async def test_a_child_is_stopped_when_its_parent_ends_by_itself(house: House, fault: str) -> None:
    at_work_on: asyncio.Queue[str] = asyncio.Queue()

    async def works(host: RunHost) -> Ended:
        if host.facts.prompt != "parent":
            at_work_on.put_nowait(host.facts.run_id)
            await asyncio.Event().wait()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(host.spawn("native", "part", "call_1"))
            child_ids.append(await at_work_on.get())
            if fault == "failure":
                raise LookupError("nothing there")
        return Failed("unreachable", "the child never ends by itself")

    child_ids: list[str] = []
    limit = {"timeout_s": 0.3} if fault == "time" else {}
    run_id = await house.run("parent", experimental=ON_REQUEST, **limit)
    async with at_work(house.worker(works)):
        info = await house.end(run_id)
        child = await house.end(child_ids[0])
    # The task's time is the child's time, too, so that both may run out of it.
    assert child.story.run.status == "cancelled" or child.story.run.error_code == "run_timed_out"
    assert info.story.run.error_code == ("internal_error" if fault == "failure" else "run_timed_out")
