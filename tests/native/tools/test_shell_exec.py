"""shell_exec: commands in the workspace, told as they happen."""

import asyncio
from pathlib import Path

import pytest

from runwire.native.tools.tool import ToolSettings
from runwire.protocol.events.shell import ShellCommand, ShellExited, ShellOutputChunk
from runwire.testing.host import FakeHost
from tests.native.tools.workbench import Bench, bench, facts_for, make_tools


async def test_a_command_is_told_with_its_output_and_kept(ready: Bench) -> None:
    result = await ready.call("shell_exec", {"command": "printf 'a\\nb\\n'; printf x >&2"})
    assert (result.outcome, result.output) in [("completed", "a\nb\nx"), ("completed", "xa\nb\n")]
    assert ready.types == ["tool.shell.command", "tool.shell.exited", "artifact.created"]
    command, exited = ready.host.payloads[3], next(p for p in ready.host.payloads if isinstance(p, ShellExited))
    assert isinstance(command, ShellCommand)
    assert command.argv == ["/bin/sh", "-c", "printf 'a\\nb\\n'; printf x >&2"]
    assert command.sandbox_layer == "none"
    assert command.env_keys == sorted(command.env_keys)
    assert "PATH" in command.env_keys
    assert (exited.exit_code, exited.stdout_bytes, exited.stderr_bytes) == (0, 4, 1)
    ((artifact, body),) = ready.host.artifacts.values()
    assert (artifact.kind, artifact.meta.exit_code, sorted(body)) == ("command_output", 0, sorted(b"a\nb\nx"))


async def test_a_command_that_fails_says_with_which_code(ready: Bench) -> None:
    result = await ready.call("shell_exec", {"command": "echo no; exit 3"})
    assert (result.outcome, result.code) == ("failed", "nonzero_exit")
    assert result.output == "no\n[exit code 3]"
    assert result.summary == "exit code 3, 3 bytes"


async def test_a_command_that_takes_too_long_is_stopped(ready: Bench) -> None:
    result = await ready.call("shell_exec", {"command": "echo begun; sleep 60", "timeout_s": 0.3})
    assert (result.outcome, result.limit) == ("timed_out", "wall_clock")
    assert result.output.startswith("begun\n")


async def test_a_flood_of_output_is_stopped_at_its_cap(workspace: Path, data: Path) -> None:
    tools = make_tools(data, settings=ToolSettings(output_limit_bytes=10_000))
    async with bench(data, FakeHost(facts=facts_for(workspace)), tools) as made:
        result = await made.call("shell_exec", {"command": "yes"})
        assert (result.outcome, result.limit) == ("timed_out", "output_bytes")
        said = sum(len(p.data) for p in made.host.payloads if isinstance(p, ShellOutputChunk))
        assert said == 10_000


async def test_a_folder_to_run_in_must_be_in_the_workspace(ready: Bench) -> None:
    (ready.workspace / "sub").mkdir()
    assert (await ready.call("shell_exec", {"command": "pwd", "cwd": "sub"})).output == f"{ready.workspace}/sub\n"
    assert (await ready.call("shell_exec", {"command": "pwd", "cwd": "../"})).code == "path_refused"
    assert (await ready.call("shell_exec", {"command": "pwd", "cwd": "none"})).code == "folder_not_found"


async def test_nothing_runs_unconfined_unless_that_was_allowed(workspace: Path, data: Path) -> None:
    async with bench(data, FakeHost(facts=facts_for(workspace, allow_unconfined=False))) as made:
        result = await made.call("shell_exec", {"command": "touch here"})
        assert (result.outcome, result.code) == ("failed", "sandbox_unavailable")
        assert list(workspace.iterdir()) == []


async def test_a_task_s_plain_variables_reach_the_command(workspace: Path, data: Path) -> None:
    async with bench(data, FakeHost(facts=facts_for(workspace, env={"COLOUR": "green"}))) as made:
        assert (await made.call("shell_exec", {"command": "echo $COLOUR"})).output == "green\n"


async def test_a_cancelled_call_leaves_no_process(ready: Bench) -> None:
    call = asyncio.create_task(ready.call("shell_exec", {"command": "echo $$; exec sleep 100"}))
    while not any(isinstance(p, ShellOutputChunk) for p in ready.host.payloads):
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    pid = next(p.data for p in ready.host.payloads if isinstance(p, ShellOutputChunk)).strip()
    assert not Path(f"/proc/{pid}").exists()


async def test_what_would_run_is_said_before_it_runs(ready: Bench) -> None:
    tool = ready.tool("shell_exec")
    given = tool.Input(command="ls  -l\n", timeout_s=5)
    parts = tool.ask(given, ready.toolset.context("call_1", 0))
    assert (parts.summary, parts.argv_text, parts.timeout_ms) == ("ls -l", "ls  -l\n", 5000)
    assert tool.effects == {"reads", "writes", "executes"}
