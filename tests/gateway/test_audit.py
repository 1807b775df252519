"""Who did what, with whose permission."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, error_of
from tests.gateway.working import Json, Working, at_work, says, sh


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def _decided(working: Working, decision: str) -> str:
    run = await working.run(sh("echo audited"), says(), policy={"shell_exec": "ask"})
    question = (await working.until(run["run_id"], "approval.requested"))["approval_id"]
    await working.post(f"/approvals/{question}/resolve", {"decision": decision, "comment": "as I said"})
    await working.end(run["run_id"])
    return str(run["run_id"])


async def test_it_tells_who_approved_what(working: Working) -> None:
    run_id = await _decided(working, "approved")
    facts = (await working.get("/audit"))["data"]
    (resolved,) = [fact for fact in facts if fact["type"] == "approval.resolved"]
    assert (resolved["run_id"], resolved["who"]) == (run_id, "operator")
    assert [fact["sequence"] for fact in facts] == sorted(fact["sequence"] for fact in facts)
    assert "turn.started" not in {fact["type"] for fact in facts}


async def test_filters_choose(working: Working) -> None:
    first, second = await _decided(working, "approved"), await _decided(working, "denied")

    async def runs(**params: str) -> set[str]:
        return {fact["run_id"] for fact in (await working.get("/audit", **params))["data"]}

    assert await runs(type="tool.shell.*") == {first}
    assert await runs(q="echo audited") == {first, second}
    assert await runs(run_id=second) == {second}
    assert await runs(since="2099-01-01T00:00:00Z") == set()


async def test_pages_join_without_a_seam(working: Working) -> None:
    await _decided(working, "approved")
    whole = (await working.get("/audit"))["data"]
    found: list[Json] = []
    cursor: dict[str, str] = {}
    while True:
        page = await working.get("/audit", limit="2", **cursor)
        found += page["data"]
        cursor = {"cursor": page["next_cursor"]}
        if not page["has_more"]:
            break
    assert found == whole


async def test_what_makes_no_sense_is_400(working: Working) -> None:
    for params in ({"since": "yesterday"}, {"q": "x" * 300}, {"cursor": "here"}, {"limit": "0"}):
        answer = await working.http.get(f"{V1}/audit", params=params)
        assert answer.status_code == 400
        assert error_of(answer)["code"].startswith("invalid_")


async def test_it_is_chosen_by_whose_run_it_was_and_until_when(working: Working) -> None:
    run_id = await _decided(working, "approved")
    facts = (await working.get("/audit"))["data"]
    assert {fact["agent"] for fact in facts} == {"native"}
    assert (await working.get("/audit", agent="native"))["data"] == facts
    assert (await working.get("/audit", agent="zot"))["data"] == []
    assert (await working.get("/audit", task_id=facts[0]["task_id"], run_id=run_id))["data"] == facts
    assert (await working.get("/audit", session_id="chat_none"))["data"] == []
    middle = facts[1]["occurred_at"]
    assert (await working.get("/audit", until=middle))["data"] == [one for one in facts if one["occurred_at"] < middle]
    wrong = await working.http.get(f"{V1}/audit", params={"until": "soon"})
    assert (wrong.status_code, error_of(wrong)["code"]) == (400, "invalid_filter")
