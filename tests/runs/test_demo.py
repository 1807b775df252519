"""The demonstration: what it shows, that there is one of it, and that nothing is left when it is removed."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from runwire.protocol.envelope import type_of
from runwire.protocol.lifecycle import check
from runwire.runs.demo.scenes import scenes
from tests.gateway.processes import Up, up
from tests.gateway.serving import V1
from tests.gateway.working import Json, Working, at_work

SHOWN = {
    "assistant.text_delta",
    "assistant.thinking_delta",
    "run.child_finished",
    "run.finished",
    "tool.todo_write.updated",
    "tool.edit.applied",
    "tool.glob.completed",
    "tool.grep.completed",
    "tool.shell.output_chunk",
}


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path, slots=4) as opened:
        yield opened


@asynccontextmanager
async def attended(working: Working) -> AsyncGenerator[Json]:
    """A demonstration that somebody attends to."""
    attending = asyncio.create_task(working.served.services.runtime.demo.attend())
    try:
        answer = await working.post("/demo")
        assert answer.status_code == 201, answer.text
        yield answer.json()
    finally:
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)
        await working.http.delete(f"{V1}/demo")


async def _by_scene(working: Working) -> dict[str, Json]:
    """The runs of the demonstration by the folder that each works in; parts of another's work are left out."""
    runs = (await working.get("/runs"))["data"]
    return {Path(run["workspace"]["path"]).parent.name: run for run in runs if run["parent_run_id"] is None}


async def _until(working: Working, run_id: str, wanted: str) -> list[str]:
    """What happened in a run up to an event of a type."""
    seen: list[str] = []
    async with working.served.subscribed(f"/runs/{run_id}/events") as stream:
        while (frame := await stream.next()) is not None:
            if frame.event == "message":
                seen.append(type_of(frame.data))
            if seen and seen[-1] == wanted:
                break
    return seen


async def test_it_shows_every_kind_of_run(working: Working) -> None:
    async with attended(working):
        runs = await _by_scene(working)
        assert set(runs) == {scene.name for scene in scenes()}
        assert all(run["demo"] and run["title"].startswith("Demo: ") for run in runs.values())
        ids = {name: run["run_id"] for name, run in runs.items()}
        await _until(working, ids["waiting"], "approval.requested")
        assert (await _until(working, ids["failed"], "nothing"))[-1] == "run.failed"
        assert set(await _until(working, ids["done"], "nothing")) >= SHOWN
        await _until(working, ids["review"], "tool.edit.applied")
        await _until(working, ids["going-on"], "tool.shell.output_chunk")
        status = {name: run["status"] for name, run in (await _by_scene(working)).items()}
        assert status == {
            "waiting": "awaiting_approval",
            "failed": "failed",
            "done": "completed",
            "review": "completed",
            "going-on": "running",
        }
        patches = (await working.get("/artifacts", run_id=ids["review"], kind="patch"))["data"]
        assert sorted((one["status"], one["target_path"]) for one in patches) == [
            ("applied", "prices.py"),
            ("proposed", "CHANGES.md"),
            ("proposed", "README.md"),
            ("proposed", "receipt.py"),
        ]
        assert (await working.get(f"/runs/{ids['review']}/patches/check"))["fits"] is True
        for run_id in ids.values():
            assert list(check(await working.served.stored(run_id), live=True)) == []


async def test_what_waits_goes_on_when_somebody_agrees(working: Working) -> None:
    async with attended(working):
        run_id = (await _by_scene(working))["waiting"]["run_id"]
        await _until(working, run_id, "approval.requested")
        (question,) = (await working.get("/approvals", status="pending"))["data"]
        await working.post(f"/approvals/{question['approval_id']}/resolve", {"decision": "approved"})
        assert (await _until(working, run_id, "nothing"))[-1] == "run.finished"


async def test_nothing_of_it_is_left(working: Working, tmp_path: Path) -> None:
    own = await working.task({"text": "Mine."})
    async with attended(working) as made:
        assert (made["exists"], len(made["task_ids"])) == (True, len(scenes()))
        assert (await working.get("/about"))["demo"] is True
        run = (await _by_scene(working))["waiting"]
        await _until(working, run["run_id"], "approval.requested")
        (question,) = (await working.get("/approvals", status="pending"))["data"]
        always = {"decision": "approved", "scope": "always"}
        await working.post(f"/approvals/{question['approval_id']}/resolve", always)
        await _until(working, run["run_id"], "run.finished")
        branch = await working.post(f"/tasks/{run['task_id']}/runs/{run['run_id']}/resume", {"branch": True})
        assert branch.status_code == 201, branch.text
        assert (await working.http.delete(f"{V1}/demo")).status_code == 204
        assert await working.get("/demo") == {
            "object": "demo",
            "exists": False,
            "active": 0,
            "task_ids": [],
            "run_ids": [],
        }
        assert [task["task_id"] for task in (await working.get("/tasks"))["data"]] == [own["task_id"]]
        assert [one["run_id"] for one in (await working.get("/runs"))["data"]] == [own["latest_run"]["run_id"]]
        for path in ("/approvals", "/permissions", "/artifacts"):
            assert (await working.get(path))["data"] == []
        assert not (tmp_path / "data" / "demo").exists()
        assert (await working.http.delete(f"{V1}/demo")).status_code == 204


async def test_one_that_is_made_anew_takes_the_place_of_the_old(working: Working) -> None:
    async with attended(working) as first:
        second = (await working.post("/demo")).json()
        assert not set(first["task_ids"]) & set(second["task_ids"])
        assert len((await working.get("/tasks", demo="true"))["data"]) == len(scenes())
        assert (await working.get("/tasks", demo="false"))["data"] == []


def test_a_restart_goes_on_with_the_demonstration_that_is_there(tmp_path: Path) -> None:
    def found(gateway: Up) -> Json:
        answer = httpx2.get(f"{gateway.url}{V1}/demo", headers={"authorization": f"Bearer {gateway.token}"})
        demo: Json = answer.json()
        return demo

    with up(tmp_path / "data", "--demo") as gateway:
        before = found(gateway)
        assert len(before["task_ids"]) == len(scenes())
        assert gateway.stop() == 0
    with up(tmp_path / "data", "--demo") as gateway:
        assert found(gateway)["task_ids"] == before["task_ids"]
        assert gateway.stop() == 0
