"""The client has work done by a real gateway in the same process: tasks, runs, decisions, patches."""

from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import pytest

from runwire.client.answers import Approval, Artifact, Run
from runwire.client.client import Client
from runwire.errors import GatewayError
from tests.gateway.working import Working, at_work, says, sh, uses


@pytest.fixture
async def working(tmp_path: Path) -> AsyncGenerator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


@pytest.fixture
async def client(working: Working) -> AsyncGenerator[Client]:
    async with Client(f"http://127.0.0.1:{working.served.port}", working.served.token) as opened:
        yield opened


async def _start(client: Client, working: Working, *turns: dict[str, object], **more: object) -> Run:
    wishes = {"prompt": "Do it.", "model": working.script(*turns), "workspace": {"path": str(working.folder)}, **more}
    run = (await client.create_task(wishes)).latest_run
    assert run is not None
    return run


async def _end(client: Client, run: Run) -> Run:
    async for _ in client.events(run.run_id):
        pass
    return await client.run(run.run_id)


async def test_a_task_is_made_found_listed_started_again_and_deleted(client: Client, working: Working) -> None:
    run = await _end(client, await _start(client, working, says()))
    assert run.status == "completed"
    assert run.task_id is not None
    assert (await client.task(run.task_id)).latest_run == run
    assert len((await client.tasks()).data) == 1
    again = await client.start(run.task_id)
    assert (await _end(client, again)).status == "completed"
    await client.delete_task(run.task_id)
    with pytest.raises(GatewayError) as gone:
        await client.task(run.task_id)
    assert gone.value.status == 404


async def test_a_run_is_cancelled_retried_resumed_and_continued(client: Client, working: Working) -> None:
    run = await _start(client, working, sh("true"), says(delay_ms=60_000))
    await working.until(run.run_id, "tool.completed")
    assert (await client.cancel(run, reason="enough")).status == "cancelled"
    working.folder.with_name("script-0.json").write_bytes(
        msgspec.json.encode({"turns": [sh("true"), says("End."), says("More.")]})
    )
    for later in (await client.retry(run),):
        assert (await _end(client, later)).status == "completed"
    resumed = await _end(client, await client.resume(run))
    assert resumed.status == "completed"
    assert (await _end(client, await client.go_on(resumed, "and then?"))).status == "completed"


async def test_a_live_run_is_spoken_to(client: Client, working: Working) -> None:
    run = await _start(client, working, says("Over.", delay_ms=400), says("More."))
    await working.until(run.run_id, "turn.started")
    await client.say(run, "go on")
    await _end(client, run)
    (row,) = (await client.usage("agent")).data
    assert (row.group, row.turns) == ("native", 2)


@pytest.mark.parametrize(("decision", "status"), [("approve", "approved"), ("deny", "denied")])
async def test_a_question_is_found_and_answered(client: Client, working: Working, decision: str, status: str) -> None:
    run = await _start(client, working, sh("echo hello"), says(), policy={"shell_exec": "ask"})
    await working.until(run.run_id, "approval.requested")
    (raw,) = (await client.approvals()).data
    asked = msgspec.json.decode(raw, type=Approval)
    assert (await client.approval(asked.approval_id)).status == "pending"
    if decision == "approve":
        answered = await client.approve(asked.approval_id, scope="task", comment="fine")
        (grant,) = (await client.permissions()).data
        await client.revoke_permission(msgspec.json.decode(grant)["permission_id"])
    else:
        answered = await client.deny(asked.approval_id, comment="fine")
    assert (answered.status, answered.comment) == (status, "fine")
    assert (await _end(client, run)).status == "completed"
    assert (await client.approvals()).data == []
    facts = [msgspec.json.decode(fact) for fact in (await client.audit(type="approval.*")).data]
    assert [fact["type"] for fact in facts] == ["approval.requested", "approval.resolved"]


async def test_patches_are_applied_rejected_reverted_and_read_as_one(client: Client, working: Working) -> None:
    (working.folder / "a.txt").write_text("one\n")
    edit = uses("edit_file", path="a.txt", old_text="one", new_text="ONE")
    make = uses("file_write", path="b.txt", content="two\n")
    run = await _end(client, await _start(client, working, edit, make, says(), policy={"auto_apply": False}))
    listed = await client.artifacts(run_id=run.run_id, kind="patch")
    second, first = (msgspec.json.decode(one, type=Artifact) for one in listed.data)
    assert (await client.apply(first.id)).data.status == "applied"
    assert b"+ONE\n" in b"".join([piece async for piece in client.patch(run.run_id)])
    assert (await client.revert(first.id)).inverse_artifact_id is not None
    assert (await client.reject(second.id, reason="no")).data.status == "rejected"
    assert (working.folder / "a.txt").read_text() == "one\n"
    with pytest.raises(GatewayError) as refused:
        await client.apply(second.id)
    assert refused.value.status == 409


async def test_agents_and_panes_are_listed(client: Client, working: Working) -> None:
    run = await _end(client, await _start(client, working, says()))
    agents = {agent["name"]: agent for agent in map(msgspec.json.decode, (await client.agents()).data)}
    assert agents["native"]["installed"] is True
    assert {"zot", "pi", "claude", "codex", "opencode", "gemini"} <= agents.keys()
    (pane,) = (msgspec.json.decode(one) for one in (await client.panes()).data)
    assert (pane["run_id"], pane["state"]) == (run.run_id, "done")
