"""An agent that speaks ACP, driven by a run."""

import asyncio
from pathlib import Path

import pytest

from runwire.agents.acp.driving import PROFILE
from runwire.agents.profile import Profile
from runwire.host import Answer, Failed, Finished
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellExited
from runwire.testing.host import answers
from tests.agents.driving import breaches, executor_of, host_of, nothing_left, with_program
from tests.patience import PATIENCE_S

PROGRAM = Path(__file__).with_name("acp_program.py")


@pytest.fixture
def agent() -> Profile:
    return with_program(PROFILE, PROGRAM, "open")


@pytest.mark.parametrize("allowed", [True, False])
async def test_what_the_agent_asks_is_decided_by_the_run(agent: Profile, tmp_path: Path, allowed: bool) -> None:
    command = "touch made; exit 3"
    host = host_of(tmp_path, command, answers(Answer(allowed=allowed, input={"command": command}, told="not today")))
    ended = await (await executor_of(agent)).run(host)
    assert isinstance(ended, Finished)
    assert (tmp_path / "made").exists() is allowed
    exits = [one.exit_code for one in host.payloads if isinstance(one, ShellExited)]
    refusals = [one.reason for one in host.payloads if isinstance(one, PolicyToolBlocked)]
    assert (exits, refusals) == (([3], []) if allowed else ([], ["not today"]))
    # It wanted to write through us, which nobody offered, and went on when it was told so.
    assert [one.text for one in host.payloads if isinstance(one, AssistantTextComplete)] == ["Done."]
    assert breaches(host, ended) == []


async def test_an_agent_that_lets_nobody_in_is_not_waited_for(tmp_path: Path) -> None:
    host = host_of(tmp_path, "echo")
    async with asyncio.timeout(PATIENCE_S):
        ended = await (await executor_of(with_program(PROFILE, PROGRAM, "locked"))).run(host)
    assert ended == Failed("rejected", "Authentication required")
    assert breaches(host, ended) == []


async def test_a_run_that_is_cancelled_cancels_the_prompt(agent: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "wait")
    async with nothing_left(str(PROGRAM)):
        running = asyncio.create_task((await executor_of(agent)).run(host))
        async with asyncio.timeout(PATIENCE_S):
            while "turn.started" not in host.types and not running.done():
                await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert "turn.failed" in host.types
