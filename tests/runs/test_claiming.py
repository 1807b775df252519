"""Leases, loss, takeover: who holds a run, and what becomes of what a dead worker left."""

import asyncio
import socket

import apsw
import pytest

from runwire.errors import StaleLease
from runwire.host import Ended, Finished, RunHost, Stopped
from runwire.journal.layout import database_of
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.run import RunCheckpointSaved, RunStarted
from runwire.protocol.events.tool import ToolFailed
from runwire.protocol.events.turn import TurnFailed, TurnStarted
from runwire.runs.claiming import Claiming, Loss, Target, loss_of
from runwire.runs.errors import ClaimLost
from runwire.runs.recovering import HAD_NOT_BEGUN, MAY_HAVE_HAPPENED
from runwire.runs.rows.queue import ask_to_cancel, find_entry, give_back
from runwire.runs.rows.workers import WorkerRow, find_worker, renew
from tests.patience import PATIENCE_S
from tests.runs.house import House, ask, at_work, begun

FAR_NS = 2**62


async def done(_: RunHost) -> Ended:
    return Finished()


async def taken_by(
    house: House, run_id: str, worker_id: str, *, until_ns: int = FAR_NS, host: str = "elsewhere"
) -> int:
    """Let a worker that is nowhere hold a run, as a dead one does."""
    row = WorkerRow(worker_id, 1, host, 0, until_ns)
    claiming = Claiming(Target(run_id), None, house.ground.clock.now_ns(), row)
    claimed = await house.journal.claim(run_id, claiming.tell, also=claiming.also)
    return claimed.generation


async def test_a_worker_whose_lease_ran_out_is_told_of_and_another_goes_on(house: House) -> None:
    run_id = await house.run()
    generation = await taken_by(house, run_id, "worker_gone", until_ns=1)
    await house.journal.append_all(
        run_id,
        [
            TurnStarted(turn_index=0, model="m", provider="p"),
            *begun(ask("call_begun")),
            begun(ask("call_not_begun"))[0],
        ],
        lease=generation,
    )
    seen: list[bool] = []

    async def goes_on(host: RunHost) -> Ended:
        seen.append(host.facts.fresh)
        past = await host.past()
        seen.append(any(isinstance(one.payload, GapRunDisconnected) for one in past))
        return Finished()

    async with at_work(house.worker(goes_on)):
        await house.end(run_id)
    log = [decode_envelope(one) for one in await house.log(run_id)]
    payloads = [decode_payload(one.type, one.data) for one in log]
    gap = next(one for one in payloads if isinstance(one, GapRunDisconnected))
    assert (gap.since_sequence, gap.reason) == (6, "worker_lease_expired")
    failed = {one.tool_call_id: one for one in payloads if isinstance(one, ToolFailed)}
    assert failed["call_begun"].message == MAY_HAVE_HAPPENED
    assert failed["call_not_begun"].message == HAD_NOT_BEGUN
    turn = next(one for one in payloads if isinstance(one, TurnFailed))
    assert (turn.code, turn.will_retry) == ("worker_lost", True)
    assert [one.type for one in log[7:]] == [
        "gap.run_disconnected",
        "tool.failed",
        "tool.failed",
        "turn.failed",
        "run.started",
        "run.finished",
    ]
    assert seen == [False, True]
    # All of it is one transaction: one moment.
    assert len({one.occurred_at for one in log[7:12]}) == 1
    with pytest.raises(StaleLease):
        await house.journal.append(run_id, RunCheckpointSaved(checkpoint_id="late"), lease=generation)


async def test_a_worker_that_died_on_this_machine_is_noticed_before_its_lease_runs_out(house: House) -> None:
    run_id = await house.run()
    await taken_by(house, run_id, "worker_dead", host=socket.gethostname())
    async with at_work(house.worker(done)):
        await house.end(run_id)
    gap = next(
        decode_payload(one.type, one.data)
        for one in map(decode_envelope, await house.log(run_id))
        if one.type == "gap.run_disconnected"
    )
    assert isinstance(gap, GapRunDisconnected)
    assert gap.reason == "worker_died"


async def test_a_living_workers_run_is_left_alone(house: House) -> None:
    run_id, other = await house.run(), await house.run()
    await taken_by(house, run_id, "worker_elsewhere")
    async with at_work(house.worker(done)):
        await house.end(other)
    assert "gap.run_disconnected" not in await house.types(run_id)


async def test_a_run_that_costs_too_many_workers_fails(house: House) -> None:
    run_id = await house.run()
    await taken_by(house, run_id, "worker_gone", until_ns=1)
    await house.journal.write(lambda db: db.execute("UPDATE queue SET claims = 5"))
    async with at_work(house.worker(done)):
        info = await house.end(run_id)
    assert (info.story.run.error_code, info.story.run.retriable) == ("worker_lost", True)
    assert await house.journal.reader.query(lambda db: find_entry(db, run_id)) is None


async def test_a_run_that_somebody_asked_to_cancel_before_it_was_claimed_ends_and_never_starts(house: House) -> None:
    run_id = await house.run()
    await house.journal.write(lambda db: ask_to_cancel(db, run_id, "anna", "not needed", 1))
    async with at_work(house.worker(done)):
        info = await house.end(run_id)
    assert info.story.run.status == "cancelled"
    assert await house.types(run_id) == ["run.queued", "user.message", "run.cancelled"]


async def test_a_loss_that_was_cancelled_meanwhile_ends_cancelled(house: House) -> None:
    run_id = await house.run()
    await taken_by(house, run_id, "worker_gone", until_ns=1)
    await house.cancelling.ask(run_id, by="anna", reason="enough")
    async with at_work(house.worker(done)):
        info = await house.end(run_id)
    assert info.story.run.status == "cancelled"
    assert (await house.types(run_id))[-2:] == ["gap.run_disconnected", "run.cancelled"]


async def test_a_lease_that_cannot_be_renewed_stops_the_run_and_tells_nothing_more(house: House) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def works(host: RunHost) -> Ended:
        host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            with pytest.raises(Stopped):
                host.emit(RunCheckpointSaved(checkpoint_id="late"))
            stopped.set()
            raise
        return Finished()

    run_id = await house.run()
    worker = house.worker(works, lease_s=0.3)
    async with at_work(worker):
        await begun.wait()

        # Somebody holds the database: no heartbeat can be stored.
        other = apsw.Connection(str(database_of(house.data)))
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(PATIENCE_S):
            await stopped.wait()
        other.execute("ROLLBACK")
        other.close()
    assert "run.finished" not in await house.types(run_id)


async def test_a_heartbeat_keeps_the_lease_and_no_row_is_kept_while_idle(house: House) -> None:
    renewed, go_on = asyncio.Event(), asyncio.Event()

    async def waits(_: RunHost) -> Ended:
        first = await house.journal.reader.query(lambda db: find_worker(db, "worker_a"))
        assert first is not None
        while True:
            await asyncio.sleep(0.05)
            row = await house.journal.reader.query(lambda db: find_worker(db, "worker_a"))
            if row is not None and row.lease_until_ns > first.lease_until_ns:
                break
        renewed.set()
        await go_on.wait()
        return Finished()

    run_id = await house.run()
    async with at_work(house.worker(waits, name="worker_a", lease_s=0.3)):
        async with asyncio.timeout(PATIENCE_S):
            await renewed.wait()
        go_on.set()
        await house.end(run_id)
        async with asyncio.timeout(PATIENCE_S):
            while await house.journal.reader.query(lambda db: find_worker(db, "worker_a")) is not None:
                await asyncio.sleep(0.05)


async def test_two_workers_of_one_process_never_hold_the_same_run(house: House) -> None:
    holders: dict[str, int] = {}

    async def counts(host: RunHost) -> Ended:
        holders[host.facts.run_id] = holders.get(host.facts.run_id, 0) + 1
        await asyncio.sleep(0)
        return Finished()

    runs = [await house.run() for _ in range(60)]
    async with at_work(*(house.worker(counts, slots=3) for _ in range(3))):
        for run_id in runs:
            await house.end(run_id)
    assert holders == dict.fromkeys(runs, 1)


async def test_the_row_of_a_claim_that_was_refused_is_untouched(house: House) -> None:
    run_id = await house.run()
    await taken_by(house, run_id, "worker_a")
    before = await house.journal.reader.query(lambda db: find_entry(db, run_id))
    with pytest.raises(Exception, match="moved on"):
        await taken_by(house, run_id, "worker_b")
    assert await house.journal.reader.query(lambda db: find_entry(db, run_id)) == before
    assert await house.journal.reader.query(lambda db: find_worker(db, "worker_b")) is None
    assert (await house.types(run_id)).count(RunStarted.type) == 1


async def refused(house: House, target: Target, loss: Loss) -> None:
    """See to it that a worker that wants to take a run over does not get it, and that its attempt leaves no trace."""
    row = WorkerRow("worker_eager", 1, "elsewhere", 0, FAR_NS)
    claiming = Claiming(target, loss, house.ground.clock.now_ns(), row)
    before, log = (
        await house.journal.reader.query(lambda db: find_entry(db, target.run_id)),
        await house.log(target.run_id),
    )
    with pytest.raises(ClaimLost):
        await house.journal.claim(target.run_id, claiming.tell, also=claiming.also)
    assert await house.journal.reader.query(lambda db: find_entry(db, target.run_id)) == before
    assert await house.log(target.run_id) == log


async def test_a_worker_that_was_late_and_renews_its_lease_in_time_keeps_its_run(house: House) -> None:
    run_id = await house.run()
    generation = await taken_by(house, run_id, "worker_late", until_ns=1)
    loss = await loss_of(house.ground, run_id)
    await house.journal.write(lambda db: renew(db, WorkerRow("worker_late", 1, "elsewhere", 0, FAR_NS)))
    await refused(house, Target(run_id, "worker_late", generation), loss)
    await house.journal.append(run_id, RunCheckpointSaved(checkpoint_id="mine"), lease=generation)


async def test_the_loss_of_one_stay_does_not_end_the_next_stay_with_the_same_worker(house: House) -> None:
    run_id = await house.run()
    first = await taken_by(house, run_id, "worker_a")
    await house.journal.write(lambda db: give_back(db, run_id, first))
    second = await taken_by(house, run_id, "worker_a")
    await refused(house, Target(run_id, "worker_a", first, died=True), await loss_of(house.ground, run_id))
    await house.journal.append(run_id, RunCheckpointSaved(checkpoint_id="mine"), lease=second)


async def test_what_a_late_worker_told_after_the_look_is_not_left_open(house: House) -> None:
    run_id = await house.run()
    generation = await taken_by(house, run_id, "worker_late", until_ns=1)
    loss = await loss_of(house.ground, run_id)
    await house.journal.append_all(run_id, begun(ask("call_since")), lease=generation)
    await refused(house, Target(run_id, "worker_late", generation), loss)
    async with at_work(house.worker(done)):
        await house.end(run_id)
    assert (await house.types(run_id))[-4:] == ["gap.run_disconnected", "tool.failed", "run.started", "run.finished"]
