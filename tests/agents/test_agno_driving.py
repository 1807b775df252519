"""The driver against servers that are not what they should be: always an end, always a log that keeps the rules."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from runwire.config import AgentSettings
from runwire.protocol.lifecycle import check
from tests.agents.agno_server import AgnoServer, serving, streamed
from tests.agents.agno_streams import CONFIRM, Object, event, new, paused, sse, tool
from tests.gateway.serving import NDJSON, V1
from tests.gateway.working import Json, Working, at_work
from tests.patience import PATIENCE_S

HELLO = sse(event("RunStarted"), event("RunContent", content="Hello."), event("RunCompleted", content="Hello."))


async def started(working: Working, prompt: str = "hello", **more: object) -> str:
    answer = await working.post("/tasks", {"prompt": prompt, "agent": "agno:clerk", **more})
    assert answer.status_code == 201, answer.text
    run_id: str = answer.json()["latest_run"]["run_id"]
    return run_id


async def ended(working: Working, run_id: str) -> list[Json]:
    """All events of a run that is over; they keep the rules."""
    async with asyncio.timeout(PATIENCE_S):
        while (await working.get(f"/runs/{run_id}"))["finished_at"] is None:
            await asyncio.sleep(0.02)
    lines = (await working.http.get(f"{V1}/runs/{run_id}/events", headers=NDJSON)).content.split(b"\n")[:-1]
    assert list(check(lines)) == []
    return [json.loads(line) for line in lines]


async def question(working: Working) -> Json:
    async with asyncio.timeout(PATIENCE_S):
        while not (found := (await working.get("/approvals", status="pending"))["data"]):
            await asyncio.sleep(0.02)
    one: Json = found[0]
    return one


def tables(server: AgnoServer, **more: object) -> dict[str, AgentSettings]:
    return {"clerk": AgentSettings(dialect="agno", url=server.url, **more)}  # type: ignore[arg-type] # checked there


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (streamed(b"<html><body>It works!</body></html>"), "stream_lost"),
        (streamed(b""), "stream_lost"),
        (streamed(b"data: null\n\ndata: []\n\ndata: {\n\nevent: RunStarted\ndata: \xff\xfe\n\n"), "stream_lost"),
        (streamed(sse(event("RunStarted"), event("RunContent", content="Hel"))[:-9]), "stream_lost"),
        (streamed(sse(event("RunStarted"), event("RunContent", content="Hel"))), "stream_lost"),
        (streamed(sse(event("RunPaused", tools=[], requirements=[]))), "stream_lost"),
        (
            streamed(sse(event("RunPaused", tools=[{}, {"tool_call_id": 7, "requires_confirmation": True}]))),
            "stream_lost",
        ),
        (streamed(b"no", status="500 Internal Server Error"), "http_500"),
        (streamed(b"", "location: /elsewhere", status="307 Temporary Redirect"), "http_307"),
        (b"I speak no HTTP\r\n\r\n", "agent_unreachable"),
        (b"", "agent_unreachable"),
    ],
)
async def test_a_server_that_makes_no_sense_fails_the_run(tmp_path: Path, answer: bytes, code: str) -> None:
    async with serving([answer]) as server, at_work(tmp_path, agents=tables(server)) as working:
        events = await ended(working, await started(working))
    assert (events[-1]["type"], events[-1]["data"]["code"]) == ("run.failed", code)


async def test_a_stream_that_is_compressed_on_its_way_is_understood(tmp_path: Path) -> None:
    answer = streamed(gzip.compress(HELLO), "content-encoding: gzip")
    async with serving([answer]) as server, at_work(tmp_path, agents=tables(server)) as working:
        events = await ended(working, await started(working))
    assert events[-1]["type"] == "run.finished"
    assert [event["data"]["text"] for event in events if event["type"] == "assistant.text_complete"] == ["Hello."]


async def test_a_pause_that_does_not_name_its_session_is_answered_in_ours(tmp_path: Path) -> None:
    answers = [streamed(sse(event("RunStarted"), paused(CONFIRM, session_id=None))), streamed(HELLO)]
    async with serving(answers) as server, at_work(tmp_path, agents=tables(server)) as working:
        run_id = await started(working, session_id="chat_ours")
        asked = await question(working)
        await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "denied"})
        assert (await ended(working, run_id))[-1]["type"] == "run.finished"
    start, again = server.forms
    assert start["session_id"] == again["session_id"] == "chat_ours"
    assert start["run_id"] == run_id
    assert json.loads(again["tools"])[0]["confirmed"] is False


async def test_a_pause_that_is_told_again_after_its_answer_is_not_answered_again(tmp_path: Path) -> None:
    again = sse(event("RunContinued"), paused(CONFIRM))
    answers = [streamed(sse(event("RunStarted"), paused(CONFIRM))), *[streamed(again)] * 3]
    async with serving(answers) as server, at_work(tmp_path, agents=tables(server)) as working:
        run_id = await started(working)
        asked = await question(working)
        await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved"})
        events = await ended(working, run_id)
    assert events[-1]["type"] == "run.failed"
    assert len(server.forms) == 2
    assert [event["type"] for event in events].count("tool.invoked") == 1


@pytest.mark.parametrize("broken", [b"", streamed(b"busy", status="503 Service Unavailable")])
async def test_what_was_sent_and_never_answered_is_not_sent_again(tmp_path: Path, broken: bytes) -> None:
    answers = [streamed(sse(event("RunStarted"), paused(CONFIRM))), broken, streamed(HELLO)]
    async with serving(answers) as server, at_work(tmp_path, agents=tables(server)) as working:
        run_id = await started(working)
        asked = await question(working)
        await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved"})
        events = await ended(working, run_id)
    assert events[-1]["type"] == "run.failed"
    assert len(server.forms) == 2
    ends = [event for event in events if event["type"].startswith("tool.") and event["data"].get("code")]
    assert [event["data"]["code"] for event in ends] == ["interrupted"]


async def test_a_server_that_goes_on_for_ever_is_stopped(tmp_path: Path) -> None:
    calls: list[Object] = []
    for number in range(60):
        done = tool(f"t{number}", result="1")
        calls += [new("ModelRequestStarted"), new("ToolCallStarted", tool=done), new("ToolCallCompleted", tool=done)]
    answers = [streamed(sse(new("RunStarted"), *calls))]
    async with serving(answers) as server, at_work(tmp_path, agents=tables(server)) as working:
        run_id = await started(working)
        events = await ended(working, run_id)
    assert (events[-1]["type"], events[-1]["data"]["code"]) == ("run.failed", "max_turns")
    assert any(f"/runs/{run_id}/cancel" in line for line in server.asked)
