"""Tasks as resources."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, caller, error_of
from tests.gateway.working import Working, at_work, says, sh


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def test_a_task_is_made_started_and_carried_out(working: Working) -> None:
    made = await working.task(says("Fine."), title="A small thing", session_id="chat_1")
    assert made["object"] == "task"
    assert made["task_id"].startswith("task_")
    assert (made["kind"], made["agent"], made["title"], made["runs"]) == ("agent_loop", "native", "A small thing", 1)
    run = made["latest_run"]
    assert (run["task_id"], run["session_id"], run["status"]) == (made["task_id"], "chat_1", "queued")
    assert (await working.end(run["run_id"]))[-1] == "run.finished"
    shown = await working.get(f"/tasks/{made['task_id']}")
    assert shown["latest_run"]["status"] == "completed"


async def test_a_task_that_is_not_to_start_waits(working: Working) -> None:
    made = await working.task(says(), start=False)
    assert (made["latest_run"], made["runs"]) == (None, 0)
    answer = await working.post(f"/tasks/{made['task_id']}/runs")
    assert answer.status_code == 201
    assert (await working.end(answer.json()["run_id"]))[-1] == "run.finished"


async def test_a_field_that_nobody_knows_is_named(working: Working) -> None:
    answer = await working.post("/tasks", {"prompt": "x", "colour": "red"})
    assert answer.status_code == 422
    error = error_of(answer)
    assert error["code"] == "unknown_field"
    assert "colour" in error["message"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "task_invalid"),
        ({"prompt": " \n"}, "task_invalid"),
        ({"prompt": "x", "model": "nobody:knows"}, "model_unknown"),
        ({"prompt": "x", "agent": "nobody"}, "agent_unknown"),
        ({"prompt": "x", "kind": "dance"}, "invalid_body"),
        ({"kind": "shell"}, "task_invalid"),
        ({"kind": "git", "input": {}}, "task_invalid"),
        (
            {"kind": "shell", "input": {"command": "true"}, "workspace": {"path": "/nowhere/at/all"}},
            "workspace_invalid",
        ),
        ({"kind": "shell", "input": {"command": "true"}, "workspace": {"mode": "clone"}}, "task_invalid"),
        ({"kind": "shell", "input": {"command": "true"}, "policy": "lenient"}, "invalid_body"),
        ({"kind": "shell", "input": {"command": "true"}, "policy": {"shell_exec": "maybe"}}, "unknown_field"),
        ({"kind": "shell", "input": {"command": "true"}, "session_id": "not a session"}, "task_invalid"),
        ({"prompt": 7}, "invalid_body"),
    ],
)
async def test_a_task_that_makes_no_sense_is_422(working: Working, body: object, code: str) -> None:
    assert await working.refused("/tasks", body) == (422, code)
    assert (await working.get("/tasks"))["data"] == []


async def test_a_request_that_is_repeated_makes_one_task(working: Working) -> None:
    body = {"kind": "shell", "input": {"command": "true"}}
    first = await working.post("/tasks", body, **{"idempotency-key": "once"})
    second = await working.post("/tasks", body, **{"idempotency-key": "once"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["task_id"] == second.json()["task_id"]
    assert len((await working.get("/tasks"))["data"]) == 1


async def test_tasks_are_listed_newest_first_page_by_page(working: Working) -> None:
    made = [(await working.task(says(), start=False, session_id=f"chat_{one % 2}"))["task_id"] for one in range(5)]
    first = await working.get("/tasks", limit="3")
    rest = await working.get("/tasks", limit="3", cursor=first["next_cursor"])
    assert [one["task_id"] for one in first["data"] + rest["data"]] == made[::-1]
    assert (first["has_more"], rest["has_more"]) == (True, False)
    some = await working.get("/tasks", session_id="chat_1")
    assert [one["task_id"] for one in some["data"]] == [made[3], made[1]]


async def test_a_deleted_task_is_gone_with_its_runs(working: Working) -> None:
    made = await working.task(sh("true"), says())
    run_id = made["latest_run"]["run_id"]
    await working.end(run_id)
    assert (await working.http.delete(f"{V1}/tasks/{made['task_id']}")).status_code == 204
    for path in (f"/tasks/{made['task_id']}", f"/runs/{run_id}"):
        assert (await working.http.get(V1 + path)).status_code == 404


async def test_a_task_at_work_cannot_be_deleted(working: Working) -> None:
    made = await working.task(sh("sleep 64"))
    await working.until(made["latest_run"]["run_id"], "tool.started")
    answer = await working.http.delete(f"{V1}/tasks/{made['task_id']}")
    assert (answer.status_code, error_of(answer)["code"]) == (409, "run_active")


async def test_secrets_of_a_task_are_kept_out_of_sight(working: Working) -> None:
    hidden = "correct-horse-battery-staple-9431"
    made = await working.task(sh("env; cat /proc/self/environ"), says(), env={"API_TOKEN": hidden, "COLOUR": "red"})
    run_id = made["latest_run"]["run_id"]
    await working.end(run_id)
    log = b"".join(await working.served.stored(run_id))
    assert hidden.encode() not in log
    assert b"COLOUR=red" in log
    assert hidden not in str(await working.get(f"/tasks/{made['task_id']}"))


@pytest.mark.parametrize("scope", ["read", "operate"])
async def test_making_a_task_needs_the_scope_to_write(working: Working, scope: str) -> None:
    token = (await working.post("/tokens", {"name": "somebody", "scopes": [scope]})).json()["token"]
    async with caller(working.served.port, token) as http:
        answer = await http.post(f"{V1}/tasks", json={"prompt": "x"})
    assert answer.status_code == 403


async def test_a_command_hook_needs_an_admin(working: Working) -> None:
    token = (await working.post("/tokens", {"name": "writer", "scopes": ["write"]})).json()["token"]
    hook = {"name": "mine", "on": "PreToolUse", "command": ["/bin/true"]}
    body = {"kind": "shell", "input": {"command": "true"}, "policy": {"hooks": [hook]}}
    async with caller(working.served.port, token) as http:
        answer = await http.post(f"{V1}/tasks", json=body)
    assert answer.status_code == 403
    assert (await working.post("/tasks", body)).status_code == 201


async def test_higher_priority_goes_first(tmp_path: Path) -> None:
    async with at_work(tmp_path, slots=1) as working:
        first = await working.run(says("First.", delay_ms=400))
        await working.until(first["run_id"], "turn.started")
        low = await working.run(says("Low."), priority=-5)
        high = await working.run(says("High."), priority=5)
        await asyncio.gather(working.end(low["run_id"]), working.end(high["run_id"]))
        started = {one["run_id"]: one for one in (await working.get("/runs"))["data"]}
        assert started[high["run_id"]]["updated_at"] < started[low["run_id"]]["updated_at"]
