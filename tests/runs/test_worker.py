"""A run is born, claimed, carried and ended."""

import gc
import weakref

from runwire.host import Ended, Failed, Finished, RunHost, ToolEnd
from runwire.protocol.events.turn import TurnCompleted, TurnStarted
from tests.runs.house import House, ask, at_work


def completed(turn: int = 0, cost: int = 0) -> TurnCompleted:
    return TurnCompleted(
        turn_index=turn,
        input_tokens=1,
        output_tokens=1,
        cost_micros_usd=cost,
        duration_ms=1,
        tool_calls=0,
        stop_reason="end_turn",
    )


async def one_turn(host: RunHost) -> Ended:
    host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
    call = ask()
    await host.permit(call)
    await host.settle(call, ToolEnd(outcome="completed", duration_ms=1, summary="", output="ok"))
    host.spend(7)
    host.emit(completed(cost=7))
    await host.checkpoint()
    return Finished()


async def test_a_task_becomes_a_run_that_a_worker_finishes(house: House) -> None:
    run_id = await house.run()
    assert await house.types(run_id) == ["run.queued", "user.message"]
    async with at_work(house.worker(one_turn)):
        info = await house.end(run_id)
    assert await house.types(run_id) == [
        "run.queued",
        "user.message",
        "run.started",
        "turn.started",
        "tool.invoked",
        "tool.started",
        "tool.completed",
        "turn.completed",
        "run.checkpoint_saved",
        "run.finished",
    ]
    assert (info.story.run.status, info.story.run.turns, info.story.run.cost_micros_usd) == ("completed", 1, 7)


async def test_a_run_that_is_over_leaves_nothing_for_the_collector(house: House) -> None:
    hosts: list[weakref.ref[RunHost]] = []

    async def seen(host: RunHost) -> Ended:
        hosts.append(weakref.ref(host))
        return await one_turn(host)

    run_id = await house.run()
    gc.disable()
    try:
        async with at_work(house.worker(seen)):
            await house.end(run_id)
        assert [host() for host in hosts] == [None]
    finally:
        gc.enable()


async def test_a_failure_is_the_end_of_a_run(house: House) -> None:
    async def fails(_: RunHost) -> Ended:
        return Failed("no_luck", "it did not work", retriable=True)

    run_id = await house.run()
    async with at_work(house.worker(fails)):
        info = await house.end(run_id)
    assert (info.story.run.status, info.story.run.error_code, info.story.run.retriable) == ("failed", "no_luck", True)


async def test_an_executor_that_breaks_fails_its_run_and_not_the_worker(house: House) -> None:
    async def breaks(host: RunHost) -> Ended:
        host.emit(TurnStarted(turn_index=0, model="m", provider="p"))
        if host.facts.prompt == "break":
            raise LookupError("nothing there")
        host.emit(completed())
        return Finished()

    broken, whole = await house.run("break"), await house.run("fine")
    async with at_work(house.worker(breaks)):
        assert (await house.end(broken)).story.run.error_code == "internal_error"
        assert (await house.end(whole)).story.run.status == "completed"
