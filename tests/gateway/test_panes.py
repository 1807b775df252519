"""Every run at a glance."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import Frame, Subscription
from tests.gateway.working import Json, Working, at_work, says, sh


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path) as opened:
        yield opened


async def test_a_pane_tells_what_a_run_does(working: Working) -> None:
    done = await working.run(says(), session_id="chat_1")
    await working.end(done["run_id"])
    busy = await working.run(sh("sleep 66"))
    await working.until(busy["run_id"], "tool.shell.command")
    asked = await working.run(sh("true"), policy={"shell_exec": "ask"})
    await working.until(asked["run_id"], "approval.requested")
    panes = {one["run_id"]: one for one in (await working.get("/panes"))["data"]}
    assert [one["object"] for one in panes.values()] == ["pane"] * 3
    states = {run_id: (pane["state"], pane["attention"]) for run_id, pane in panes.items()}
    assert states == {
        done["run_id"]: ("done", False),
        busy["run_id"]: ("working", False),
        asked["run_id"]: ("blocked", True),
    }
    assert panes[done["run_id"]]["last_event_type"] == "run.finished"
    (chosen,) = (await working.get("/panes", session_id="chat_1"))["data"]
    assert chosen["run_id"] == done["run_id"]


async def test_panes_come_page_by_page(working: Working) -> None:
    runs = [(await working.run(says()))["run_id"] for _ in range(3)]
    first = await working.get("/panes", limit="2")
    rest = await working.get("/panes", limit="2", cursor=first["next_cursor"])
    assert [one["run_id"] for one in first["data"] + rest["data"]] == runs[::-1]


async def _pane(stream: Subscription, run_id: str, state: str) -> Json:
    """The next pane of a run that is in a state."""
    while (frame := await stream.next()) is not None:
        pane = _read(frame)
        if pane is not None and (pane["run_id"], pane["state"]) == (run_id, state):
            return pane
    raise AssertionError("the stream ended")


def _read(frame: Frame) -> Json | None:
    found: Json | None = json.loads(frame.data) if frame.event == "pane" else None
    return found


async def test_a_stream_tells_every_pane_and_then_those_that_change(working: Working) -> None:
    before = await working.run(says())
    await working.end(before["run_id"])
    async with working.served.subscribed("/panes/stream") as stream:
        frames = await stream.until("synced")
        assert [pane["run_id"] for frame in frames if (pane := _read(frame))] == [before["run_id"]]
        run = await working.run(sh("true"), says("End."), policy={"shell_exec": "ask"})
        pane = await _pane(stream, run["run_id"], "blocked")
        assert pane["attention"] is True
        question = (await working.until(run["run_id"], "approval.requested"))["approval_id"]
        await working.post(f"/approvals/{question}/resolve", {"decision": "approved"})
        assert (await _pane(stream, run["run_id"], "done"))["status"] == "completed"
