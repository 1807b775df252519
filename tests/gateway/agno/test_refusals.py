"""What Agno lets pass and this surface does not: exact statuses, one shape of error, nothing done."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.agno.client import AGNO, AgnoClient, decided, names, refusal
from tests.gateway.serving import caller
from tests.gateway.working import Json, at_work, says, sh


@pytest.fixture
async def paused(client: AgnoClient) -> tuple[str, list[Json]]:
    """A run that waits for one decision: about a command that would write a file."""
    frames = await client.start(sh("echo yes > made"), says("Done."), policy="ask")
    return frames[-1].data["run_id"], frames[-1].data["tools"]


def _tools(tools: object) -> dict[str, str]:
    return {"tools": json.dumps(tools)}


@pytest.mark.parametrize("message", ["", " ", "\n\t  ", None])
async def test_a_message_must_say_something(client: AgnoClient, message: str | None) -> None:
    form = client.form(says(), message=message or "")
    if message is None:
        del form["message"]
    assert await client.refused("", form) == (422, "invalid_form")
    assert (await client.working.get("/tasks"))["data"] == []


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"stream": "perhaps"}, "invalid_form"),
        ({"background": "2"}, "invalid_form"),
        ({"policy": "[]"}, "invalid_form"),
        ({"policy": "{"}, "invalid_form"),
        ({"policy": "no_such_preset"}, "invalid_body"),
        ({"images": '[{"url":"http://x"}]'}, "invalid_form"),
        ({"model": ""}, "task_invalid"),
        ({"model": "nobody:nothing"}, "model_unknown"),
        ({"session_id": "ü" * 60}, "task_invalid"),
        ({"workspace": "/there/is/no/such/folder"}, "workspace_invalid"),
    ],
)
async def test_a_form_must_make_sense(client: AgnoClient, form: dict[str, str], code: str) -> None:
    assert await client.refused("", client.form(says(), **form)) == (422, code)


async def test_what_is_no_form_is_refused(client: AgnoClient) -> None:
    path = f"{AGNO}/agents/native/runs"
    http = client.working.http
    assert refusal(await http.post(path, json={"message": "Do it."})) == (422, "invalid_form")
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"):
        answer = await http.post(path, content=b"\xff\x00--x", headers={"content-type": kind})
        assert refusal(answer) == (422, "invalid_form")


async def test_a_form_that_is_too_large_is_refused(client: AgnoClient) -> None:
    form = client.form(says(), message="x" * (1 << 20))
    assert await client.refused("", form) == (413, "body_too_large")


async def test_an_agent_that_is_not_there(client: AgnoClient) -> None:
    nobody = AgnoClient(client.working, agent="nobody")
    assert await nobody.refused("", nobody.form(says())) == (404, "agent_not_found")
    assert refusal(await client.working.http.get(f"{AGNO}/agents/nobody")) == (404, "agent_not_found")


async def test_a_run_that_is_not_there(client: AgnoClient, paused: tuple[str, list[Json]]) -> None:
    run_id, tools = paused
    for agent, run in (("native", "run_nobody"), ("nobody", run_id)):
        other = AgnoClient(client.working, agent=agent)
        assert await other.refused(f"/{run}/continue", _tools(tools)) == (404, "run_not_found")
        assert await other.refused(f"/{run}/cancel") == (404, "run_not_found")
        assert await other.refused(f"/{run}/resume", {}) == (404, "run_not_found")
        shown = await client.working.http.get(f"{AGNO}/agents/{agent}/runs/{run}")
        assert refusal(shown) == (404, "run_not_found")
    assert refusal(await client.post("//continue", _tools(tools))) == (404, "not_found")


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool_call_id": "call_another"},
        {"tool_name": "file_write"},
        {"confirmed": None},
        {"confirmed": "yes"},
        {"tool_args": [1]},
        {"tool_call_id": 7},
    ],
    ids=str,
)
async def test_a_decision_about_another_call_decides_nothing(
    client: AgnoClient, paused: tuple[str, list[Json]], wrong: Json
) -> None:
    run_id, tools = paused
    status, code = await client.refused(f"/{run_id}/continue", _tools(decided(tools) + decided(tools, **wrong)))
    assert (status, code) in {(422, "tool_call_not_paused"), (422, "invalid_form")}
    (kept,) = (await client.working.get("/approvals", run_id=run_id))["data"]
    assert kept["status"] == "pending"
    assert names(await client.go_on(run_id, decided(tools)))[-1] == "RunCompleted"


@pytest.mark.parametrize("sent", [{}, {"tools": ""}, {"tools": "[]"}, {"tools": "{}"}, {"tools": "[{"}, {"tools": "7"}])
async def test_a_decision_must_be_one(client: AgnoClient, paused: tuple[str, list[Json]], sent: dict[str, str]) -> None:
    assert await client.refused(f"/{paused[0]}/continue", sent) == (422, "invalid_form")


async def test_a_decision_without_confirmed_is_none(client: AgnoClient, paused: tuple[str, list[Json]]) -> None:
    run_id, (tool,) = paused
    bare = {"tool_call_id": tool["tool_call_id"]}
    assert await client.refused(f"/{run_id}/continue", _tools([bare])) == (422, "invalid_form")


async def test_what_was_rejected_is_not_done_after_all(client: AgnoClient) -> None:
    frames = await client.start(sh("echo yes > made"), sh("echo 2"), says("Done."), policy="ask")
    run_id, first = frames[-1].data["run_id"], frames[-1].data["tools"]
    await client.go_on(run_id, decided(first, confirmed=False))
    assert await client.refused(f"/{run_id}/continue", _tools(decided(first))) == (409, "already_resolved")
    again = _tools(decided(first, confirmed=False))
    assert await client.refused(f"/{run_id}/continue", again) == (409, "already_resolved")
    assert not (client.working.folder / "made").exists()


async def test_a_finished_run_is_neither_continued_nor_cancelled(
    client: AgnoClient, paused: tuple[str, list[Json]]
) -> None:
    run_id, tools = paused
    assert names(await client.go_on(run_id, decided(tools)))[-1] == "RunCompleted"
    for sent in (_tools(decided(tools)), _tools([]), {}):
        assert await client.refused(f"/{run_id}/continue", sent) == (409, "run_finished")
    assert await client.refused(f"/{run_id}/cancel") == (409, "run_finished")


async def test_a_run_that_works_is_not_continued(client: AgnoClient) -> None:
    async with client.live(client.form(sh("sleep 30"), says())) as frames:
        async for frame in frames:
            if frame.event == "ToolCallStarted":
                run_id, tool = frame.data["run_id"], frame.data["tool"]
                found = await client.refused(f"/{run_id}/continue", _tools(decided([tool])))
                assert found == (409, "run_not_paused")
                await client.post(f"/{run_id}/cancel")


async def test_of_many_who_continue_at_once_one_does(client: AgnoClient) -> None:
    both = {"tools": [*sh("echo a >> made")["tools"], *sh("echo b >> made")["tools"]]}
    frames = await client.start(both, says("Done."), policy="ask")
    run_id, tools = frames[-1].data["run_id"], frames[-1].data["tools"]
    sent = [_tools(decided(tools)), _tools(decided(tools[::-1]))] * 3
    answers = await asyncio.gather(*(client.post(f"/{run_id}/continue", one) for one in sent))
    assert sorted(answer.status_code for answer in answers) == [200, *[409] * 5]
    assert sorted((client.working.folder / "made").read_text()) == ["\n", "\n", "a", "b"]
    assert (await client.working.end(run_id)).count("approval.resolved") == 2


@pytest.mark.parametrize(
    ("scope", "start", "go_on"),
    [("read", 403, 403), ("operate", 403, 200), ("write", 200, 403)],
)
async def test_a_token_does_what_it_is_good_for(
    client: AgnoClient, paused: tuple[str, list[Json]], scope: str, start: int, go_on: int
) -> None:
    run_id, tools = paused
    made = await client.working.post("/tokens", {"name": "one", "scopes": [scope]})
    runs = f"{AGNO}/agents/native/runs"
    async with caller(client.working.served.port, made.json()["token"]) as http:
        assert (await http.post(runs, data=client.form(says()))).status_code == start
        assert (await http.get(f"{runs}/{run_id}")).status_code == 200
        assert (await http.post(f"{runs}/{run_id}/continue", data=_tools(decided(tools)))).status_code == go_on
    async with caller(client.working.served.port, None) as http:
        for path in ("/health", "/info", "/config", "/agents", "/agents/native", "/teams", "/workflows"):
            assert refusal(await http.get(AGNO + path)) == (401, "unauthorized")
        assert refusal(await http.post(runs, data=client.form(says()))) == (401, "unauthorized")


@pytest.fixture
async def configured(tmp_path: Path) -> AsyncIterator[AgnoClient]:
    """A gateway that knows a model and a folder for those who name none."""
    folder = tmp_path / "served"
    folder.mkdir()
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"turns": [sh("touch here"), says("Done.")]}))
    async with at_work(folder, agno_model=f"scripted:{script}", agno_workspace=tmp_path / "served") as working:
        yield AgnoClient(working)


async def test_settings_stand_for_what_a_client_cannot_say(configured: AgnoClient) -> None:
    frames = await configured.stream("", {"message": "Do it."})
    assert names(frames)[-1] == "RunCompleted"
    assert (configured.working.folder.parent / "here").exists()


async def test_what_is_here(configured: AgnoClient) -> None:
    http = configured.working.http
    assert (await http.get(f"{AGNO}/health")).json() == {"status": "ok"}
    info = (await http.get(f"{AGNO}/info")).json()
    assert (info["agent_count"], info["auth_mode"]) == (len((await http.get(f"{AGNO}/agents")).json()), "security_key")
    config = (await http.get(f"{AGNO}/config")).json()
    assert config["agents"] == (await http.get(f"{AGNO}/agents")).json()
    assert (config["teams"], config["workflows"], config["databases"]) == ([], [], [])
    native = (await http.get(f"{AGNO}/agents/native")).json()
    assert native in config["agents"]
    assert (native["id"], native["model"]["provider"]) == ("native", "scripted")
    assert [(await http.get(AGNO + path)).json() for path in ("/teams", "/workflows")] == [[], []]
