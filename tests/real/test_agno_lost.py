"""Servers and gateways that are lost in the middle: what was begun is never begun again, and nothing is said to be that is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.agno_driven import driving, until
from tests.real.agno_os import AgnoOS, serving_agno
from tests.real.agno_raw import Raw, confirmed
from tests.real.installed import requires


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "agno.db"


@pytest.fixture
def agno(tmp_path: Path, database: Path) -> Iterator[AgnoOS]:
    """An AgentOS of the test's own, which keeps its runs on disk."""
    requires("agno")
    with serving_agno(tmp_path, database=database) as served:
        yield served


# Servers.


async def test_a_server_that_is_started_again_still_waits(tmp_path: Path, agno: AgnoOS, database: Path) -> None:
    """Also when the answer comes while it is away, and for teams and workflows like for agents."""
    pause = await Raw(agno).paused("create kept-raw")
    async with driving(tmp_path, agno) as driven:
        clerks = await driven.start("create kept-clerk")
        offices = await driven.start("delegate create kept-office", "office")
        flows = await driven.start("create kept-process", "process")
        questions = [await driven.question(run_id) for run_id in (clerks, offices, flows)]
        agno.kill()
        await driven.answer(questions[0])
        with serving_agno(tmp_path, port=agno.port, database=database) as again:
            assert (await Raw(again).go_on(pause, confirmed(pause))).names[-1] == "RunCompleted"
            for question in questions[1:]:
                await driven.answer(question)
            await driven.answer(await driven.question(flows))
            ends = [(await driven.end(run_id)).last["type"] for run_id in (clerks, offices, flows)]
    assert ends == ["run.finished"] * 3
    made = [f"create_document kept-{name}" for name in ("raw", "clerk", "office", "process")]
    assert [agno.executions().count(line) for line in made] == [1, 1, 1, 1]


async def test_a_server_that_forgot_what_it_waited_for(tmp_path: Path) -> None:
    requires("agno")
    with serving_agno(tmp_path) as agno:
        async with driving(tmp_path, agno) as driven:
            run_id = await driven.start("create forgotten")
            question = await driven.question(run_id)
            agno.kill()
            with serving_agno(tmp_path, port=agno.port):
                await driven.answer(question)
                told = await driven.end(run_id)
    assert (told.last["type"], "No runs found" in told.last["data"]["message"]) == ("run.failed", True)
    assert told.of("tool.completed") == []
    assert agno.executions() == []


async def test_a_server_that_dies_at_work(tmp_path: Path, agno: AgnoOS, database: Path) -> None:
    """Started again, it says that it waits still, and would do again what it did."""
    async with driving(tmp_path, agno) as driven:
        speaks = await driven.start("slow")
        works = await driven.start("toil cut-short")
        await driven.answer(await driven.question(works))
        await until(agno.executions)
        await driven.working.until(speaks, "assistant.text_delta")
        agno.kill()
        said, worked = await driven.end(speaks), await driven.end(works)
        session_id = (await driven.working.get(f"/runs/{works}"))["task_id"]
        with serving_agno(tmp_path, port=agno.port, database=database) as again:
            assert await Raw(again).status(works, session_id) == "PAUSED"
    assert said.last["type"] == worked.last["type"] == "run.failed"
    assert said.texts[-1].startswith("word000 ")
    assert "word399" not in said.texts[-1]
    assert [one["code"] for one in worked.of("tool.failed")] == ["interrupted"]
    assert agno.executions() == ["work cut-short"]


async def test_server_and_gateway_that_go_together(tmp_path: Path, agno: AgnoOS, database: Path) -> None:
    """The approvals are there, and the server waits for them once more: but what they allowed was begun."""
    async with driving(tmp_path, agno) as driven:
        runs = [await driven.start("toil both-lost"), await driven.start("slowly both-lost", "process")]
        for run_id in runs:
            await driven.answer(await driven.question(run_id))
        await until(lambda: len(agno.executions()) == 2)
        agno.freeze()
    agno.kill()
    with serving_agno(tmp_path, port=agno.port, database=database) as again:
        async with driving(tmp_path, again) as driven:
            ends = [(await driven.end(run_id)).last for run_id in runs]
    # A workflow remembers that it was told, an agent does not.
    codes = ["interrupted", "agent_gone"]
    assert [(last["type"], last["data"].get("code")) for last in ends] == [("run.failed", code) for code in codes]
    assert sorted(agno.executions()) == ["publish slowly both-lost", "work both-lost"]


# Gateways.


async def test_a_gateway_that_goes_in_the_middle_of_a_call(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with driving(tmp_path, agno_os) as driven:
        run_id = await driven.start("work gateway-lost")
        await driven.answer(await driven.question(run_id))
        await until(lambda: driven.made("gateway-lost"))
    async with driving(tmp_path, agno_os) as driven:
        told = await driven.end(run_id)
        assert driven.made("gateway-lost") == ["work gateway-lost"]
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "agent_gone")
    assert len(told.of("tool.invoked")) == 1


async def test_what_was_decided_is_not_asked_again_by_the_next_gateway(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with driving(tmp_path, agno_os) as driven:
        run_id = await driven.start("two half-1 half-2")
        first, second = await driven.questions(run_id, 2)
        await driven.answer(first, "denied", comment="not this one")
    async with driving(tmp_path, agno_os) as driven:
        (left,) = await driven.questions(run_id)
        assert left["approval_id"] == second["approval_id"]
        await driven.answer(left)
        told = await driven.end(run_id)
        assert [len(driven.made(str(one["input"]["title"]))) for one in (first, second)] == [0, 1]
    assert told.last["type"] == "run.finished"
    assert len(told.of("approval.requested")) == 2


@pytest.mark.parametrize(("who", "order"), [("office", "delegate create team-pause"), ("process", "create flow-pause")])
async def test_a_pause_outlives_the_gateway(tmp_path: Path, agno_os: AgnoOS, who: str, order: str) -> None:
    async with driving(tmp_path, agno_os) as driven:
        run_id = await driven.start(order, who)
        question = await driven.question(run_id)
    async with driving(tmp_path, agno_os) as driven:
        again = await driven.question(run_id)
        assert again["approval_id"] == question["approval_id"]
        await driven.answer(again)
        if who == "process":
            await driven.answer(await driven.question(run_id))
        told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert agno_os.executions().count(f"create_document {order.rpartition(' ')[2]}") == 1


async def test_what_was_said_later_is_found_again_by_the_next_gateway(tmp_path: Path, agno_os: AgnoOS) -> None:
    async with driving(tmp_path, agno_os) as driven:
        run_id = await driven.start("create said-first")
        question = await driven.question(run_id)
        await driven.say(run_id, "create said-second")
        await driven.answer(question)
        later = await driven.question(run_id)
    async with driving(tmp_path, agno_os) as driven:
        again = await driven.question(run_id)
        assert again["approval_id"] == later["approval_id"]
        await driven.answer(again)
        told = await driven.end(run_id)
        assert [len(driven.made(title)) for title in ("said-first", "said-second")] == [1, 1]
    assert told.last["type"] == "run.finished"
