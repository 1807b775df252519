"""Every POST that does something may be repeated under its key: it is done once and answered alike."""

from collections.abc import AsyncIterator
from pathlib import Path

import apsw
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


async def _lose_the_answer(working: Working) -> None:
    """What a crash leaves that came after the deed and before the answer was kept."""
    await working.served.services.journal.write(lambda db: db.execute("UPDATE replies SET status = 0, body = x''"))


async def _proposed(working: Working) -> tuple[str, str]:
    """A run that has proposed a patch, and the patch."""
    edit = uses("edit_file", path="a.txt", old_text="one", new_text="ONE")
    run = await working.run(edit, says(), policy={"auto_apply": False})
    await working.end(run["run_id"])
    (patch,) = (await working.get("/artifacts", run_id=run["run_id"], kind="patch"))["data"]
    return run["run_id"], patch["id"]


@pytest.mark.parametrize("verb", ["apply", "reject", "revert", "batch"])
async def test_what_was_decided_before_a_crash_is_answered_after_it(working: Working, verb: str) -> None:
    run_id, patch = await _proposed(working)
    if verb == "revert":
        assert (await working.post(f"/artifacts/{patch}/apply")).status_code == 200
    path, body = f"/artifacts/{patch}/{verb}", {}
    if verb == "batch":
        path, body = f"/runs/{run_id}/patches/apply", {"artifact_ids": [patch]}
    first = await working.post(path, body, **{"idempotency-key": "k-1"})
    assert first.status_code == 200, first.text
    await _lose_the_answer(working)
    log = await working.served.stored(run_id)
    second = await working.post(path, body, **{"idempotency-key": "k-1"})
    assert (second.status_code, second.content) == (200, first.content)
    assert await working.served.stored(run_id) == log
    third = await working.post(path, body, **{"idempotency-key": "k-1"})
    assert (third.content, third.headers["idempotency-replayed"]) == (first.content, "true")
    other = await working.post(path, body, **{"idempotency-key": "k-2"})
    assert other.status_code == 409


async def test_what_was_taken_back_after_a_crash_is_done_when_it_is_asked_for_again(working: Working) -> None:
    run_id, patch = await _proposed(working)
    first = await working.post(f"/artifacts/{patch}/apply", {}, **{"idempotency-key": "k-1"})
    await _lose_the_answer(working)

    def take_back(db: apsw.Connection) -> None:
        db.execute("UPDATE artifacts SET status = 'proposed' WHERE artifact_id = ?", (patch,))

    await working.served.services.journal.write(take_back)
    (working.folder / "a.txt").write_text("one\n")
    second = await working.post(f"/artifacts/{patch}/apply", {}, **{"idempotency-key": "k-1"})
    assert (second.status_code, second.json()["data"]["status"]) == (200, "applied"), second.text
    assert first.json()["data"]["id"] == second.json()["data"]["id"]
    assert (working.folder / "a.txt").read_text() == "ONE\n"
    assert run_id


async def test_which_patches_a_lost_answer_spoke_of_is_not_guessed(working: Working) -> None:
    run_id, _ = await _proposed(working)
    path = f"/runs/{run_id}/patches/apply"
    assert (await working.post(path, {}, **{"idempotency-key": "k-1"})).status_code == 200
    await _lose_the_answer(working)
    assert (await working.post(path, {}, **{"idempotency-key": "k-1"})).status_code == 409
