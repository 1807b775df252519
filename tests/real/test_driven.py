"""Runwire drives each real agent through a gateway: asked over HTTP, decided about over HTTP, seen in the log that it leaves."""

import pytest

from runwire.testing.agent_model_server import AgentModelServer
from tests.gateway.serving import error_of
from tests.real.driven import driving, kill
from tests.real.place import Place
from tests.real.recipes import ASKING, RealAgent

EVERY = tuple(ASKING)
OTHER_MODELS = {"claude": "claude-haiku-4-5", "codex": "scripted:gpt-5.4", "opencode": "scripted:scripted-2"}
"""Models other than those that the agents are set up with: a task may name them."""
TELL_COST = ("pi-0.73", "pi-0.87", "claude", "opencode")
TELL_COST_LATE = ("opencode",)
TAKE_EDITS = ("claude",)
SILENT_ABOUT_EXITS = ("gemini",)
STOP_WHEN_DENIED = ("opencode",)
every_agent = pytest.mark.parametrize("agent", EVERY, indirect=True)
every_asking = pytest.mark.parametrize("asking", EVERY, indirect=True)


@every_agent
async def test_an_answer_is_the_end_of_the_run(agent: RealAgent, place: Place, models: AgentModelServer) -> None:
    wished = OTHER_MODELS.get(agent.name)
    async with driving(agent, place) as driven:
        run_id = await driven.start("Say it. [[say: All is well here.]]", model=wished)
        told = await driven.end(run_id)
        run = await driven.run(run_id)

    assert told.texts == ["All is well here."]
    assert told.last["type"] == "run.finished"
    assert (run["status"], run["pane"]["state"]) == ("completed", "done")
    assert run["usage"]["input_tokens"] > 0
    assert run["usage"]["output_tokens"] > 0
    assert (run["cost_micros_usd"] > 0) is (agent.name in TELL_COST)
    assert wished is None or models.asked[-1].model == wished.rpartition(":")[2]


@every_agent
async def test_a_command_is_told_with_its_exit_and_an_edit_can_be_taken_back(agent: RealAgent, place: Place) -> None:
    file = place.workspace / "told.txt"
    file.write_bytes(b"one\nend\n")
    command = "echo out; exit 3"
    async with driving(agent, place) as driven:
        run_id = await driven.start(f"Do it. [[shell: {command}]] [[edit: {file} | one | two]] [[say: Both are done.]]")
        told = await driven.approving(run_id)
        assert file.read_bytes() == b"two\nend\n"
        patch = await driven.patch(run_id)
        await driven.revert(run_id)

        assert file.read_bytes() == b"one\nend\n"
        assert await driven.patch(run_id) == ""

    assert told.last["type"] == "run.finished"
    assert told.texts[-1] == "Both are done."
    (begun,) = told.of("tool.shell.command")
    assert begun["argv"][-1] == command
    assert begun["sandbox_layer"] != "none"
    if agent.name not in SILENT_ABOUT_EXITS:
        (exited,) = told.of("tool.shell.exited")
        assert exited["exit_code"] == 3
        assert "".join(str(chunk["data"]) for chunk in told.of("tool.shell.output_chunk")).strip() == "out"
    (edited,) = told.of("tool.edit.applied")
    assert edited["tool_call_id"] in {data["tool_call_id"] for data in told.of("tool.completed")}
    assert "told.txt" in patch
    assert "-one\n+two\n end\n" in patch


@every_asking
async def test_a_person_decides_and_a_decision_reaches_as_far_as_it_says(
    asking: RealAgent, place: Place, models: AgentModelServer
) -> None:
    wanted, other = "echo ran >> ran.txt", "echo other >> other.txt"
    async with driving(asking, place) as driven:
        run_id = await driven.start(f"[[shell: {wanted}]] [[shell: {wanted}]] [[shell: {other}]] [[say: So be it.]]")
        first = await driven.question(run_id)
        run = await driven.run(run_id)
        assert (run["status"], run["pane"]["state"]) == ("awaiting_approval", "blocked")
        assert (first["kind"], "executes" in first["effects"]) == ("shell", True)
        assert wanted in first["input"]["command"]
        assert not (place.workspace / "ran.txt").exists()
        if asking.name not in TAKE_EDITS:
            body = {"decision": "approved", "edited_input": {"command": "echo another"}}
            refused = await driven.working.post(f"/approvals/{first['approval_id']}/resolve", body)
            assert (refused.status_code, error_of(refused)["code"]) == (422, "edit_denied")
        await driven.answer(first, "approved", scope="task")
        last = await driven.question(run_id)
        assert other in last["input"]["command"]
        await driven.answer(last, "denied", comment="not in this house")
        told = await driven.end(run_id)
        (grant,) = (await driven.working.get("/permissions"))["data"]

    assert told.last["type"] == "run.finished"
    stops = asking.name in STOP_WHEN_DENIED
    assert told.texts == ([] if stops else ["So be it."])
    assert (place.workspace / "ran.txt").read_text() == "ran\nran\n"
    assert not (place.workspace / "other.txt").exists()
    assert [data["by"].partition(":")[0] for data in told.of("approval.resolved")] == ["operator", "grant", "operator"]
    assert grant["used"] == 1
    assert len(told.of("tool.shell.exited")) == (0 if asking.name in SILENT_ABOUT_EXITS else 2)
    # The agent was told of the refusal, and its model after it unless that is the end of the matter.
    assert models.asked[-1].conversation.round == (2 if stops else 3)


@pytest.mark.parametrize("asking", TAKE_EDITS, indirect=True)
async def test_what_a_person_makes_of_a_call_is_what_happens(asking: RealAgent, place: Place) -> None:
    async with driving(asking, place) as driven:
        run_id = await driven.start("[[shell: echo asked > made.txt]] [[shell: echo no > no.txt]] [[say: Done.]]")
        question = await driven.question(run_id)
        await driven.answer(question, "approved", edited_input={"command": "echo edited > made.txt"})
        await driven.answer(await driven.question(run_id), "denied", comment="Use another file.", stop=True)
        told = await driven.end(run_id)

    assert (place.workspace / "made.txt").read_text() == "edited\n"
    assert not (place.workspace / "no.txt").exists()
    (begun,) = told.of("tool.shell.command")
    assert begun["argv"][-1] == "echo edited > made.txt"
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "approval_denied")
    assert "Use another file." in told.last["data"]["message"]


@every_agent
async def test_a_run_that_is_cancelled_in_the_middle_of_an_answer_leaves_nobody(agent: RealAgent, place: Place) -> None:
    async with driving(agent, place) as driven:
        run_id = await driven.start("Tell me. [[slow]]")
        await driven.speaks(run_id)
        await driven.cancel(run_id)
        told = await driven.end(run_id)
        await driven.nothing_left()

    assert (told.last["type"], told.last["data"]["reason"]) == ("run.cancelled", "enough")
    assert "word399" not in told.texts[-1]


@pytest.mark.parametrize("asking", ["pi-0.87", "claude", "codex", "gemini"], indirect=True)
async def test_a_run_that_is_cancelled_while_it_asks_is_over_and_so_is_the_question(
    asking: RealAgent, place: Place
) -> None:
    async with driving(asking, place) as driven:
        run_id = await driven.start("[[shell: echo ran > ran.txt]] [[say: Done.]]")
        question = await driven.question(run_id)
        await driven.cancel(run_id)
        told = await driven.end(run_id)
        await driven.nothing_left()
        settled = await driven.working.get(f"/approvals/{question['approval_id']}")

    assert told.last["type"] == "run.cancelled"
    assert (settled["status"], settled["by"]) == ("denied", "operator")
    assert not (place.workspace / "ran.txt").exists()


@every_agent
async def test_an_agent_that_is_killed_in_the_middle_of_an_answer_fails_its_run(agent: RealAgent, place: Place) -> None:
    async with driving(agent, place) as driven:
        run_id = await driven.start("Tell me. [[slow]]")
        await driven.speaks(run_id)
        kill(agent)
        told = await driven.end(run_id)
        await driven.nothing_left()

    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "agent_exited")
    assert told.texts[-1].startswith("word000 ")
    assert "word399" not in told.texts[-1]


@pytest.mark.parametrize("agent", TELL_COST, indirect=True)
async def test_a_spent_budget_interrupts_the_agent(agent: RealAgent, place: Place) -> None:
    file = place.workspace / "told.txt"
    file.write_text("one\n")
    async with driving(agent, place) as driven:
        last = "[[say: Done.]]" if agent.name in TELL_COST_LATE else "[[slow]]"
        run_id = await driven.start(f"Read, then tell me. [[read: {file}]] {last}", budget_micros_usd=10)
        told = await driven.approving(run_id)
        await driven.nothing_left()

    assert len(told.of("cost.budget_exceeded")) == 1
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "budget_exceeded")
    assert not any("word399" in text for text in told.texts)


@pytest.mark.parametrize("asking", ["pi-0.87", "claude", "codex"], indirect=True)
async def test_a_question_does_not_outlive_the_agent_that_asked(asking: RealAgent, place: Place) -> None:
    async with driving(asking, place) as driven:
        run_id = await driven.start("[[shell: echo ran > ran.txt]] [[say: Done.]]")
        question = await driven.question(run_id)
    async with driving(asking, place) as driven:
        told = await driven.end(run_id)
        settled = await driven.working.get(f"/approvals/{question['approval_id']}")

    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "agent_gone")
    assert (settled["status"], settled["by"]) == ("denied", "system")
    assert "the agent ended together with the worker" in settled["comment"]
    assert not (place.workspace / "ran.txt").exists()
