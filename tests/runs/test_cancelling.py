"""A run is stopped on request: while it waits, while it works, while nobody can."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from runwire.errors import RunFinished, RunNotFound
from runwire.host import Ended, Finished, RunHost, ToolEnd
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.run import RunCancelled
from runwire.protocol.events.tool import ToolCancelled
from runwire.protocol.events.turn import TurnStarted
from runwire.runs.rows.queue import find_entry
from tests.runs.house import House, ask, at_work, open_house
from tests.runs.test_claiming import done, taken_by


async def test_a_queued_run_ends_at_once_and_its_task_is_free_again(house: House) -> None:
    view = await house.task()
    assert view.latest_run is not None
    run_id = view.latest_run.birth.run_id
    cancelled = await house.cancelling.cancel(run_id, by="anna", reason="not needed")
    assert cancelled.settled
    await house.end(run_id)
    assert await house.types(run_id) == ["run.queued", "user.message", "run.cancelled"]
    end = decode_payload(RunCancelled.type, decode_envelope((await house.log(run_id))[-1]).data)
    assert isinstance(end, RunCancelled)
    assert (end.by, end.reason) == ("anna", "not needed")
    await house.starter.another(view.task.task_id)


async def test_a_second_cancel_is_answered_like_the_first_and_one_after_the_end_is_refused(house: House) -> None:
    run_id, other = await house.run(), await house.run()
    await house.cancelling.cancel(run_id, by="anna")
    again = await house.cancelling.cancel(run_id, by="bert")
    assert again.settled
    assert (await house.types(run_id)).count("run.cancelled") == 1
    async with at_work(house.worker(done)):
        await house.end(other)
    with pytest.raises(RunFinished):
        await house.cancelling.cancel(other, by="anna")
    with pytest.raises(RunNotFound):
        await house.cancelling.cancel("run_nowhere", by="anna")


@asynccontextmanager
async def working(house: House, begun: asyncio.Event, cleaned: list[str]) -> AsyncGenerator[None]:
    async def works(host: RunHost) -> Ended:
        host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
        call, other = ask("call_1"), ask("call_2")
        await host.permit(call)
        await host.permit(other)
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            cleaned.append("killed")
            await host.settle(call, ToolEnd(outcome="cancelled", duration_ms=1, summary="", output=None, by="operator"))
        return Finished()

    async with at_work(house.worker(works)):
        yield


async def test_a_running_run_is_stopped_by_its_holder_and_nothing_stays_open(house: House) -> None:
    begun, cleaned = asyncio.Event(), list[str]()
    run_id = await house.run()
    async with working(house, begun, cleaned):
        await begun.wait()
        cancelled = await house.cancelling.cancel(run_id, by="anna", reason="stop")
        assert cancelled.settled
    await house.end(run_id)
    assert cleaned == ["killed"]
    assert (await house.types(run_id))[-4:] == ["tool.cancelled", "tool.cancelled", "turn.failed", "run.cancelled"]
    ends = [decode_payload(one.type, one.data) for one in map(decode_envelope, await house.log(run_id))]
    assert [one.by for one in ends if isinstance(one, ToolCancelled)] == ["operator", "anna"]


async def test_another_process_stops_a_run(house: House) -> None:
    begun, cleaned = asyncio.Event(), list[str]()
    run_id = await house.run()
    async with open_house(house.data) as other, working(house, begun, cleaned):
        await begun.wait()
        cancelled = await other.cancelling.cancel(run_id, by="anna")
        assert cancelled.settled
        assert (await other.journal.reader.run(run_id)).story.run.status == "cancelled"
    await house.end(run_id)


async def test_a_run_whose_worker_died_is_ended_without_any_worker(house: House) -> None:
    run_id = await house.run()
    await taken_by(house, run_id, "worker_dead", host=socket.gethostname())
    assert (await house.cancelling.cancel(run_id, by="anna")).settled
    await house.end(run_id)
    assert (await house.types(run_id))[-2:] == ["gap.run_disconnected", "run.cancelled"]
    assert await house.journal.reader.query(lambda db: find_entry(db, run_id)) is None


async def test_a_holder_that_does_not_answer_leaves_the_cancel_standing(house: House) -> None:
    run_id = await house.run()
    await taken_by(house, run_id, "worker_elsewhere")
    house.cancelling._patience_s = 0.05
    cancelled = await house.cancelling.cancel(run_id, by="anna")
    assert not cancelled.settled
    assert not (await house.cancelling.cancel(run_id, by="bert", reason="me too")).settled
    entry = await house.journal.reader.query(lambda db: find_entry(db, run_id))
    assert entry is not None
    assert (entry.cancel_by, entry.cancel_reason) == ("anna", "")


async def test_a_cancel_reaches_children_whoever_holds_them_or_the_run(house: House) -> None:
    run_id = await house.run("parent", experimental=["run.child_*"])
    await taken_by(house, run_id, "worker_elsewhere")
    info = await house.journal.reader.run(run_id)
    task = await house.tasks.get(info.birth.task_id or "")
    born = [await house.starter.child(info, task, agent="native", prompt=part) for part in ("one", "two")]
    held, waiting = (child.birth.run_id for child in born)
    await taken_by(house, held, "worker_far_away")
    await house.cancelling.ask(run_id, by="anna", reason="enough")
    entry = await house.journal.reader.query(lambda db: find_entry(db, held))
    assert entry is not None
    assert (entry.cancel_by, entry.cancel_reason) == ("anna", "enough")
    async with at_work(house.worker(done)):
        assert (await house.end(waiting)).story.run.status == "cancelled"
