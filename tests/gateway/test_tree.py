"""The runs that belong together."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, error_of
from tests.gateway.working import Json, Working, at_work, says, uses


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def _after(working: Working, run: Json, verb: str, **body: object) -> Json:
    """A run that came of another, once it is over."""
    answer = await working.post(f"/tasks/{run['task_id']}/runs/{run['run_id']}/{verb}", body)
    assert answer.status_code == 201, answer.text
    await working.end(answer.json()["run_id"])
    made: Json = answer.json()
    return made


async def test_a_tree_holds_what_was_repeated_taken_up_and_branched_off(working: Working) -> None:
    first = await working.run(says("One."), says("Two."), says("Three."), workspace={"mode": "scratch"})
    await working.end(first["run_id"])
    retried = await _after(working, first, "retry")
    resumed = await _after(working, first, "continue", prompt="More.")
    branched = await _after(working, first, "resume", branch=True, from_sequence=3)
    assert branched["task_id"] != first["task_id"]
    for asked in (first, branched):
        tree = await working.get(f"/runs/{asked['run_id']}/tree")
        assert (tree["object"], tree["run_id"], tree["has_more"]) == ("tree", asked["run_id"], False)
        assert [(one["run_id"], one["relation"], one["from_run_id"]) for one in tree["data"]] == [
            (first["run_id"], "first", None),
            (retried["run_id"], "retry", first["run_id"]),
            (resumed["run_id"], "resume", first["run_id"]),
            (branched["run_id"], "branch", first["run_id"]),
        ]
        assert tree["data"][3]["from_sequence"] == branched["branched_from"]["sequence"] <= 3
    assert branched["branched_from"]["run_id"] == first["run_id"]
    assert branched["resumed_from"] is None
    assert resumed["resumed_from"]["run_id"] == first["run_id"]
    assert (retried["resumed_from"], retried["branched_from"]) == (None, None)


async def test_a_part_of_the_work_hangs_below_the_run_that_it_is_done_for(working: Working) -> None:
    turns = [uses("spawn_agent", prompt="Count the files."), says("Three."), says("Done.")]
    run = await working.run(*turns, experimental=["run.child_started", "run.child_finished"])
    child = (await working.until(run["run_id"], "run.child_started"))["child_run_id"]
    await working.end(run["run_id"])
    tree = await working.get(f"/tasks/{run['task_id']}/runs/{child}/tree")
    assert [(one["run_id"], one["relation"], one["from_run_id"], one["title"]) for one in tree["data"]] == [
        (run["run_id"], "first", None, "Do it."),
        (child, "child", run["run_id"], "Count the files."),
    ]


async def test_a_run_without_a_task_stands_alone(working: Working) -> None:
    await working.served.run(run_id="run_1", task_id=None)
    await working.served.run(run_id="run_2", task_id=None)
    tree = await working.get("/runs/run_1/tree")
    assert [one["run_id"] for one in tree["data"]] == ["run_1"]
    unknown = await working.http.get(f"{V1}/runs/run_nobody/tree")
    assert (unknown.status_code, error_of(unknown)["code"]) == (404, "run_not_found")
