"""Where a run works: in place, in a clone, in a worktree, in a folder of its own."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1
from tests.gateway.working import Json, Working, at_work


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        _git(opened.folder, "init", "-q")
        (opened.folder / "a.txt").write_text("one\n")
        _git(opened.folder, "add", ".")
        _git(opened.folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
        yield opened


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True)


async def _worked(working: Working, command: str, **workspace: object) -> tuple[Json, Path, str]:
    """A run that has carried a command out: it, its place, and the mode of that."""
    made = await working.task(kind="shell", model=None, prompt="", input={"command": command}, workspace=workspace)
    run_id = made["latest_run"]["run_id"]
    await working.end(run_id)
    queued = await working.until(run_id, "run.queued")
    run = await working.get(f"/runs/{run_id}")
    assert run["status"] == "completed"
    return run, Path(queued["workspace_path"]), queued["workspace_mode"]


async def test_in_place_is_where_it_says(working: Working) -> None:
    _, place, mode = await _worked(working, "touch made", path=str(working.folder))
    assert (place, mode) == (working.folder, "in_place")
    assert (working.folder / "made").exists()


@pytest.mark.parametrize("mode", ["clone", "worktree"])
async def test_a_copy_leaves_the_source_alone_and_goes_with_the_task(working: Working, mode: str) -> None:
    run, place, told = await _worked(working, "cat a.txt > made", path=str(working.folder), mode=mode)
    assert told == mode
    assert (place / "made").read_text() == "one\n"
    assert not (working.folder / "made").exists()
    assert (await working.http.delete(f"{V1}/tasks/{run['task_id']}")).status_code == 204
    assert not place.exists()


async def test_a_folder_of_its_own_is_empty(working: Working) -> None:
    run, place, mode = await _worked(working, "ls -A")
    assert (mode, list(place.iterdir())) == ("scratch", [])
    assert b"output_chunk" not in b"".join(await working.served.stored(run["run_id"]))
