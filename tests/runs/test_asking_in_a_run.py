"""Runs of other agents that wait for people: parked only if their agent outlives the worker, and ended in order if not."""

import asyncio
import socket

import pytest

from runwire.host import Ended, Failed, Finished, RunHost, left_behind
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.approval import ApprovalResolved
from runwire.protocol.events.run import RunFailed
from runwire.protocol.events.turn import TurnStarted
from runwire.protocol.payload import Opaque, Payload
from runwire.runs.approval import Answer
from tests.patience import PATIENCE_S
from tests.runs.house import House, ask, at_work, begun
from tests.runs.test_claiming import taken_by
from tests.runs.test_hosting import QUICK, Office


@pytest.fixture
def office(house: House) -> Office:
    return Office(house)


async def payloads_of(house: House, run_id: str) -> list[Payload | Opaque]:
    return [decode_payload(one.type, one.data) for one in map(decode_envelope, await house.log(run_id))]


async def asks_and_stays(host: RunHost) -> Ended:
    """An agent in a process of ours: it cannot be answered by another worker."""
    if not host.facts.fresh:
        return Failed("agent_gone", "the agent ended with its worker", retriable=True)
    answer = await host.ask(ask())
    return Finished() if answer.allowed else Failed("denied", answer.told)


async def asks_and_outlives(host: RunHost) -> Ended:
    """An agent that runs elsewhere and waits for its answer however long that takes."""
    answer = await host.ask(ask(), parks=True)
    return Finished() if answer.allowed else Failed("denied", answer.told)


async def test_an_agent_that_lives_in_the_worker_is_never_parked(office: Office) -> None:
    house = office.house
    run_id = await house.run()
    async with at_work(house.worker(asks_and_stays, permitting=office.permits, manners=QUICK)):
        (approval,) = await office.pending()
        await asyncio.sleep(QUICK.park_after_s * 4)
        assert (await office.entry(run_id, "running")).worker_id is not None
        await office.approvals.resolve(approval, Answer(decision="approved", by="anna"))
        await house.end(run_id)
    assert (await house.types(run_id))[2:] == ["run.started", "approval.requested", "approval.resolved", "run.finished"]


async def test_an_agent_that_outlives_the_worker_is_parked_and_answered_by_another(office: Office) -> None:
    house = office.house
    run_id = await house.run()
    async with at_work(house.worker(asks_and_outlives, permitting=office.permits, manners=QUICK)):
        await office.entry(run_id, "parked")
    (approval,) = await office.pending()
    await office.approvals.resolve(approval, Answer(decision="approved", by="anna"))
    async with at_work(house.worker(asks_and_outlives, permitting=office.permits)):
        await house.end(run_id)
    assert (await house.types(run_id))[2:] == [
        "run.started",
        "approval.requested",
        "approval.resolved",
        "run.started",
        "run.finished",
    ]


async def test_a_run_in_the_middle_of_a_turn_is_not_parked(office: Office) -> None:
    async def asks_in_a_turn(host: RunHost) -> Ended:
        host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
        return await asks_and_outlives(host)

    house = office.house
    run_id = await house.run()
    async with at_work(house.worker(asks_in_a_turn, permitting=office.permits, manners=QUICK)):
        (approval,) = await office.pending()
        await asyncio.sleep(QUICK.park_after_s * 4)
        await office.entry(run_id, "running")
        await office.approvals.resolve(approval, Answer(decision="approved", by="anna"))
        await house.end(run_id)
    assert (await house.types(run_id)).count("run.started") == 1


async def test_waiting_is_not_the_runs_own_time(office: Office) -> None:
    house = office.house
    run_id = await house.run(timeout_s=0.3)
    async with at_work(house.worker(asks_and_stays, permitting=office.permits)):
        (approval,) = await office.pending()
        await asyncio.sleep(0.5)
        await office.approvals.resolve(approval, Answer(decision="approved", by="anna"))
        assert (await house.end(run_id)).story.run.status == "completed"


async def test_a_worker_that_closes_does_not_wait_for_an_answer_that_nobody_gives(office: Office) -> None:
    house = office.house
    run_id = await house.run()
    patient = type(QUICK)(park_after_s=60.0, close_grace_s=60.0)
    async with (
        asyncio.timeout(PATIENCE_S),
        at_work(house.worker(asks_and_stays, permitting=office.permits, manners=patient)),
    ):
        await office.pending()
    await office.entry(run_id, "ready")
    async with at_work(house.worker(asks_and_stays, permitting=office.permits)):
        info = await house.end(run_id)
    assert (info.story.run.error_code, info.story.run.retriable) == ("agent_gone", True)


async def test_an_agent_that_died_with_its_worker_leaves_nothing_open(office: Office) -> None:
    house = office.house
    run_id = await house.run()
    generation = await taken_by(house, run_id, "worker_dead", host=socket.gethostname())
    await house.journal.append_all(
        run_id,
        [TurnStarted(turn_index=0, model="m", provider="p"), *begun(ask("call_at_work"))],
        lease=generation,
    )
    held = await office.held(run_id, generation)
    waiting = asyncio.create_task(office.permits.ask(held, ask("call_asked"), office.emitting(run_id, generation)))
    (approval,) = await office.pending()
    waiting.cancel()
    seen: list[tuple[list[str | None], list[str]]] = []

    async def looks(host: RunHost) -> Ended:
        left = left_behind(await host.past(), host.facts.run_id)
        seen.append(([one.tool_call_id for one in left.questions], [one.tool_call_id for one in left.calls]))
        return await asks_and_stays(host)

    async with at_work(house.worker(looks, permitting=office.permits)):
        info = await house.end(run_id)
    assert seen == [(["call_asked"], ["call_at_work"])]
    assert (info.story.run.status, info.story.run.retriable) == ("failed", True)
    *_, denied, last = await payloads_of(house, run_id)
    assert isinstance(denied, ApprovalResolved)
    assert (denied.approval_id, denied.decision, denied.by) == (approval, "denied", "system")
    assert denied.comment == "the run failed: the agent ended with its worker"
    assert isinstance(last, RunFailed)
    assert (last.code, last.retriable) == ("agent_gone", True)
    assert (await office.approvals.get(approval)).status == "denied"
    assert (await house.types(run_id))[-6:] == [
        "gap.run_disconnected",
        "tool.failed",
        "turn.failed",
        "run.started",
        "approval.resolved",
        "run.failed",
    ]
