"""Standing grants: made by an answer, used, and taken back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, error_of
from tests.gateway.working import Json, Working, at_work, says, sh

ASK = {"shell_exec": "ask"}


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def _grant(working: Working, scope: str, command: str = "git status") -> Json:
    """Answer a question for more than once, and return the grant."""
    run = await working.run(sh(command), says(), policy=ASK)
    question = (await working.until(run["run_id"], "approval.requested"))["approval_id"]
    answer = await working.post(f"/approvals/{question}/resolve", {"decision": "approved", "scope": scope})
    assert answer.status_code == 200, answer.text
    await working.end(run["run_id"])
    (grant,) = (await working.get("/permissions"))["data"]
    assert grant["permission_id"] == answer.json()["permission_id"]
    found: Json = grant
    return found


async def _asks(working: Working, command: str) -> bool:
    """Whether a new task would have to ask about a command."""
    run = await working.run(sh(command), says(), policy={**ASK, "approval_timeout_s": 0.2})
    types = await working.end(run["run_id"])
    assert types[-1] == "run.finished"
    return "approval.timed_out" in types


async def test_a_grant_for_ever_holds_for_other_tasks_of_the_place(working: Working) -> None:
    grant = await _grant(working, "always")
    assert (grant["object"], grant["scope"], grant["agent"]) == ("permission", "always", "native")
    assert grant["workspace"] == str(working.folder)
    assert not await _asks(working, "git status")
    assert (await working.get("/permissions"))["data"][0]["used"] == 1


@pytest.mark.parametrize(
    "command", ["git push", "git status && git push", "git status; rm -r x", "git status $(rm -r x)", "eval git status"]
)
async def test_a_grant_holds_for_nothing_else(working: Working, command: str) -> None:
    await _grant(working, "always")
    assert await _asks(working, command)


async def test_a_grant_for_a_task_holds_for_no_other(working: Working) -> None:
    await _grant(working, "task")
    assert await _asks(working, "git status")


async def test_an_automatic_approval_is_told_as_one(working: Working) -> None:
    grant = await _grant(working, "always")
    run = await working.run(sh("git status"), says(), policy=ASK)
    told = await working.until(run["run_id"], "approval.resolved")
    assert (told["by"], told["decision"]) == (f"grant:{grant['permission_id']}", "approved")


async def test_a_grant_that_was_taken_back_holds_no_more(working: Working) -> None:
    grant = await _grant(working, "always")
    path = f"{V1}/permissions/{grant['permission_id']}"
    assert (await working.http.delete(path)).status_code == 204
    assert (await working.get("/permissions"))["data"] == []
    assert await _asks(working, "git status")
    again = await working.http.delete(path)
    assert (again.status_code, error_of(again)["code"]) == (404, "permission_not_found")
