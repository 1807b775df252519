"""Starting, steering and ending runs."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, error_of
from tests.gateway.working import Json, Working, at_work, says, sh

NOBODY = "run_01JC0000000000000000000001"


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


def _path(run: Json, verb: str) -> str:
    return f"/tasks/{run['task_id']}/runs/{run['run_id']}/{verb}"


async def _slow(working: Working) -> Json:
    """A run that is in the middle of a command."""
    run = await working.run(sh("sleep 65"))
    await working.until(run["run_id"], "tool.shell.command")
    return run


async def test_a_task_has_one_active_run(working: Working) -> None:
    run = await _slow(working)
    for path, body in (
        (f"/tasks/{run['task_id']}/runs", {}),
        (_path(run, "retry"), {}),
        (_path(run, "resume"), {}),
        (_path(run, "continue"), {"prompt": "more"}),
    ):
        assert await working.refused(path, body) == (409, "run_active")


async def test_two_who_start_a_run_at_once_start_one(working: Working) -> None:
    made = await working.task(says(delay_ms=500), start=False)
    answers = await asyncio.gather(*(working.post(f"/tasks/{made['task_id']}/runs") for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]


async def test_a_cancelled_run_is_over_when_the_answer_comes(working: Working) -> None:
    run = await _slow(working)
    answer = await working.post(_path(run, "cancel"), {"reason": "enough"})
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    again = await working.post(_path(run, "cancel"))
    assert (again.status_code, again.json()["status"]) == (200, "cancelled")
    assert (await working.end(run["run_id"])).count("run.cancelled") == 1


async def test_a_finished_run_is_neither_cancelled_nor_steered(working: Working) -> None:
    run = await working.run(says())
    await working.end(run["run_id"])
    assert await working.refused(_path(run, "cancel")) == (409, "run_finished")
    assert await working.refused(_path(run, "messages"), {"text": "hello"}) == (409, "run_finished")


async def test_a_message_waits_for_the_next_turn(working: Working) -> None:
    run = await working.run(says("Over.", delay_ms=400), says("More."))
    await working.until(run["run_id"], "turn.started")
    answer = await working.post(_path(run, "messages"), {"text": "go on"})
    assert (answer.status_code, answer.json()["object"]) == (202, "message")
    assert (await working.end(run["run_id"])).count("turn.completed") == 2


async def test_a_run_without_a_model_hears_nothing(working: Working) -> None:
    run = await working.run(kind="shell", input={"command": "sleep 65"}, model=None)
    await working.until(run["run_id"], "tool.started")
    assert await working.refused(_path(run, "messages"), {"text": "hello"}) == (422, "not_steerable")


async def test_every_way_of_going_on_names_where_it_comes_from(working: Working) -> None:
    run = await working.run(sh("true"), says("One."), says("Two."))
    await working.end(run["run_id"])
    for verb, body, first in (
        ("retry", {}, "run.queued"),
        ("resume", {}, "run.resumed_from_event"),
        ("continue", {"prompt": "and then?"}, "run.resumed_from_event"),
    ):
        answer = await working.post(_path(run, verb), body)
        assert answer.status_code == 201, answer.text
        assert answer.json()["prior_run_id"] == run["run_id"]
        assert (await working.end(answer.json()["run_id"]))[0] == first


@pytest.mark.parametrize(
    ("verb", "body", "status", "code"),
    [
        ("resume", {"from_sequence": 999}, 400, "cursor_ahead"),
        ("resume", {"from_sequence": 1, "checkpoint_id": "ckpt_1"}, 422, "not_resumable"),
        ("resume", {"checkpoint_id": "ckpt_01JC0000000000000000000001"}, 404, "checkpoint_not_found"),
        ("resume", {"where": 3}, 422, "unknown_field"),
        ("continue", {}, 422, "invalid_body"),
        ("continue", {"prompt": " "}, 422, "task_invalid"),
        ("messages", {"text": ""}, 422, "invalid_body"),
    ],
)
async def test_what_makes_no_sense_is_refused(working: Working, verb: str, body: Json, status: int, code: str) -> None:
    run = await working.run(says())
    await working.end(run["run_id"])
    assert await working.refused(_path(run, verb), body) == (status, code)


@pytest.mark.parametrize("verb", ["cancel", "retry", "resume", "continue", "messages"])
async def test_a_run_that_is_not_there_is_404(working: Working, verb: str) -> None:
    body = {"continue": {"prompt": "x"}, "messages": {"text": "x"}}.get(verb, {})
    run = await working.run(says())
    assert await working.refused(f"/tasks/{run['task_id']}/runs/{NOBODY}/{verb}", body) == (404, "run_not_found")
    assert (await working.refused(f"/tasks/task_1/runs/{run['run_id']}/{verb}", body))[0] == 404


async def test_a_branch_is_a_task_of_its_own(working: Working) -> None:
    run = await working.run(sh("true"), says(delay_ms=1000))
    await working.until(run["run_id"], "tool.completed")
    answer = await working.post(_path(run, "resume"), {"branch": True})
    assert answer.status_code == 201, answer.text
    assert answer.json()["task_id"] != run["task_id"]
    assert (await working.end(answer.json()["run_id"]))[-1] == "run.finished"


async def test_a_repeated_resume_starts_one_run(working: Working) -> None:
    run = await working.run(says("One."), says("Two."))
    await working.end(run["run_id"])
    answers = [await working.post(_path(run, "resume"), {}, **{"idempotency-key": "r"}) for _ in range(2)]
    assert answers[0].json()["run_id"] == answers[1].json()["run_id"]
    assert len((await working.get(f"/tasks/{run['task_id']}/runs"))["data"]) == 2


async def test_an_unknown_task_cannot_be_started(working: Working) -> None:
    answer = await working.http.post(f"{V1}/tasks/task_01JC0000000000000000000001/runs", json={})
    assert (answer.status_code, error_of(answer)["code"]) == (404, "task_not_found")


async def test_a_run_says_where_and_by_whom_it_is_worked_on(working: Working) -> None:
    run = await _slow(working)
    shown = await working.get(f"/runs/{run['run_id']}")
    assert shown["workspace"] == {"path": str(working.folder), "mode": "in_place"}
    assert shown["worker_id"].startswith("worker_")
    assert shown["lease_until"] > shown["started_at"]
    assert (shown["prior_run_id"], shown["parent_run_id"]) == (None, None)
    (listed,) = (await working.get("/runs"))["data"]
    assert (listed["worker_id"], listed["lease_until"] is None) == (shown["worker_id"], False)
    task = await working.get(f"/tasks/{run['task_id']}")
    assert task["latest_run"]["lease_until"] is not None
    ended = (await working.post(_path(run, "cancel"))).json()
    assert (ended["worker_id"], ended["lease_until"]) == (shown["worker_id"], None)


async def test_what_is_attached_to_a_later_prompt_goes_with_it(working: Working) -> None:
    run = await working.run(says("One."), says("Two."))
    await working.end(run["run_id"])
    image = {"mime": "image/png", "base64": base64.b64encode(b"\x89PNG fake").decode()}
    wrong = {"prompt": "Look.", "attachments": [{**image, "base64": "not base64!"}]}
    assert await working.refused(_path(run, "continue"), wrong) == (422, "task_invalid")
    answer = await working.post(_path(run, "continue"), {"prompt": "Look.", "attachments": [image]})
    assert answer.status_code == 201, answer.text
    later = answer.json()["run_id"]
    attached = await working.until(later, "user.attachment")
    said = await working.until(later, "user.message")
    assert (attached["kind"], attached["turn_index"]) == ("image", said["turn_index"])
    raw = await working.http.get(f"{V1}/artifacts/{attached['artifact_id']}/raw")
    assert raw.content == b"\x89PNG fake"
    assert (await working.end(later))[-1] == "run.finished"
