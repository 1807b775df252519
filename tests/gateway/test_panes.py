"""Every run at a glance."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwire.protocol.events.user import UserMessage
from tests.gateway.serving import QUEUED, V1, Frame, Subscription, error_of
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


async def _ids(working: Working, **params: str) -> list[str]:
    return [pane["run_id"] for pane in (await working.get("/panes", **params))["data"]]


async def _three(working: Working) -> tuple[str, str, str]:
    """A run that waits for a person, one that failed and, newer than both, one that is done."""
    asked = await working.run(sh("true"), policy={"shell_exec": "ask"}, title="Ask me", session_id="chat_1")
    await working.until(asked["run_id"], "approval.requested")
    failed, done = await working.run(), await working.run(says())
    await working.end(failed["run_id"])
    await working.end(done["run_id"])
    return asked["run_id"], failed["run_id"], done["run_id"]


async def test_a_pane_says_what_it_is_about_and_what_it_waits_for(working: Working) -> None:
    asked, _, done = await _three(working)
    panes = {one["run_id"]: one for one in (await working.get("/panes"))["data"]}
    (question,) = (await working.get("/approvals", status="pending"))["data"]
    assert panes[asked]["title"] == "Ask me"
    assert panes[asked]["pending_approval_ids"] == [question["approval_id"]]
    assert panes[asked]["stalls_at"] > panes[asked]["last_event_at"]
    assert panes[asked]["finished_at"] is None
    assert panes[done]["title"] == "Do it."
    assert panes[done]["model"].startswith("scripted:")
    assert (panes[done]["pending_approval_ids"], panes[done]["stalls_at"], panes[done]["demo"]) == ([], None, False)
    assert panes[done]["finished_at"] >= panes[done]["created_at"]


async def test_panes_are_chosen_by_run_status_and_need(working: Working) -> None:
    asked, failed, done = await _three(working)
    assert await _ids(working, run_id=f"{done},{asked}") == [done, asked]
    assert await _ids(working, status="failed") == [failed]
    assert await _ids(working, status="completed,awaiting_approval", session_id="chat_1") == [asked]
    assert await _ids(working, attention="true") == [failed, asked]
    assert await _ids(working, attention="false") == [done]


async def test_what_needs_a_person_is_not_hidden_behind_what_does_not(working: Working) -> None:
    asked, failed, _ = await _three(working)
    assert await _ids(working, attention="true", status="awaiting_approval", limit="1") == [asked]
    first = await working.get("/panes", attention="true", limit="1")
    rest = await working.get("/panes", attention="true", limit="1", cursor=first["next_cursor"])
    assert [pane["run_id"] for pane in first["data"] + rest["data"]] == [failed, asked]
    async with working.served.subscribed("/panes/stream") as stream:
        told = [pane["run_id"] for frame in await stream.until("synced") if (pane := _read(frame))]
    assert told[0] == asked


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "asleep"},
        {"attention": "yes"},
        {"run_id": ""},
        {"run_id": ",".join(["run_1"] * 101)},
        {"run_id": "run_1,"},
    ],
)
async def test_a_filter_that_makes_no_sense_is_refused(working: Working, wrong: dict[str, str]) -> None:
    answer = await working.http.get(f"{V1}/panes", params=wrong)
    assert (answer.status_code, error_of(answer)["code"]) == (400, "invalid_filter")


async def test_a_run_that_came_from_elsewhere_is_called_by_what_was_said_first(working: Working) -> None:
    said = UserMessage(turn_index=0, text="Tidy up\nand more")
    await working.served.run(QUEUED, said, run_id="run_2", task_id=None)
    (pane,) = (await working.get("/panes", run_id="run_2"))["data"]
    assert pane["title"] == "Tidy up"
