"""A worker may die anywhere: its run goes on elsewhere, nothing happens twice, and files and log tell the same story."""

import random
from collections import Counter
from pathlib import Path

import pytest

from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.run import RunStarted
from tests.endurance.dying import live
from tests.endurance.worker_entry import Place, worker
from tests.scenarios.stage import Theatre, sh, turn

# In the order in which a run comes by them.
PLACES = [
    Place("claiming"),
    Place("claimed"),
    Place("after turn.started"),
    Place("before turn.completed"),
    Place("after turn.completed"),
    Place("before approval.requested"),
    Place("after approval.requested"),
    Place("before tool.invoked"),
    Place("after tool.started"),
    Place("effect done"),
    Place("after tool.completed"),
    Place("before tool.multi_edit.proposed"),
    Place("write begun"),
    Place("write prepared"),
    Place("write renamed", 1),
    Place("write renamed", 2),
    Place("write told"),
    Place("write renamed", 3),
    Place("before run.finished"),
    Place("after run.finished"),
]


@pytest.mark.parametrize("place", PLACES, ids=str)
async def test_a_run_survives_its_worker(tmp_path: Path, place: Place) -> None:
    await live(tmp_path, [place])


@pytest.mark.parametrize("second", [Place("claiming"), Place("claimed")], ids=str)
async def test_a_run_survives_the_worker_that_takes_it_over(tmp_path: Path, second: Place) -> None:
    await live(tmp_path, [Place("write renamed"), second])


async def test_a_question_of_a_dead_worker_is_answered_to_the_next(tmp_path: Path) -> None:
    theatre = Theatre(tmp_path)
    async with theatre.open(workers=0) as stage:
        run_id = await stage.start(turn("", sh("echo x >> made")), turn("Done."), policy={"shell_exec": "ask"})
        async with worker(theatre.data, Place("after approval.requested")) as first:
            await first.died()
        asked = await stage.until(run_id, ApprovalRequested)
        started = (await stage.log(run_id)).one(RunStarted)
        async with worker(theatre.data):
            await stage.until(run_id, RunStarted, lambda one: one.worker_id != started.worker_id)
            await stage.resolve(asked.approval_id, "approved")
            log = await stage.end(run_id)
    assert (theatre.workspace / "made").read_text() == "x\n"
    assert log.types.count("approval.requested") == log.types.count("approval.resolved") == 1
    assert log.types[-1] == "run.finished"


@pytest.mark.endurance
async def test_a_run_survives_death_at_every_place_there_is(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    await live(tmp_path / "whole", [], trace=trace)
    times: Counter[str] = Counter()
    for number, name in enumerate(trace.read_text().splitlines()):
        times[name] += 1
        await live(tmp_path / str(number), [Place(name, times[name])])


@pytest.mark.endurance
async def test_a_run_survives_one_death_after_another(tmp_path: Path) -> None:
    for number in range(60):
        first = random.choice(PLACES[:-2])
        # What the second worker comes by depends on where the first has died; these are always on its way.
        rest = random.choice([Place("claiming"), Place("claimed"), Place("before run.finished")])
        await live(tmp_path / str(number), [first, rest])
