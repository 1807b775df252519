"""Each real agent, without Runwire: it starts here, talks to the scripted model, and ends as our dialects expect it to."""

from collections.abc import Callable, Mapping

import httpx2
import pytest

from runwire.testing.agent_model_server import AgentModelServer
from runwire.testing.model_script import GREETING
from tests.real.agno_os import AgnoOS
from tests.real.place import Place
from tests.real.recipes import RECIPES, RealAgent
from tests.real.running import Frame, run_bare, run_confined

LAST: Mapping[str, Callable[[Frame], bool]] = {
    "zot": lambda frame: frame["type"] == "done",
    "pi-0.73": lambda frame: frame["type"] == "agent_end",
    "pi-0.87": lambda frame: frame["type"] == "agent_settled",
    "claude": lambda frame: (frame["type"], frame["subtype"], frame["is_error"]) == ("result", "success", False),
    "codex": lambda frame: frame["type"] == "turn.completed",
    "opencode": lambda frame: frame["type"] == "step_finish",
    "gemini": lambda frame: (frame["type"], frame["status"]) == ("result", "success"),
}
# What it says is printed whole somewhere, but here in pieces only.
IN_PIECES = frozenset({"gemini"})
every_agent = pytest.mark.parametrize("agent", [*RECIPES], indirect=True)


@every_agent
async def test_an_agent_answers_and_ends(agent: RealAgent, place: Place, models: AgentModelServer) -> None:
    ran = await run_bare(agent, "Say hello.", workspace=place.workspace)

    assert ran.exit_code == 0, ran.stderr
    assert LAST[agent.name](ran.frames[-1])
    assert GREETING in ran.stdout or agent.name in IN_PIECES
    (asked,) = models.asked
    assert "Say hello." in asked.conversation.prompt


@every_agent
async def test_a_confined_agent_runs_commands_and_changes_files(
    agent: RealAgent, place: Place, models: AgentModelServer
) -> None:
    """What a profile says is enough: its state is writable, the network is there, nothing more."""
    told, made = place.workspace / "told.txt", place.workspace / "made.txt"
    told.write_text("one\n")
    steps = f"[[shell: echo from the shell > shell.txt]] [[edit: {told} | one | two]] [[write: {made} | three]]"

    ran = await run_confined(agent, f"Do it. {steps} [[say: All is done.]]", workspace=place.workspace)

    assert ran.exit_code == 0, ran.stderr
    assert LAST[agent.name](ran.frames[-1])
    assert (place.workspace / "shell.txt").read_text() == "from the shell\n"
    assert (told.read_text(), made.read_text()) == ("two\n", "three\n")
    assert models.asked[-1].move.answer.text == "All is done."


async def test_agno_answers_and_ends(agno_os: AgnoOS) -> None:
    events = await _ask(agno_os, "hello")

    assert events[0] == "RunStarted"
    assert events[-1] == "RunCompleted"


async def test_agno_runs_one_tool_by_itself_and_stops_before_the_other(agno_os: AgnoOS) -> None:
    events = await _ask(agno_os, "both smoke")

    assert events.count("ToolCallCompleted") == 1
    assert events[-1] == "RunPaused"
    assert "list_documents" in agno_os.executions()
    assert "create_document smoke" not in agno_os.executions()


async def _ask(serving: AgnoOS, message: str) -> list[str]:
    """The names of the events of a run."""
    form = {"message": message, "stream": "true", "session_id": message}
    async with httpx2.AsyncClient(base_url=serving.url, timeout=30) as client:
        answer = await client.post(f"/agents/{serving.agent_id}/runs", data=form)
    return [line.removeprefix("event: ") for line in answer.text.split("\n") if line.startswith("event: ")]
