"""A real AgentOS, driven: its pauses become our approvals, and its tools run once, whatever we or anybody does."""

import asyncio
import json
from pathlib import Path
from typing import Any

from runwire.config import AgentSettings
from runwire.protocol.lifecycle import check
from tests.gateway.serving import NDJSON, V1
from tests.gateway.working import Json, Working, at_work
from tests.patience import PATIENCE_S
from tests.real.agno_os import AgnoOS


def settings(agno: AgnoOS, **more: Any) -> dict[str, AgentSettings]:
    return {"clerk": AgentSettings(dialect="agno", url=agno.url, **more)}


async def started(working: Working, prompt: str, **more: object) -> str:
    answer = await working.post("/tasks", {"prompt": prompt, "agent": "agno:clerk", **more})
    assert answer.status_code == 201, answer.text
    run_id: str = answer.json()["latest_run"]["run_id"]
    return run_id


async def ended(working: Working, run_id: str) -> tuple[Json, list[Json]]:
    """The run at its end and all its events, which keep the rules."""
    async with asyncio.timeout(PATIENCE_S):
        while (run := await working.get(f"/runs/{run_id}"))["status"] not in {"completed", "failed", "cancelled"}:
            await asyncio.sleep(0.05)
    answer = await working.http.get(f"{V1}/runs/{run_id}/events", headers=NDJSON)
    lines = answer.content.splitlines()
    assert list(check(lines)) == []
    return run, [json.loads(line) for line in lines]


async def pending(working: Working) -> Json:
    async with asyncio.timeout(PATIENCE_S):
        while not (found := (await working.get("/approvals", status="pending"))["data"]):
            await asyncio.sleep(0.05)
    one: Json = found[0]
    return one


def types(events: list[Json]) -> list[str]:
    return [event["type"] for event in events]


def texts(events: list[Json]) -> list[str]:
    return [event["data"]["text"] for event in events if event["type"] == "assistant.text_complete"]


async def test_an_answer_comes_with_its_tokens(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run, events = await ended(working, await started(working, "hello"))
    assert (run["status"], run["agent"]) == ("completed", "agno:clerk")
    assert texts(events) == ["Hello from Agno."]
    assert run["usage"]["input_tokens"] == 100
    assert run["usage"]["output_tokens"] == 7


async def test_a_tool_of_the_server_is_told_with_its_result_as_json(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run, events = await ended(working, await started(working, "list"))
    assert run["status"] == "completed"
    done = next(event["data"] for event in events if event["type"] == "tool.completed")
    assert done["output"] == '{"count":1,"documents":[{"id":1,"title":"it\'s"}]}'


async def test_an_approved_call_runs_once_and_a_second_answer_changes_nothing(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run_id = await started(working, "create approved-once")
        question = await pending(working)
        assert question["input"] == {"title": "approved-once"}
        assert (await working.get(f"/runs/{run_id}"))["pane"]["state"] == "blocked"
        answer = f"/approvals/{question['approval_id']}/resolve"
        assert (await working.post(answer, {"decision": "approved"})).status_code == 200
        assert (await working.post(answer, {"decision": "approved"})).status_code == 200
        assert (await working.post(answer, {"decision": "denied"})).status_code == 409
        run, events = await ended(working, run_id)
    assert run["status"] == "completed"
    assert agno_os.executions().count("create_document approved-once") == 1
    assert types(events).count("tool.started") == 1


async def test_a_denied_call_never_runs_and_the_agent_goes_on(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run_id = await started(working, "create denied")
        question = await pending(working)
        body = {"decision": "denied", "comment": "not that one"}
        await working.post(f"/approvals/{question['approval_id']}/resolve", body)
        run, events = await ended(working, run_id)
    assert run["status"] == "completed"
    assert "create_document denied" not in agno_os.executions()
    assert "policy.tool_blocked" in types(events)
    assert "tool.invoked" not in types(events)


async def test_an_edited_input_is_what_runs(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run_id = await started(working, "create before-the-edit")
        question = await pending(working)
        body = {"decision": "approved", "edited_input": {"title": "after-the-edit"}}
        assert (await working.post(f"/approvals/{question['approval_id']}/resolve", body)).status_code == 200
        await ended(working, run_id)
    assert "create_document after-the-edit" in agno_os.executions()
    assert "create_document before-the-edit" not in agno_os.executions()


async def test_a_pause_outlives_the_gateway_and_is_answered_after_its_restart(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run_id = await started(working, "create after-restart")
        question = await pending(working)
    (tmp_path / "workspace").rmdir()
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        again = await pending(working)
        assert again["approval_id"] == question["approval_id"]
        await working.post(f"/approvals/{again['approval_id']}/resolve", {"decision": "approved"})
        run, _ = await ended(working, run_id)
    assert run["status"] == "completed"
    assert agno_os.executions().count("create_document after-restart") == 1


async def test_a_cancelled_run_is_cancelled_at_the_server_too(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run_id = await started(working, "slow")
        await working.until(run_id, "assistant.text_delta")
        task = (await working.get(f"/runs/{run_id}"))["task_id"]
        assert (await working.post(f"/tasks/{task}/runs/{run_id}/cancel")).status_code in {200, 202}
        run, events = await ended(working, run_id)
    assert run["status"] == "cancelled"
    assert types(events)[-1] == "run.cancelled"


async def test_a_model_that_fails_fails_the_run(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os)) as working:
        run, events = await ended(working, await started(working, "fail"))
    assert run["status"] == "failed"
    assert "error.upstream" in types(events)


async def test_a_server_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    table = {"clerk": AgentSettings(dialect="agno", url="http://127.0.0.1:9")}
    async with at_work(tmp_path, agents=table) as working:
        _, events = await ended(working, await started(working, "hello"))
    assert events[-1]["data"]["code"] == "agent_unreachable"


async def test_an_agent_that_the_server_does_not_know_is_said_to_be_unknown(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with at_work(tmp_path, agents=settings(agno_os, agent="nobody")) as working:
        _, events = await ended(working, await started(working, "hello"))
    assert events[-1]["data"]["code"] == "http_404"
