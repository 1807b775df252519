"""Driving an agent over stdio, whatever it does: answer, run tools, loop, hang, die, or not listen."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from runwire.agents.profile import Profile
from runwire.agents.visiting import Patience
from runwire.agents.zot.driving import PROFILE
from runwire.host import Failed, Finished, Said
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.shell import ShellExited, ShellOutputChunk
from runwire.testing.host import FakeHost
from tests.agents.driving import breaches, executor_of, host_of, nothing_left, with_program

PROGRAM = Path(__file__).with_name("zot_program.py")


@pytest.fixture
def zot() -> Profile:
    return with_program(PROFILE, PROGRAM)


def texts(host: FakeHost) -> list[str]:
    return [one.text for one in host.payloads if isinstance(one, AssistantTextComplete)]


async def test_an_answer_becomes_the_events_of_the_run(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "say Hello from the other side.")
    ended = await (await executor_of(zot)).run(host)
    assert isinstance(ended, Finished)
    assert texts(host) == ["Hello from the other side."]
    assert host.spent() == 188
    assert "user.message" not in host.types[3:]
    assert breaches(host, ended) == []


async def test_a_command_of_the_agent_is_told_with_its_output_and_its_exit(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "run echo here; touch made; exit 3")
    ended = await (await executor_of(zot)).run(host)
    assert isinstance(ended, Finished)
    assert (tmp_path / "made").exists()
    assert "".join(one.data for one in host.payloads if isinstance(one, ShellOutputChunk)) == "here\n"
    assert [one.exit_code for one in host.payloads if isinstance(one, ShellExited)] == [3]
    assert breaches(host, ended) == []


async def test_an_agent_cannot_write_beside_its_workspace(zot: Profile, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    host = host_of(workspace, f"run touch {outside}/escaped {Path.home()}/escaped; echo tried")
    await (await executor_of(zot)).run(host)
    assert list(outside.iterdir()) == []
    assert not (Path.home() / "escaped").exists()


async def test_an_agent_sees_its_own_keys_and_those_of_nobody_else(zot: Profile, tmp_path: Path) -> None:
    own, workspace = tmp_path / "own", tmp_path / "workspace"
    # Inside of what it may see, so that nothing but hiding hides it.
    others = workspace / "others"
    for folder in (own, workspace, others):
        folder.mkdir()
        (folder / "key").write_text(f"key of {folder.name}\n")
    host = host_of(workspace, f"run cat {own}/key {others}/key 2>&1; touch {own}/kept")
    executor = await executor_of(replace(zot, state=(str(own),)), hidden=(own, others))
    await executor.run(host)
    printed = "".join(one.data for one in host.payloads if isinstance(one, ShellOutputChunk))
    assert "key of own" in printed
    assert "key of others" not in printed
    assert (own / "kept").exists()


async def test_what_people_say_meanwhile_is_the_next_prompt(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "say First.")
    host.waiting.append(Said("say Second.", "ada", "message"))
    ended = await (await executor_of(zot)).run(host)
    assert isinstance(ended, Finished)
    assert texts(host) == ["First.", "Second."]
    assert breaches(host, ended) == []


@pytest.mark.parametrize("prompt", ["slow", "deaf"])
async def test_a_cancelled_run_leaves_no_process_whether_the_agent_listens_or_not(
    zot: Profile, tmp_path: Path, prompt: str
) -> None:
    marker = f"--marker-{tmp_path.name}"
    zot = with_program(PROFILE, PROGRAM, marker)
    host = host_of(tmp_path, prompt)
    executor = await executor_of(zot)
    async with nothing_left(marker):
        running = asyncio.create_task(executor.run(host))
        while not any(one.type == "assistant.text_delta" for one in host.payloads):
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert "turn.failed" in host.types


async def test_an_agent_that_dies_fails_the_run_and_says_how(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "die")
    ended = await (await executor_of(zot)).run(host)
    assert isinstance(ended, Failed)
    assert ended.code == "agent_exited"
    assert "exit status 3" in ended.message
    assert breaches(host, ended) == []


async def test_what_a_failed_agent_complained_about_is_kept(tmp_path: Path) -> None:
    program = tmp_path / "complains.py"
    program.write_text("import sys; sys.stderr.write('no key was found\\n'); sys.exit(1)")
    host = host_of(tmp_path, "anything")
    ended = await (await executor_of(with_program(PROFILE, program))).run(host)
    assert isinstance(ended, Failed)
    assert "no key was found" in ended.message
    assert [body for _, body in host.artifacts.values()] == [b"no key was found\n"]
    assert breaches(host, ended) == []


async def test_an_agent_is_greeted_with_a_secret_of_this_start(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "run test ${#ZOTCORE_RPC_TOKEN} = 32 && echo greeted")
    await (await executor_of(zot)).run(host)
    assert "".join(one.data for one in host.payloads if isinstance(one, ShellOutputChunk)) == "greeted\n"


async def test_an_agent_whose_model_fails_fails_the_run(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "fail")
    ended = await (await executor_of(zot)).run(host)
    assert ended == Failed("model_error", "openai: http 401: no")
    assert breaches(host, ended) == []


async def test_a_budget_interrupts_the_agent(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "run sleep 60", budget_micros_usd=100)
    ended = await (await executor_of(zot)).run(host)
    assert ended == Failed("budget_exceeded", "the budget is spent")
    assert host.types.count("cost.budget_exceeded") == 1
    assert breaches(host, ended) == []


async def test_an_agent_that_goes_on_for_ever_is_stopped_by_our_clock(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "slow")
    ended = await (await executor_of(zot, patience=Patience(wall_clock_s=0.5))).run(host)
    assert ended == Failed("run_timed_out", "the agent worked for more than 0.5 s")
    assert breaches(host, ended) == []


async def test_an_agent_that_falls_silent_is_given_up(tmp_path: Path) -> None:
    silent = with_program(PROFILE, Path(__file__).with_name("silent_program.py"))
    host = host_of(tmp_path, "anything")
    ended = await (await executor_of(silent, patience=Patience(hello_s=1.0, silent_s=1.0))).run(host)
    assert isinstance(ended, Failed)
    assert ended.code == "agent_silent"
    assert breaches(host, ended) == []


async def test_an_agent_that_is_not_installed_says_how_to_get_it(tmp_path: Path) -> None:
    host = host_of(tmp_path, "anything")
    missing = with_program(PROFILE, PROGRAM)
    missing = Profile(
        name="gone",
        dialect="zot",
        about="",
        command=("no-such-agent",),
        speak=missing.speak,
        install="install it by hand",
    )
    ended = await (await executor_of(missing)).run(host)
    assert ended == Failed("agent_not_installed", "no-such-agent is not on this machine; to get it: install it by hand")


async def test_an_agent_whose_worker_died_is_said_to_be_gone(zot: Profile, tmp_path: Path) -> None:
    host = host_of(tmp_path, "anything", fresh=False)
    ended = await (await executor_of(zot)).run(host)
    assert isinstance(ended, Failed)
    assert (ended.code, ended.retriable) == ("agent_gone", True)
