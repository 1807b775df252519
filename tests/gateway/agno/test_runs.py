"""Runs as Agno's clients see them: the sequences of the reference, frame by frame."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import httpx2
import pytest

from tests.gateway.agno.client import AGNO, AgnoClient, decided, names, refusal, told
from tests.gateway.working import Json, at_work, says, sh

USAGE = {"usage": {"input": 10, "output": 5}}
TOOL_KEYS = {
    *("tool_call_id", "tool_name", "tool_args", "requires_confirmation", "confirmed", "result", "tool_call_error"),
    *("metrics", "stop_after_tool_call", "confirmation_note", "created_at"),
}


async def test_a_simple_answer(client: AgnoClient) -> None:
    frames = await client.start(says("Hello! I am here to help you, whatever it may be.", **USAGE), session_id="s 1/ü")
    middle = names(frames)[1:-3]
    assert names(frames)[0] == "RunStarted"
    assert set(middle) == {"RunContent"}
    assert names(frames)[-3:] == ["RunContent", "RunContentCompleted", "RunCompleted"]
    first, empty, last = frames[0].data, frames[-3].data, frames[-1].data
    assert first["agent_id"] == "native"
    assert first["model_provider"] == "scripted"
    assert isinstance(first["created_at"], int)
    assert {frame.data["session_id"] for frame in frames} == {"s 1/ü"}
    assert {frame.data["run_id"] for frame in frames} == {first["run_id"]}
    assert (empty["content"], empty["citations"]) == ("", {"raw": [], "urls": [], "documents": []})
    said = "".join(frame.data.get("content", "") for frame in frames if frame.event == "RunContent")
    assert last["content"] == said == "Hello! I am here to help you, whatever it may be."
    metrics = last["metrics"]
    assert (metrics["input_tokens"], metrics["output_tokens"], metrics["total_tokens"]) == (10, 5, 15)
    assert metrics["duration"] >= 0
    assert metrics["time_to_first_token"] >= 0
    assert [int(frame.id) for frame in frames] == list(range(len(frames)))


async def test_a_tool_that_needs_nobody(client: AgnoClient) -> None:
    frames = await client.start(sh("echo '{}'"), says("Done."))
    assert names(frames) == [
        *("RunStarted", "RunContent", "ToolCallStarted", "ToolCallCompleted"),
        *("RunContent", "RunContent", "RunContentCompleted", "RunCompleted"),
    ]
    began, ended = frames[2].data["tool"], frames[3].data["tool"]
    assert set(began) >= TOOL_KEYS
    assert (began["tool_name"], began["tool_args"]) == ("shell_exec", {"command": "echo '{}'"})
    assert (began["result"], began["tool_call_error"], began["confirmed"]) == (None, None, None)
    assert ended["tool_call_id"] == began["tool_call_id"]
    assert ended["tool_call_error"] is False
    assert json.loads(ended["result"]) | {"success": True, "output": "{}\n"} == json.loads(ended["result"])
    assert ended["metrics"]["duration"] >= 0
    assert frames[3].data["content"].startswith("shell_exec(command=echo '{}') completed in ")


async def test_a_tool_that_fails(client: AgnoClient) -> None:
    frames = await client.start(sh("exit 3"), says("Done."))
    assert names(frames).count("ToolCallCompleted") == 1
    ended = next(frame.data["tool"] for frame in frames if frame.event == "ToolCallCompleted")
    assert ended["tool_call_error"] is True
    assert json.loads(ended["result"])["success"] is False
    assert names(frames)[-1] == "RunCompleted"


async def _paused(client: AgnoClient, *turns: Json, **form: str) -> tuple[str, list[Json]]:
    frames = await client.start(*turns, policy="ask", **form)
    assert names(frames) == ["RunStarted", "RunContent", "RunContentCompleted", "RunPaused"]
    return frames[-1].data["run_id"], frames[-1].data["tools"]


async def test_a_pause_says_what_is_waited_for(client: AgnoClient) -> None:
    frames = await client.start(sh("echo yes"), says(), policy="ask")
    paused = frames[-1].data
    (tool,), (requirement,) = paused["tools"], paused["requirements"]
    assert set(tool) >= TOOL_KEYS
    assert (tool["requires_confirmation"], tool["confirmed"], tool["result"]) == (True, None, None)
    assert tool["tool_args"] == {"command": "echo yes"}
    assert requirement["tool_execution"] == tool
    assert (requirement["confirmation"], requirement["confirmation_note"]) == (None, None)
    assert requirement["id"].startswith("appr_")
    assert paused["content"] == "I have tools to execute, but I need confirmation."


async def test_what_is_approved_is_done(client: AgnoClient) -> None:
    run_id, tools = await _paused(client, sh("echo yes > made"), says("Done."))
    assert not (client.working.folder / "made").exists()
    frames = await client.go_on(run_id, decided(tools, confirmation_note="go ahead"), session_id="x", user_id="y")
    assert names(frames) == [
        *("RunContinued", "ToolCallStarted", "ToolCallCompleted"),
        *("RunContent", "RunContent", "RunContentCompleted", "RunCompleted"),
    ]
    tool = frames[1].data["tool"]
    assert (tool["confirmed"], tool["confirmation_note"]) == (True, "go ahead")
    assert tool["tool_call_id"] == tools[0]["tool_call_id"]
    assert (client.working.folder / "made").read_text() == "yes\n"
    (kept,) = (await client.working.get("/approvals", run_id=run_id))["data"]
    assert (kept["decision"], kept["comment"]) == ("approved", "go ahead")


async def test_what_is_rejected_is_not_told_of(client: AgnoClient) -> None:
    run_id, tools = await _paused(client, sh("echo yes > made"), says("Without, then."))
    frames = await client.go_on(run_id, decided(tools, confirmed=False, confirmation_note="not here"))
    assert names(frames) == ["RunContinued", "RunContent", "RunContent", "RunContentCompleted", "RunCompleted"]
    assert frames[-1].data["content"] == "Without, then."
    assert not (client.working.folder / "made").exists()


async def test_all_that_a_turn_wants_is_asked_at_once_and_decided_one_by_one(client: AgnoClient) -> None:
    both = {"tools": [*sh("echo a > a")["tools"], *sh("echo b > b")["tools"]]}
    run_id, tools = await _paused(client, both, says("Done."))
    assert [tool["tool_args"]["command"] for tool in tools] == ["echo a > a", "echo b > b"]
    first, second = decided(tools[:1]), decided(tools[1:], confirmed=False)
    frames = await client.go_on(run_id, [*first, *second])
    assert names(frames) == [
        *("RunContinued", "ToolCallStarted", "ToolCallCompleted"),
        *("RunContent", "RunContent", "RunContentCompleted", "RunCompleted"),
    ]
    assert sorted(path.name for path in client.working.folder.iterdir()) == ["a"]


async def test_what_is_left_undecided_stays_paused(client: AgnoClient) -> None:
    both = {"tools": [*sh("echo a > a")["tools"], *sh("echo b > b")["tools"]]}
    run_id, tools = await _paused(client, both, says("Done."))
    frames = await client.go_on(run_id, decided(tools[1:], confirmed=False))
    assert (names(frames)[0], names(frames)[-2:]) == ("RunContinued", ["RunContentCompleted", "RunPaused"])
    (left,) = frames[-1].data["tools"]
    assert left["tool_call_id"] == tools[0]["tool_call_id"]
    # What was decided before may be sent along.
    frames = await client.go_on(run_id, [*decided([left]), *decided(tools[1:], confirmed=False)])
    assert (names(frames)[0], names(frames)[-1]) == ("RunContinued", "RunCompleted")
    assert (client.working.folder / "a").exists()


async def test_a_call_that_runs_meanwhile_is_told_to_its_end(client: AgnoClient) -> None:
    policy = {"rules": [{"id": "one", "action": "ask", "tools": ["shell_exec"], "argv": ["echo*"]}]}
    both = {"tools": [*sh("sleep 2.5")["tools"], *sh("echo b > b")["tools"]]}
    frames = await client.start(both, says("Done."), policy=json.dumps(policy))
    assert names(frames) == ["RunStarted", "RunContent", "ToolCallStarted", "RunContentCompleted", "RunPaused"]
    (tool,) = frames[-1].data["tools"]
    run_id = frames[-1].data["run_id"]
    await client.working.until(run_id, "tool.completed")
    more = await client.go_on(run_id, decided([tool]))
    assert names(more)[:2] == ["RunContinued", "ToolCallCompleted"]
    assert more[1].data["tool"]["tool_args"] == {"command": "sleep 2.5"}
    assert names(more)[-1] == "RunCompleted"


async def test_a_second_pause_ends_the_stream_again(client: AgnoClient) -> None:
    run_id, tools = await _paused(client, sh("echo 1"), sh("echo 2"), says("Done."))
    frames = await client.go_on(run_id, decided(tools))
    assert names(frames) == [
        *("RunContinued", "ToolCallStarted", "ToolCallCompleted", "RunContent", "RunContentCompleted", "RunPaused")
    ]
    (second,) = frames[-1].data["tools"]
    assert second["tool_args"] == {"command": "echo 2"}
    assert names(await client.go_on(run_id, decided([second])))[-1] == "RunCompleted"


async def test_other_arguments_are_an_edit(client: AgnoClient) -> None:
    run_id, tools = await _paused(client, sh("echo 1 > made"), says("Done."))
    frames = await client.go_on(run_id, decided(tools, tool_args={"command": "echo 2 > made"}))
    assert frames[1].data["tool"]["tool_args"] == {"command": "echo 2 > made"}
    assert (client.working.folder / "made").read_text() == "2\n"


async def test_a_model_that_fails(client: AgnoClient) -> None:
    frames = await client.start({"error": {"status": 401, "message": "no"}})
    assert names(frames)[0] == "RunStarted"
    assert names(frames)[-1] == "RunError"
    assert frames[-1].data["error_type"]
    assert frames[-1].data["content"]


async def test_nothing_follows_a_cancelled_run(client: AgnoClient) -> None:
    found = []
    async with client.live(client.form(sh("sleep 30"), says())) as frames:
        async for frame in frames:
            found.append(frame)
            if frame.event == "ToolCallStarted":
                answer = await client.post(f"/{frame.data['run_id']}/cancel")
                assert answer.status_code in {200, 202}
    assert names(found)[-1] == "RunCancelled"
    assert "RunCompleted" not in names(found)
    assert found[-1].data["reason"]


async def test_a_paused_run_can_be_cancelled(client: AgnoClient) -> None:
    run_id, tools = await _paused(client, sh("echo yes"), says())
    answer = await client.post(f"/{run_id}/cancel")
    assert answer.json() == {"run_id": run_id, "status": "CANCELLED"}
    assert await client.refused(f"/{run_id}/continue", {"tools": json.dumps(decided(tools))}) == (409, "run_finished")


async def test_one_piece_instead_of_a_stream(client: AgnoClient) -> None:
    form = client.form(sh("echo yes"), says("Done."), policy="ask", stream="false", user_id="u1")
    answer = await client.post("", form)
    assert answer.status_code == 200
    paused = answer.json()
    assert (paused["status"], paused["user_id"], paused["input"]) == ("PAUSED", "u1", {"input_content": "Do it."})
    (requirement,) = paused["requirements"]
    assert requirement["tool_execution"] == paused["tools"][0]
    shown = await client.working.http.get(f"{AGNO}/agents/native/runs/{paused['run_id']}")
    assert shown.json() == paused
    sent = {"tools": json.dumps(decided(paused["tools"])), "stream": "false"}
    ended = (await client.post(f"/{paused['run_id']}/continue", sent)).json()
    assert (ended["status"], ended["content"], ended["run_id"]) == ("COMPLETED", "Done.", paused["run_id"])
    assert "requirements" not in ended
    assert ended["tools"][0]["tool_call_error"] is False


async def test_a_failure_in_one_piece(client: AgnoClient) -> None:
    form = client.form({"error": {"status": 401, "message": "no"}}, stream="false")
    answer = await client.post("", form)
    assert (answer.status_code, answer.json()["status"]) == (200, "ERROR")


async def test_a_run_in_the_background(client: AgnoClient) -> None:
    answer = await client.post("", client.form(says("Done."), stream="false", background="true"))
    assert answer.status_code == 202
    assert answer.json()["status"] == "PENDING"
    frames = await client.stream(f"/{answer.json()['run_id']}/resume", {})
    assert names(frames)[-1] == "RunCompleted"


async def test_a_stream_is_taken_up_behind_the_last_frame(client: AgnoClient) -> None:
    run_id, tools = await _paused(client, sh("echo yes"), says("Done."))
    more = await client.go_on(run_id, decided(tools))
    whole = await client.stream(f"/{run_id}/resume", {"last_event_index": "-1"})
    assert names(whole) == ["RunStarted", "RunContent", "RunContentCompleted", "RunPaused", *names(more)]
    assert [frame.data["event_index"] for frame in whole] == list(range(len(whole)))
    # A frame is the same whenever it is told, but for its number in the JSON.
    unnumbered: list[Mapping[str, object]] = [
        {name: value for name, value in frame.data.items() if name != "event_index"} for frame in whole[4:]
    ]
    assert unnumbered == [frame.data for frame in more]
    rest = await client.stream(f"/{run_id}/resume", {"last_event_index": "2"}, last_event_id=whole[5].id)
    assert rest == whole[6:]
    assert await client.stream(f"/{run_id}/resume", {"last_event_index": whole[-1].id}) == []


async def test_a_run_that_was_started_elsewhere_is_decided_here(client: AgnoClient) -> None:
    run = await client.working.run(sh("echo yes"), says("Done."), policy={"shell_exec": "ask"})
    asked = await client.working.until(run["run_id"], "approval.requested")
    tool = {"tool_call_id": asked["tool_call_id"], "confirmed": True}
    assert names(await client.go_on(run["run_id"], [tool]))[-1] == "RunCompleted"


async def test_a_decision_elsewhere_before_the_pause_is_told_lets_the_stream_go_on(client: AgnoClient) -> None:
    run_id, _ = await _paused(client, sh("echo yes"), says("Done."))
    (asked,) = (await client.working.get("/approvals", run_id=run_id))["data"]
    await client.working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved"})
    await client.working.end(run_id)
    tools = json.dumps([{"tool_call_id": asked["tool_call_id"], "confirmed": True}])
    assert await client.refused(f"/{run_id}/continue", {"tools": tools}) == (409, "run_finished")


async def test_a_session_goes_on_when_it_is_asked_to(client: AgnoClient) -> None:
    model = client.working.script(says("One."), says("Two."))
    form = {"message": "Go.", "model": model, "session_id": "s1", "add_history_to_context": "true"}
    first = await client.stream("", form)
    second = await client.stream("", form)
    assert [frames[-1].data["content"] for frames in (first, second)] == ["One.", "Two."]
    assert (await client.stream("", form | {"add_history_to_context": "false"}))[-1].data["content"] == "One."


@pytest.mark.parametrize("given", ["{nonsense", '{"document_id": null}', "", "7"])
async def test_dependencies_are_kept_or_ignored(client: AgnoClient, given: str) -> None:
    frames = await client.start(says("Done."), dependencies=given, user_id="u1")
    assert names(frames)[-1] == "RunCompleted"
    (task,) = (await client.working.get("/tasks"))["data"]
    kept = {"dependencies": {"document_id": None}} if given.startswith('{"') else {}
    assert task["input"] == {"user_id": "u1", **kept}


async def test_a_multipart_form_with_a_file(client: AgnoClient) -> None:
    form = client.form(says("Seen."))
    path = f"{AGNO}/agents/native/runs"
    answer = await client.working.http.post(path, data=form, files={"files": ("a.txt", b"hello", "text/plain")})
    assert answer.status_code == 200, answer.text
    assert b"RunCompleted" in answer.content
    (kept,) = (await client.working.get("/artifacts", kind="file_snapshot"))["data"]
    assert kept["size_bytes"] == 5


async def test_a_key_starts_one_run(client: AgnoClient) -> None:
    form = client.form(says("Done."))
    one = await client.stream("", form, idempotency_key="k1")
    two = await client.stream("", form, idempotency_key="k1")
    assert one == two
    assert len((await client.working.get("/runs"))["data"]) == 1
    assert refusal(await client.post("", form | {"message": "Else."}, idempotency_key="k1")) == (
        409,
        "idempotency_conflict",
    )


async def test_text_that_ends_lines_elsewhere_stays_in_one(client: AgnoClient) -> None:
    text = "a\u2028b\u2029c\u0085d\ne\r\nf\x0bg\x1ch"
    frames = await client.start(says(text))
    assert frames[-1].data["content"] == text


async def test_silence_is_kept_alive_by_comments(tmp_path: Path) -> None:
    async with at_work(tmp_path, heartbeat_s=0.1) as working:
        client = AgnoClient(working)
        answer = await client.post("", client.form(says("Done.", delay_ms=700)))
    assert b": keepalive\n\n" in answer.content
    assert names(told(answer.content))[-1] == "RunCompleted"


async def test_a_client_that_hangs_up_takes_nothing_with_it(client: AgnoClient) -> None:
    async with client.live(client.form(says("Done.", delay_ms=300))) as frames:
        run_id = (await anext(frames)).data["run_id"]
    assert (await client.working.end(run_id))[-1] == "run.finished"
    assert names(await client.stream(f"/{run_id}/resume", {}))[-1] == "RunCompleted"


async def test_a_client_that_waits_for_one_piece_may_hang_up_too(client: AgnoClient) -> None:
    form = client.form(says("Done.", delay_ms=500), stream="false")
    with pytest.raises(httpx2.TimeoutException):
        await client.working.http.post(f"{AGNO}/agents/native/runs", data=form, timeout=0.2)
    (run,) = (await client.working.get("/runs"))["data"]
    assert (await client.working.end(run["run_id"]))[-1] == "run.finished"


async def test_a_process_that_ends_lets_its_clients_go(client: AgnoClient) -> None:
    path = f"{AGNO}/agents/native/runs"
    forms = [client.form(says("Done.", delay_ms=5000), stream=stream) for stream in ("true", "false")]
    asked = [asyncio.create_task(client.working.http.post(path, data=form)) for form in forms]
    while len((await client.working.get("/runs", status="running"))["data"]) < 2:
        await asyncio.sleep(0.02)
    client.working.served.services.close_streams()
    streamed, whole = [await one for one in asked]
    assert names(told(streamed.content)) == ["RunStarted"]
    assert refusal(whole) == (503, "shutting_down")


async def test_a_slow_client_loses_nothing(client: AgnoClient) -> None:
    text = "".join(f"{number:08d}" for number in range(40_000))
    async with client.live(client.form(says(text))) as frames:
        await asyncio.sleep(0.5)
        found = [frame async for frame in frames]
    said = "".join(frame.data["content"] for frame in found if frame.event == "RunContent")
    assert said == found[-1].data["content"] == text
