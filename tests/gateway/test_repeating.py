"""Every POST that does something may be repeated under its key: it is done once and answered alike."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.working import Json, Working, at_work, says, sh, uses


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        (opened.folder / "a.txt").write_text("one\n")
        yield opened


async def _twice(working: Working, path: str, body: Json | None = None) -> Json:
    """The answer to a request that is sent twice."""
    first = await working.post(path, body, **{"idempotency-key": "k-1"})
    assert first.status_code < 300, first.text
    second = await working.post(path, body, **{"idempotency-key": "k-1"})
    assert (second.status_code, second.content) == (first.status_code, first.content)
    found: Json = first.json()
    return found


async def test_a_started_run(working: Working) -> None:
    made = await working.task(says(), start=False)
    run = await _twice(working, f"/tasks/{made['task_id']}/runs")
    await working.end(run["run_id"])
    assert (await working.get(f"/tasks/{made['task_id']}"))["runs"] == 1


@pytest.mark.parametrize(
    ("verb", "body"), [("retry", {}), ("resume", {}), ("resume", {"branch": True}), ("continue", {"prompt": "more"})]
)
async def test_a_run_that_goes_on(working: Working, verb: str, body: Json) -> None:
    run = await working.run(says("One."), says("Two."))
    await working.end(run["run_id"])
    later = await _twice(working, f"/tasks/{run['task_id']}/runs/{run['run_id']}/{verb}", body)
    await working.end(later["run_id"])
    assert len((await working.get("/runs"))["data"]) == 2


async def test_a_message(working: Working) -> None:
    run = await working.run(says("Over.", delay_ms=500), says("More."), says("Too much."))
    await working.until(run["run_id"], "turn.started")
    await _twice(working, f"/tasks/{run['task_id']}/runs/{run['run_id']}/messages", {"text": "go on"})
    assert (await working.end(run["run_id"])).count("user.message") == 2


async def test_a_cancellation(working: Working) -> None:
    run = await working.run(sh("sleep 67"))
    await working.until(run["run_id"], "tool.started")
    await _twice(working, f"/tasks/{run['task_id']}/runs/{run['run_id']}/cancel")
    assert (await working.end(run["run_id"])).count("run.cancelled") == 1


async def test_an_answer(working: Working) -> None:
    run = await working.run(sh("true"), says(), policy={"shell_exec": "ask"})
    question = (await working.until(run["run_id"], "approval.requested"))["approval_id"]
    await _twice(working, f"/approvals/{question}/resolve", {"decision": "approved", "scope": "always"})
    await working.end(run["run_id"])
    assert len((await working.get("/permissions"))["data"]) == 1


@pytest.mark.parametrize("verb", ["apply", "reject"])
async def test_a_patch(working: Working, verb: str) -> None:
    edit = uses("edit_file", path="a.txt", old_text="one", new_text="ONE")
    run = await working.run(edit, says(), policy={"auto_apply": False})
    await working.end(run["run_id"])
    (patch,) = (await working.get("/artifacts", run_id=run["run_id"], kind="patch"))["data"]
    await _twice(working, f"/artifacts/{patch['id']}/{verb}")
    log = b"".join(await working.served.stored(run["run_id"]))
    assert log.count(b'"type":"artifact.updated"') == 1


async def test_a_revert(working: Working) -> None:
    run = await working.run(uses("edit_file", path="a.txt", old_text="one", new_text="ONE"), says())
    await working.end(run["run_id"])
    (patch,) = (await working.get("/artifacts", run_id=run["run_id"], kind="patch"))["data"]
    await _twice(working, f"/artifacts/{patch['id']}/revert")
    assert (working.folder / "a.txt").read_text() == "one\n"


async def test_a_batch_of_patches(working: Working) -> None:
    edit = uses("edit_file", path="a.txt", old_text="one", new_text="ONE")
    run = await working.run(edit, says(), policy={"auto_apply": False})
    await working.end(run["run_id"])
    answer = await _twice(working, f"/runs/{run['run_id']}/patches/apply")
    assert [one["status"] for one in answer["data"]] == ["applied"]
