"""The inbox, and answers: the first one wins."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import V1, caller, error_of
from tests.gateway.working import Json, Working, at_work, says, sh

ASK = {"shell_exec": "ask"}


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def _asked(working: Working, command: str = "echo hello", **settings: object) -> tuple[Json, str]:
    """A run that waits for an answer, and the question."""
    run = await working.run(sh(command), says(), **{"policy": ASK, **settings})
    return run, (await working.until(run["run_id"], "approval.requested"))["approval_id"]


async def test_what_waits_is_in_the_inbox_and_of_its_task(working: Working) -> None:
    run, question = await _asked(working)
    for path in ("/approvals", f"/tasks/{run['task_id']}/approvals"):
        (found,) = (await working.get(path, status="pending"))["data"]
        assert (found["object"], found["approval_id"], found["run_id"]) == ("approval", question, run["run_id"])
        assert found["input"] == {"command": "echo hello"}
        assert set(found["effects"]) >= {"executes"}
        assert found["decision"] is None
    assert (await working.get(f"/approvals/{question}"))["status"] == "pending"
    assert (await working.get("/approvals", status="approved"))["data"] == []
    assert (await working.get("/approvals", run_id="run_other"))["data"] == []
    assert (await working.get(f"/runs/{run['run_id']}"))["status"] == "awaiting_approval"


async def test_an_answer_says_who_and_why(working: Working) -> None:
    run, question = await _asked(working)
    token = (await working.post("/tokens", {"name": "alex", "scopes": ["operate", "read"]})).json()["token"]
    async with caller(working.served.port, token) as http:
        answer = await http.post(f"{V1}/approvals/{question}/resolve", json={"decision": "approved", "comment": "ok"})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["status"], found["decision"], found["by"], found["comment"]) == ("approved", "approved", "alex", "ok")
    assert (await working.end(run["run_id"]))[-1] == "run.finished"


async def test_the_same_answer_again_is_fine_and_another_is_409(working: Working) -> None:
    run, question = await _asked(working)
    path = f"/tasks/{run['task_id']}/approvals/{question}/resolve"
    assert (await working.post(path, {"decision": "approved"})).status_code == 200
    assert (await working.post(path, {"decision": "approved"})).status_code == 200
    assert await working.refused(path, {"decision": "denied"}) == (409, "already_resolved")
    assert (await working.end(run["run_id"])).count("approval.resolved") == 1


async def test_of_many_who_answer_at_once_one_decides(working: Working) -> None:
    run, question = await _asked(working)
    answers = await asyncio.gather(
        *(
            working.post(f"/approvals/{question}/resolve", {"decision": decision})
            for decision in ("approved", "denied") * 4
        )
    )
    codes = [answer.status_code for answer in answers]
    assert sorted(set(codes)) == [200, 409]
    assert len({answer.json()["decision"] for answer in answers if answer.status_code == 200}) == 1
    assert (await working.end(run["run_id"])).count("approval.resolved") == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_body"),
        ({"decision": "perhaps"}, "invalid_body"),
        ({"decision": "approved", "colour": 1}, "unknown_field"),
        ({"decision": "approved", "scope": "galaxy"}, "invalid_body"),
        ({"decision": "approved", "edited_input": {"comand": "x"}}, "invalid_body"),
        ({"decision": "denied", "edited_input": {"command": "x"}}, "invalid_body"),
        ({"decision": "approved", "stop": True}, "invalid_body"),
    ],
)
async def test_an_answer_that_makes_no_sense_decides_nothing(working: Working, body: Json, code: str) -> None:
    _, question = await _asked(working)
    assert await working.refused(f"/approvals/{question}/resolve", body) == (422, code)
    assert (await working.get(f"/approvals/{question}"))["status"] == "pending"


async def test_an_edit_that_policy_denies_is_refused(working: Working) -> None:
    rules = {"rules": [{"id": "no-rm", "action": "deny", "argv": ["rm *"]}], **ASK}
    _, question = await _asked(working, policy=rules)
    body = {"decision": "approved", "edited_input": {"command": "rm -r everything"}}
    assert await working.refused(f"/approvals/{question}/resolve", body) == (422, "edit_denied")


async def test_questions_of_a_cancelled_run_are_closed(working: Working) -> None:
    run, question = await _asked(working)
    await working.post(f"/tasks/{run['task_id']}/runs/{run['run_id']}/cancel")
    types = await working.end(run["run_id"])
    assert types.index("approval.resolved") < types.index("run.cancelled")
    assert (await working.get(f"/approvals/{question}"))["status"] == "denied"
    assert await working.refused(f"/approvals/{question}/resolve", {"decision": "approved"}) == (
        409,
        "already_resolved",
    )


async def test_an_approval_of_another_task_is_404(working: Working) -> None:
    _, question = await _asked(working)
    other = await working.task(says(), start=False)
    body = {"decision": "approved"}
    path = f"/tasks/{other['task_id']}/approvals/{question}/resolve"
    assert await working.refused(path, body) == (404, "approval_not_found")
    assert (await working.refused("/approvals/appr_1/resolve", body))[0] == 404
    answer = await working.http.get(f"{V1}/approvals", params={"status": "perhaps"})
    assert (answer.status_code, error_of(answer)["code"]) == (400, "invalid_filter")


@pytest.mark.parametrize("scope", ["read", "write"])
async def test_answering_needs_the_scope_to_operate(working: Working, scope: str) -> None:
    _, question = await _asked(working)
    token = (await working.post("/tokens", {"name": "somebody", "scopes": [scope]})).json()["token"]
    async with caller(working.served.port, token) as http:
        answer = await http.post(f"{V1}/approvals/{question}/resolve", json={"decision": "approved"})
    assert answer.status_code == 403


async def test_a_question_outlives_the_gateway(tmp_path: Path) -> None:
    async with at_work(tmp_path) as working:
        run, question = await _asked(working)
    (tmp_path / "workspace").rmdir()
    async with at_work(tmp_path) as working:
        assert (await working.get(f"/approvals/{question}"))["status"] == "pending"
        assert (await working.post(f"/approvals/{question}/resolve", {"decision": "approved"})).status_code == 200
        types = await working.end(run["run_id"])
    assert types[-1] == "run.finished"
    assert types.count("approval.requested") == 1


async def test_a_parked_run_holds_no_slot(tmp_path: Path) -> None:
    async with at_work(tmp_path, slots=1, park_after_s=0.1) as working:
        run, question = await _asked(working)
        other = await working.run(says("Meanwhile."))
        assert (await working.end(other["run_id"]))[-1] == "run.finished"
        await working.post(f"/approvals/{question}/resolve", {"decision": "approved"})
        types = await working.end(run["run_id"])
    assert types[-1] == "run.finished"
    assert "gap.run_disconnected" not in types


async def test_it_is_said_beforehand_what_each_scope_would_allow(working: Working) -> None:
    run, question = await _asked(working, "npm test")
    found = await working.get(f"/approvals/{question}")
    assert {scope: reach["granted"] for scope, reach in found["grants"].items()} == {
        "once": True,
        "session": True,
        "task": True,
        "always": True,
    }
    assert "`npm test" in found["grants"]["always"]["text"]
    assert (found["editable"], found["not_editable"], found["input_redacted"]) == (True, None, False)
    answer = {"decision": "approved", "scope": "task"}
    assert (await working.post(f"/approvals/{question}/resolve", answer)).status_code == 200
    (granted,) = (await working.get("/permissions"))["data"]
    assert granted["rule"] == found["grants"]["task"]["rule"]
    assert granted["text"] in found["grants"]["task"]["text"]
    after = await working.get(f"/approvals/{question}")
    assert (after["editable"], after["not_editable"]) == (False, "it has been answered")
    await working.post(f"/tasks/{run['task_id']}/runs/{run['run_id']}/cancel")


async def test_a_call_that_no_rule_could_mean_says_so(working: Working) -> None:
    _, question = await _asked(working, "eval $(cat somewhere)")
    found = await working.get(f"/approvals/{question}")
    assert found["grants"]["once"]["granted"] is True
    for scope in ("session", "task", "always"):
        assert found["grants"][scope]["granted"] is False
        assert found["grants"][scope]["rule"] is None
        assert found["grants"][scope]["text"]


async def test_a_secret_that_is_not_shown_cannot_be_edited(working: Working) -> None:
    _, question = await _asked(working, "curl -H 'Authorization: Bearer ghp_" + "a1B2" * 9 + "' localhost")
    found = await working.get(f"/approvals/{question}")
    assert (found["input_redacted"], found["editable"]) == (True, False)
    assert "secret" in found["not_editable"]
    assert found["grants"]["always"]["granted"] is False


async def test_an_edit_is_looked_at_before_it_is_made(working: Working) -> None:
    _, question = await _asked(working, "npm test")
    path = f"/approvals/{question}/preview"
    seen = (await working.post(path, {"edited_input": {"command": "npm run lint"}})).json()
    assert (seen["object"], seen["approval_id"]) == ("preview", question)
    assert "`npm run lint" in seen["grants"]["task"]["text"]
    assert await working.refused(path, {"edited_input": {"command": 7}}) == (422, "invalid_body")
    assert await working.refused(path, {"edited": {}}) == (422, "unknown_field")
    assert await working.refused("/approvals/appr_nobody/preview", {"edited_input": {}}) == (404, "approval_not_found")
    assert (await working.get(f"/approvals/{question}"))["status"] == "pending"
    answer = {"decision": "approved", "scope": "task", "edited_input": {"command": "npm run lint"}}
    await working.post(f"/approvals/{question}/resolve", answer)
    (granted,) = (await working.get("/permissions"))["data"]
    assert granted["rule"] == seen["grants"]["task"]["rule"]
    assert await working.refused(path, {"edited_input": {"command": "true"}}) == (409, "already_resolved")
