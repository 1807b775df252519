"""Runs without a model: a call and its end, also when another worker had begun it."""

import pytest
from msgspec.structs import replace

from runwire.host import Failed, Finished, No, ToolAsk, Verdict
from runwire.native.direct import DirectExecutor, call_of
from runwire.native.loop.state import Call
from runwire.native.tools.commands import Grounds
from runwire.native.tools.git_exec import GitExec
from runwire.native.tools.shell_exec import ShellExec
from runwire.native.tools.tool import AnyTool
from runwire.protocol.lifecycle import check
from runwire.testing.clock import ManualClock
from runwire.testing.host import Decide, FakeHost, allow
from tests.native.playing import Player, Tools

GROUNDS = Grounds()


def host_of(player: Player, kind: str, given: dict[str, object], decide: Decide = allow) -> FakeHost:
    facts = replace(player.facts, kind=kind, model=None, input=given, allow_unconfined=True)
    return FakeHost(facts=facts, decide=decide)


def executor(player: Player, *tools: AnyTool) -> DirectExecutor:
    return DirectExecutor(toolbox=Tools(player.root, tools), clock=ManualClock())


async def test_a_shell_command_is_a_run(player: Player) -> None:
    host = host_of(player, "shell", {"command": "echo hello > there; cat there"})

    ended = await executor(player, ShellExec(GROUNDS)).run(host)
    host.end(ended)

    assert isinstance(ended, Finished)
    assert (player.root.path / "there").read_text("utf-8") == "hello\n"
    assert host.types == [
        "run.queued",
        "run.started",
        "tool.invoked",
        "tool.started",
        "tool.shell.command",
        "tool.shell.exited",
        "artifact.created",
        "tool.completed",
        "run.finished",
    ]
    assert list(check(host.envelopes())) == []


async def test_a_command_that_fails_fails_the_run(player: Player) -> None:
    ended = await executor(player, ShellExec(GROUNDS)).run(host_of(player, "shell", {"command": "exit 3"}))

    assert isinstance(ended, Failed)
    assert ended.code == "nonzero_exit"


async def test_git_is_given_its_arguments_as_they_are(player: Player) -> None:
    git = executor(player, GitExec(GROUNDS))
    ended = await git.run(host_of(player, "git", {"args": ["--version", "; touch", "$(hacked)"]}))

    assert isinstance(ended, (Finished, Failed))
    assert list(player.root.path.iterdir()) == []


async def test_an_input_that_makes_no_sense_fails_the_run(player: Player) -> None:
    ended = await executor(player, ShellExec(GROUNDS)).run(host_of(player, "shell", {"comand": "true"}))

    assert isinstance(ended, Failed)
    assert ended.code == "invalid_input"


@pytest.mark.parametrize(("stop", "code"), [(False, "tool_blocked"), (True, "approval_denied")])
async def test_a_call_that_may_not_happen_fails_the_run(player: Player, *, stop: bool, code: str) -> None:
    async def decide(_: ToolAsk) -> Verdict:
        return No("not here", stop=stop)

    host = host_of(player, "shell", {"command": "true"}, decide)
    ended = await executor(player, ShellExec(GROUNDS)).run(host)

    assert isinstance(ended, Failed)
    assert ended.code == code
    # Another worker that finds the refusal in the log comes to the same end.
    again = FakeHost(facts=replace(host.facts, fresh=False), past=host.log)
    assert await executor(player).run(again) == ended


async def test_a_command_that_had_begun_is_never_run_again(player: Player) -> None:
    tool = ShellExec(GROUNDS)
    host = host_of(player, "shell", {"command": "echo x >> counter"})
    ended = await executor(player, tool).run(host)
    assert isinstance(ended, Finished)

    for cut in range(2, len(host.log) + 1):
        (player.root.path / "counter").write_text("", "utf-8")
        later = FakeHost(facts=replace(host.facts, fresh=False), past=host.log[:cut])
        outcome = await executor(player, tool).run(later)
        later.end(outcome)

        began = any(event.payload.type == "tool.invoked" for event in host.log[:cut])
        assert (player.root.path / "counter").read_text("utf-8") == ("" if began else "x\n"), cut
        if began and cut < len(host.log):
            assert isinstance(outcome, Failed), cut
            assert (outcome.code, outcome.retriable) == ("interrupted", True)
        assert list(check(later.envelopes())) == [], cut


@pytest.mark.parametrize(
    ("operation", "tool"), [("write", "file_write"), ("edit", "edit_file"), ("delete", "file_delete")]
)
def test_an_operation_on_a_file_is_a_tool(operation: str, tool: str) -> None:
    assert call_of("run_1", "file", {"operation": operation, "path": "a"}) == Call("call_1", tool, {"path": "a"})


@pytest.mark.parametrize(("kind", "given"), [("file", {"operation": "burn"}), ("file", {}), ("dance", {})])
def test_a_run_of_no_known_sort_fails(kind: str, given: dict[str, object]) -> None:
    assert isinstance(call_of("run_1", kind, given), Failed)
