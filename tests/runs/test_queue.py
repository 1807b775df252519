"""Who is next, who may go beside whom, and what two processes make of it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runwire.host import ChildEnd, Ended, Failed, Finished, RunHost
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.tool import ToolFailed
from runwire.runs.errors import ChildRefused
from runwire.runs.recovering import MAY_HAVE_HAPPENED
from runwire.runs.rows.queue import count_by_state
from runwire.runs.task import WorkspaceSpec
from tests.patience import PATIENCE_S
from tests.runs.house import House, at_work, open_house
from tests.runs.test_claiming import done

ROOT = Path(__file__).parents[2]


async def test_the_most_urgent_goes_first_then_the_oldest(house: House) -> None:
    order: list[str] = []

    async def notes(host: RunHost) -> Ended:
        order.append(host.facts.prompt)
        return Finished()

    runs = [await house.run(name, priority=priority) for name, priority in [("a", 0), ("b", 5), ("c", 0), ("d", 5)]]
    async with at_work(house.worker(notes)):
        for run_id in runs:
            await house.end(run_id)
    assert order == ["b", "d", "a", "c"]


async def test_a_workspace_is_known_by_where_it_really_is(house: House, tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    seen: list[Path] = []

    async def notes(host: RunHost) -> Ended:
        seen.append(host.facts.workspace)
        return Finished()

    run_id = await house.run("a", workspace=WorkspaceSpec(path=str(link), mode="in_place"))
    async with at_work(house.worker(notes)):
        await house.end(run_id)
    assert seen == [real.resolve()]


async def test_one_that_comes_later_and_is_more_urgent_overtakes_those_that_wait(house: House) -> None:
    order: list[str] = []
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def notes(host: RunHost) -> Ended:
        order.append(host.facts.prompt)
        begun.set()
        await go_on.wait()
        return Finished()

    runs = [await house.run(name) for name in "abc"]
    async with at_work(house.worker(notes)):
        await begun.wait()
        runs.append(await house.run("urgent", priority=9))
        await asyncio.sleep(0.05)
        go_on.set()
        for run_id in runs:
            await house.end(run_id)
    assert order == ["a", "urgent", "b", "c"]


async def test_a_free_slot_takes_up_what_is_queued_while_it_waits(house: House) -> None:
    async with at_work(house.worker(done, slots=4)):
        await asyncio.sleep(0.05)
        runs = [await house.run() for _ in range(8)]
        for run_id in runs:
            await house.end(run_id)
    assert await house.journal.reader.query(count_by_state) == {}


async def parent_and_children(house: House, slots: int) -> tuple[list[ChildEnd], str, list[int]]:
    """A run with three children; what they came to, the run, and how many were at work at once."""
    ends: list[ChildEnd] = []
    at_once: list[int] = []
    running = 0

    async def works(host: RunHost) -> Ended:
        nonlocal running
        if host.facts.prompt != "parent":
            running += 1
            at_once.append(running)
            await asyncio.sleep(0.01)
            running -= 1
            host.spend(10)
            with pytest.raises(ChildRefused):
                await host.spawn("native", "grandchild", "call_x")
            return Finished()
        async with asyncio.TaskGroup() as tasks:
            children = [tasks.create_task(host.spawn("native", f"part {n}", f"call_{n}")) for n in range(3)]
        ends.extend(child.result() for child in children)
        return Finished() if host.spent() == 30 else Failed("miscounted", str(host.spent()))

    run_id = await house.run("parent", experimental=["run.child_*"], concurrency=2)
    async with at_work(house.worker(works, slots=slots)):
        info = await house.end(run_id)
        for end in ends:
            await house.end(end.run_id)
    assert info.story.run.status == "completed"
    assert info.story.run.cost_micros_usd == 0
    return ends, run_id, at_once


@pytest.mark.parametrize("slots", [1, 4])
async def test_children_are_worked_on_while_their_parent_waits_and_not_too_many_at_once(
    house: House, slots: int
) -> None:
    ends, run_id, at_once = await parent_and_children(house, slots)
    assert [(end.final_status, end.cost_micros_usd) for end in ends] == [("completed", 10)] * 3
    assert max(at_once) <= 2
    types = Counter(await house.types(run_id))
    assert (types["run.child_started"], types["run.child_finished"]) == (3, 3)


async def test_nobody_has_children_who_did_not_ask_for_them(house: House) -> None:
    async def works(host: RunHost) -> Ended:
        with pytest.raises(ChildRefused):
            await host.spawn("native", "part", "call_1")
        return Finished()

    run_id = await house.run()
    async with at_work(house.worker(works)):
        assert (await house.end(run_id)).story.run.status == "completed"


async def test_a_child_is_cancelled_with_its_parent(house: House) -> None:
    begun = asyncio.Event()
    child_ids: list[str] = []

    async def works(host: RunHost) -> Ended:
        if host.facts.prompt == "parent":
            await host.spawn("native", "part", "call_1")
        else:
            child_ids.append(host.facts.run_id)
            begun.set()
            await asyncio.Event().wait()
        return Finished()

    run_id = await house.run("parent", experimental=["run.child_started", "run.child_finished"])
    async with at_work(house.worker(works, slots=1)):
        await begun.wait()
        assert (await house.cancelling.cancel(run_id, by="anna")).settled
        assert (await house.end(child_ids[0])).story.run.status == "cancelled"
    await house.end(run_id)


@asynccontextmanager
async def worker_process(data: Path, work: str) -> AsyncGenerator[Process]:
    """A worker in a process of its own; it closes in order when the block ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.runs.worker_entry", str(data), work, stdin=PIPE, stdout=PIPE, cwd=ROOT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.stdin.close()
        async with asyncio.timeout(PATIENCE_S):
            await process.wait()


async def test_two_processes_that_race_for_two_hundred_runs_work_on_each_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_house(data) as house:
        runs = [await house.run() for _ in range(200)]
        async with worker_process(data, "count"), worker_process(data, "count"):
            for run_id in runs:
                await house.end(run_id)
        counted = Counter((data / "counted").read_text().split())
        assert counted == dict.fromkeys(runs, 1)
        for run_id in runs:
            types = Counter(await house.types(run_id))
            assert (types["run.started"], types["run.finished"]) == (1, 1)


async def test_a_worker_that_is_killed_is_told_of_and_another_process_goes_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_house(data) as house:
        run_id = await house.run()
        async with worker_process(data, "hang") as process:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"begun\n"
            process.kill()
            await process.wait()
        async with worker_process(data, "count"):
            await house.end(run_id)
        assert (await house.types(run_id))[-7:] == [
            "tool.invoked",
            "tool.started",
            "gap.run_disconnected",
            "tool.failed",
            "turn.failed",
            "run.started",
            "run.finished",
        ]
        payloads = [decode_payload(one.type, one.data) for one in map(decode_envelope, await house.log(run_id))]
        gap = next(one for one in payloads if isinstance(one, GapRunDisconnected))
        assert gap.reason == "worker_died"
        failed = next(one for one in payloads if isinstance(one, ToolFailed))
        assert (failed.code, failed.message) == ("interrupted", MAY_HAVE_HAPPENED)
