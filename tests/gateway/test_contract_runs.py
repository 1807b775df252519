"""What the contract promises whoever starts and steers runs over HTTP, down to the codes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import QUEUED, V1, error_of
from tests.gateway.working import Json, Working, at_work, says, sh, uses
from tests.patience import PATIENCE_S
from tests.workspace.git import git


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


def _path(run: Json, verb: str) -> str:
    return f"/tasks/{run['task_id']}/runs/{run['run_id']}/{verb}"


def make_repository(folder: Path) -> None:
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "empty")


async def _over(working: Working, *turns: Json, **settings: object) -> Json:
    run = await working.run(*turns, **settings)
    await working.end(run["run_id"])
    return run


async def test_a_task_that_was_not_started_has_an_empty_list_of_runs(working: Working) -> None:
    made = await working.task(says(), start=False)
    assert (await working.get(f"/tasks/{made['task_id']}/runs"))["data"] == []
    assert (await working.http.get(f"{V1}/tasks/task_nobody/runs")).status_code == 404


async def test_a_filter_that_fits_no_run_of_a_task_is_an_empty_list(working: Working) -> None:
    run = await _over(working, says())
    assert (await working.get(f"/tasks/{run['task_id']}/runs", status="failed"))["data"] == []


@pytest.mark.parametrize("verb", ["retry", "resume", "continue"])
async def test_a_model_that_is_not_there_is_refused_when_a_run_is_taken_up(working: Working, verb: str) -> None:
    run = await _over(working, says())
    said = {"prompt": "more"} if verb == "continue" else {}
    assert await working.refused(_path(run, verb), {"model": "nobody:x", **said}) == (422, "model_unknown")
    assert await working.refused(f"/tasks/{run['task_id']}/runs", {"model": "nobody:x"}) == (422, "model_unknown")
    assert len((await working.get(f"/tasks/{run['task_id']}/runs"))["data"]) == 1


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"kind": "shell"}, "task_invalid", "input.command"),
        ({"kind": "shell", "input": {"command": 5}}, "task_invalid", "input.command"),
        ({"kind": "shell", "input": {"command": "true", "shell": "zsh"}}, "unknown_field", "input.shell"),
        ({"kind": "git", "input": {"args": "status"}}, "task_invalid", "input.args"),
        ({"kind": "file", "input": {"operation": "move", "path": "a"}}, "task_invalid", "input.operation"),
        ({"kind": "file", "input": {"operation": "write", "path": "a"}}, "task_invalid", "input.content"),
        ({"kind": "shell", "input": {"command": "true"}, "env": {"A=B": "1"}}, "task_invalid", "env"),
        ({"kind": "shell", "input": {"command": "true"}, "policy": "nobody"}, "invalid_body", "policy"),
        (
            {"kind": "shell", "input": {"command": "true"}, "policy": {"rules": [{"when": "now"}]}},
            "unknown_field",
            "policy.rules[0].when",
        ),
    ],
)
async def test_a_task_that_could_only_fail_is_refused_by_field(
    working: Working, body: Json, code: str, field: str
) -> None:
    answer = await working.post("/tasks", body)
    assert answer.status_code == 422
    error = error_of(answer)
    assert (error["code"], error["details"]["field"]) == (code, field)
    assert (await working.get("/tasks"))["data"] == []


async def test_a_field_that_is_missing_is_named(working: Working) -> None:
    run = await _over(working, says())
    answer = await working.post(_path(run, "continue"), {})
    assert (answer.status_code, error_of(answer)["details"]["field"]) == (422, "prompt")


async def test_a_batch_takes_only_patches_of_its_own_run(working: Working) -> None:
    settings = {"policy": {"auto_apply": False}}
    one = await _over(working, uses("file_write", path="a.txt", content="a\n"), says(), **settings)
    two = await _over(working, uses("file_write", path="b.txt", content="b\n"), says(), **settings)
    (patch,) = (await working.get("/artifacts", run_id=two["run_id"], kind="patch"))["data"]
    batch = f"/runs/{one['run_id']}/patches/apply"
    assert await working.refused(batch, {"artifact_ids": [patch["id"]]}) == (404, "artifact_not_found")
    assert list(working.folder.iterdir()) == []


async def test_pinning_takes_no_unknown_field(working: Working) -> None:
    run = await _over(working, uses("file_write", path="a.txt", content="a\n"), says())
    (patch,) = (await working.get("/artifacts", run_id=run["run_id"], kind="patch"))["data"]
    for verb in ("pin", "unpin"):
        assert await working.refused(f"/artifacts/{patch['id']}/{verb}", {"why": "x"}) == (422, "unknown_field")
        answer = await working.http.post(f"{V1}/artifacts/{patch['id']}/{verb}")
        assert (answer.status_code, answer.json()["data"]["pinned"]) == (200, verb == "pin")


async def test_a_run_that_is_carried_out_elsewhere_cannot_be_cancelled_here(working: Working) -> None:
    await working.served.run(QUEUED)
    async with asyncio.timeout(PATIENCE_S):
        assert await working.refused("/tasks/task_1/runs/run_1/cancel") == (409, "conflict")


@pytest.mark.parametrize("path", ["/usage", "/audit", "/events"])
async def test_any_moment_can_be_asked_for(working: Working, path: str) -> None:
    run = await _over(working, says())
    for since in ("0158-08-31T03:54:32Z", "9999-12-31T23:59:59Z"):
        found = (await working.get(path, since=since))["data"]
        assert bool(found) == since.startswith("0"), run


@pytest.mark.parametrize(
    ("scope", "mode"),
    [
        ("session", "in_place"),
        ("task", "in_place"),
        ("always", "in_place"),
        ("session", "scratch"),
        ("task", "scratch"),
        ("session", "clone"),
        ("task", "clone"),
        ("always", "clone"),
    ],
)
async def test_a_grant_holds_in_the_next_run_also_where_each_run_has_a_place_of_its_own(
    working: Working, scope: str, mode: str
) -> None:
    if mode == "clone":
        make_repository(working.folder)
    place = {"mode": mode} if mode == "scratch" else {"mode": mode, "path": str(working.folder)}
    settings: Json = {"policy": "ask", "workspace": place, "session_id": "chat_1"}
    run = await working.run(sh("echo one"), says(), **settings)
    asked = await working.until(run["run_id"], "approval.requested")
    await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved", "scope": scope})
    await working.end(run["run_id"])
    if scope == "task":
        next_run = (await working.post(_path(run, "retry"))).json()
    else:
        next_run = await working.run(sh("echo one"), says(), **settings)
    resolved = await working.until(next_run["run_id"], "approval.resolved")
    assert resolved["by"].startswith("grant:")


@pytest.mark.parametrize("other", ["scratch", "in_place"])
async def test_what_is_granted_for_ever_in_an_empty_folder_is_granted_nowhere_else(
    working: Working, other: str
) -> None:
    settings: Json = {"policy": "ask", "workspace": {"mode": "scratch"}}
    run = await working.run(sh("echo one"), says(), **settings)
    asked = await working.until(run["run_id"], "approval.requested")
    await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved", "scope": "always"})
    await working.end(run["run_id"])
    if other == "in_place":
        settings["workspace"] = {"mode": other, "path": str(working.folder)}
    next_run = await working.run(sh("echo one"), says(), **settings)
    await working.until(next_run["run_id"], "approval.requested")
    pending = (await working.get("/approvals", status="pending"))["data"]
    assert [one["run_id"] for one in pending] == [next_run["run_id"]]


async def test_what_is_granted_in_a_clone_is_not_granted_in_what_was_cloned(working: Working) -> None:
    make_repository(working.folder)
    place = {"mode": "clone", "path": str(working.folder)}
    run = await working.run(sh("echo one"), says(), policy="ask", workspace=place)
    asked = await working.until(run["run_id"], "approval.requested")
    await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved", "scope": "always"})
    await working.end(run["run_id"])
    original = await working.run(sh("echo one"), says(), policy="ask")
    await working.until(original["run_id"], "approval.requested")
    pending = (await working.get("/approvals", status="pending"))["data"]
    assert [one["run_id"] for one in pending] == [original["run_id"]]
