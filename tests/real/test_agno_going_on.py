"""Going on after a pause, three times over: at the real server itself, through our driver, and at our own /agno before it.

What the server of this release does with decisions that are wrong, late or doubled is pinned here, for that is why the other
two are as they are. Executions are read from the server's own ledger: a call is made once, or never.
"""

import asyncio
import json

import pytest

from tests.gateway.agno.client import decided, names
from tests.gateway.working import Json
from tests.real.agno_driven import Driven
from tests.real.agno_raw import Raw, confirmed

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def paused(driven: Driven, title: str) -> tuple[str, list[Json]]:
    """A run of the real agent that was started at our surface and waits there: its id and its tools."""
    frames = await driven.client.stream("", {"message": f"create {title}"})
    assert names(frames)[-1] == "RunPaused"
    return frames[-1].data["run_id"], frames[-1].data["tools"]


def _tools(tools: object) -> dict[str, str]:
    return {"tools": json.dumps(tools)}


async def test_a_run_that_is_not_there(raw: Raw, driven: Driven) -> None:
    pause = await raw.paused("create unknown-run")
    unknown = await raw.go_on({**pause, "run_id": "nobody"}, confirmed(pause))
    assert (unknown.status, unknown.names) == (200, ["RunError"])
    assert "No runs found" in unknown.last["content"]
    assert (await raw.go_on({**pause, "run_id": ""}, confirmed(pause))).status == 404
    assert await driven.working.refused("/approvals/appr_nobody/resolve", {"decision": "approved"}) == (
        404,
        "approval_not_found",
    )
    assert await driven.client.refused("/nobody/continue", _tools(confirmed(pause))) == (404, "run_not_found")
    assert (await driven.client.post("//continue", _tools(confirmed(pause)))).status_code == 404
    assert driven.made("unknown-run") == []


async def test_a_wrong_tool_call_id(raw: Raw, driven: Driven) -> None:
    """The server says 200 and means that the call was rejected."""
    pause = await raw.paused("create wrong-id")
    heard = await raw.go_on(pause, confirmed(pause, tool_call_id="call_another"))
    assert (heard.status, heard.names[-1], heard.last["run_id"]) == (200, "RunCompleted", pause["run_id"])
    assert driven.made("wrong-id") == []

    run_id, tools = await paused(driven, "right-id")
    wrong = _tools(decided(tools, tool_call_id="call_another"))
    assert await driven.client.refused(f"/{run_id}/continue", wrong) == (422, "tool_call_not_paused")
    assert driven.made("right-id") == []
    assert names(await driven.client.go_on(run_id, decided(tools)))[-1] == "RunCompleted"
    assert driven.made("right-id") == ["create_document right-id"]


async def test_going_on_twice(raw: Raw, driven: Driven) -> None:
    """The server makes up another run, and calls its model again."""
    pause = await raw.paused("create twice-raw")
    first, second = [await raw.go_on(pause, confirmed(pause)) for _ in range(2)]
    assert first.names[-1] == second.names[-1] == "RunCompleted"
    assert first.last["run_id"] == pause["run_id"] != second.last["run_id"]

    run_id = await driven.start("create twice-driven")
    question = await driven.question(run_id)
    await driven.answer(question)
    told = await driven.end(run_id)
    await driven.answer(question)
    assert (await driven.resolve(question, {"decision": "denied"})).status_code == 409
    assert (await driven.end(run_id)).types == told.types
    assert told.types.count("tool.started") == told.types.count("tool.completed") == 1

    run_id, tools = await paused(driven, "twice-ours")
    assert names(await driven.client.go_on(run_id, decided(tools)))[-1] == "RunCompleted"
    assert await driven.client.refused(f"/{run_id}/continue", _tools(decided(tools))) == (409, "run_finished")
    assert [len(driven.made(f"twice-{where}")) for where in ("raw", "driven", "ours")] == [1, 1, 1]


async def test_going_on_twice_at_the_same_moment(raw: Raw, driven: Driven) -> None:
    """The server makes the call for everybody who asks."""
    pause = await raw.paused("work at-once-raw")
    both = await asyncio.gather(*(raw.go_on(pause, confirmed(pause)) for _ in range(2)))
    assert [heard.names[-1] for heard in both] == ["RunCompleted", "RunCompleted"]
    assert driven.made("at-once-raw") == ["work at-once-raw"] * 2

    run_id = await driven.start("work at-once-driven")
    question = await driven.question(run_id)
    answers = await asyncio.gather(*(driven.resolve(question, {"decision": "approved"}) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {200}
    told = await driven.end(run_id)
    assert (told.last["type"], len(told.of("approval.resolved"))) == ("run.finished", 1)
    assert driven.made("at-once-driven") == ["work at-once-driven"]

    frames = await driven.client.stream("", {"message": "work at-once-ours"})
    run_id, sent = frames[-1].data["run_id"], _tools(decided(frames[-1].data["tools"]))
    ours = await asyncio.gather(*(driven.client.post(f"/{run_id}/continue", sent) for _ in range(5)))
    assert sorted(answer.status_code for answer in ours) == [200, 409, 409, 409, 409]
    assert driven.made("at-once-ours") == ["work at-once-ours"]


async def test_an_approval_after_a_rejection(raw: Raw, driven: Driven) -> None:
    """The server makes the call that was rejected."""
    pause = await raw.paused("create late-raw")
    await raw.go_on(pause, confirmed(pause, value=False))
    assert (await raw.go_on(pause, confirmed(pause))).names[1] == "ToolCallStarted"
    assert driven.made("late-raw") == ["create_document late-raw"]

    run_id = await driven.start("create late-driven")
    question = await driven.question(run_id)
    await driven.answer(question, "denied")
    assert (await driven.resolve(question, {"decision": "approved"})).status_code == 409
    told = await driven.end(run_id)
    assert (await driven.resolve(question, {"decision": "approved"})).status_code == 409
    assert (told.last["type"], told.of("tool.invoked")) == ("run.finished", [])
    assert driven.made("late-driven") == []

    run_id, tools = await paused(driven, "late-ours")
    assert names(await driven.client.go_on(run_id, decided(tools, confirmed=False)))[-1] == "RunCompleted"
    assert await driven.client.refused(f"/{run_id}/continue", _tools(decided(tools))) == (409, "run_finished")
    assert driven.made("late-ours") == []


async def test_another_call_under_the_right_id(raw: Raw, driven: Driven) -> None:
    """The server makes whatever call it is sent."""
    other: Json = {"tool_name": "delete_document", "tool_args": {"title": "other-raw"}}
    pause = await raw.paused("create asked-raw")
    await raw.go_on(pause, confirmed(pause, **other))
    assert (driven.made("other-raw"), driven.made("asked-raw")) == (["delete_document other-raw"], [])

    run_id = await driven.start("create asked-driven")
    await driven.answer(await driven.question(run_id), edited_input={"title": "other-driven", "path": "/etc"})
    told = await driven.end(run_id)
    assert (told.last["type"], told.of("tool.invoked")) == ("run.finished", [])
    assert "fields of the call cannot change" in told.of("policy.tool_blocked")[0]["reason"]

    run_id, tools = await paused(driven, "asked-ours")
    wrong = _tools(decided(tools, **other))
    assert await driven.client.refused(f"/{run_id}/continue", wrong) == (422, "invalid_form")
    edited = decided(tools, tool_args={"title": "edited-ours"})
    assert names(await driven.client.go_on(run_id, edited))[-1] == "RunCompleted"
    assert (driven.made("asked-ours"), driven.made("edited-ours")) == ([], ["create_document edited-ours"])
    assert (driven.made("asked-driven"), driven.made("other-driven")) == ([], [])


async def test_a_call_that_nobody_wanted(raw: Raw, driven: Driven) -> None:
    pause = await raw.paused("create wanted-raw")
    (injected,) = confirmed(pause, tool_call_id="call_injected", tool_args={"title": "injected-raw"})
    await raw.go_on(pause, [*confirmed(pause), injected])
    assert (len(driven.made("wanted-raw")), driven.made("injected-raw")) == (1, [])
    # But a run that is over, and wanted nothing, makes it.
    over = (await raw.start("hello", session_id="over")).last
    await raw.go_on(over, [injected])
    assert driven.made("injected-raw") == ["create_document injected-raw"]

    run_id, tools = await paused(driven, "wanted-ours")
    extra = decided(tools, tool_call_id="call_injected", tool_args={"title": "injected-ours"})
    both = _tools([*decided(tools), *extra])
    assert await driven.client.refused(f"/{run_id}/continue", both) == (422, "tool_call_not_paused")
    assert driven.made("wanted-ours") == []
    assert names(await driven.client.go_on(run_id, decided(tools)))[-1] == "RunCompleted"
    assert await driven.client.refused(f"/{run_id}/continue", _tools(extra)) == (409, "run_finished")
    assert (len(driven.made("wanted-ours")), driven.made("injected-ours")) == (1, [])


async def test_a_decision_that_is_none(raw: Raw, driven: Driven) -> None:
    """The server takes silence for a rejection, and never says so."""
    for title in ("none-undecided", "none-named"):
        pause = await raw.paused(f"create {title}")
        heard = await raw.go_on(pause, confirmed(pause, value=None) if title == "none-undecided" else [])
        assert (heard.status, heard.names[-1], driven.made(title)) == (200, "RunCompleted", [])

    run_id = await driven.start("create none-driven")
    question = await driven.question(run_id)
    for nothing in ({}, {"decision": None}, {"decision": "perhaps"}, {"decision": True}):
        assert (await driven.resolve(question, nothing)).status_code in {400, 422}
    assert (await driven.question(run_id))["approval_id"] == question["approval_id"]
    await driven.answer(question)
    assert (await driven.end(run_id)).last["type"] == "run.finished"
    assert driven.made("none-driven") == ["create_document none-driven"]

    run_id, found = await paused(driven, "none-ours")
    wrong: list[object] = [decided(found, confirmed=None), [], [{}], ["yes"], {}]
    for sent in wrong:
        assert await driven.client.refused(f"/{run_id}/continue", _tools(sent)) == (422, "invalid_form")
    assert await driven.client.refused(f"/{run_id}/continue", {}) == (422, "invalid_form")
    assert driven.made("none-ours") == []
    await driven.client.post(f"/{run_id}/cancel")


async def test_another_session(raw: Raw, driven: Driven) -> None:
    pause = await raw.paused("create session-raw")
    other = await raw.go_on(pause, confirmed(pause), session_id="another")
    assert (other.names, "No runs found" in other.last["content"]) == (["RunError"], True)
    assert (await raw.go_on(pause, confirmed(pause), session_id="")).status == 400
    assert driven.made("session-raw") == []
    # A run has one session here: its id is enough, and what a client says besides decides nothing.
    run_id, tools = await paused(driven, "session-ours")
    frames = await driven.client.go_on(run_id, decided(tools), session_id="another")
    assert (names(frames)[-1], frames[-1].data["session_id"] != "another") == ("RunCompleted", True)
    assert len(driven.made("session-ours")) == 1


async def test_only_some_of_what_is_waited_for(raw: Raw, driven: Driven) -> None:
    """The server goes on at once, and takes what was left out for rejected."""
    pause = await raw.paused("two some-1-raw some-2-raw")
    heard = await raw.go_on(pause, confirmed(pause)[1:])
    assert heard.names[-1] == "RunCompleted"
    assert (driven.made("some-1-raw"), len(driven.made("some-2-raw"))) == ([], 1)

    run_id = await driven.start("two some-1-driven some-2-driven")
    first, second = await driven.questions(run_id, 2)
    await driven.answer(first)
    await asyncio.sleep(0.3)
    assert (await driven.questions(run_id)) == [second]
    assert driven.made("some-1-driven") == []
    await driven.answer(second, "denied")
    told = await driven.end(run_id)
    assert (told.last["type"], len(told.of("tool.invoked"))) == ("run.finished", 1)
    (title,) = [first["input"]["title"]]
    assert [driven.made(f"some-{number}-driven") != [] for number in (1, 2)] == [
        f"some-{number}-driven" == title for number in (1, 2)
    ]

    frames = await driven.client.stream("", {"message": "two some-1-ours some-2-ours"})
    run_id, tools = frames[-1].data["run_id"], frames[-1].data["tools"]
    again = await driven.client.go_on(run_id, decided(tools[:1]))
    assert (names(again)[-1], [tool["tool_call_id"] for tool in again[-1].data["tools"]]) == (
        "RunPaused",
        [tools[1]["tool_call_id"]],
    )
    assert driven.made("some-1-ours") == []
    assert names(await driven.client.go_on(run_id, decided(tools[1:])))[-1] == "RunCompleted"
    assert (len(driven.made("some-1-ours")), len(driven.made("some-2-ours"))) == (1, 1)


@pytest.mark.parametrize("order", ["chain chain-1 chain-2", "again alike"])
async def test_one_call_after_the_other_is_asked_about(driven: Driven, order: str) -> None:
    """Also where the model names its calls alike: a decision about the first is none about the second."""
    run_id = await driven.start(order)
    first = await driven.question(run_id)
    await driven.answer(first)
    second = await driven.question(run_id)
    assert second["approval_id"] != first["approval_id"]
    await driven.answer(second)
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert len(told.of("tool.completed")) == len(told.of("approval.resolved")) == 2
    assert sum(len(driven.made(title)) for title in order.split()[1:]) == 2
