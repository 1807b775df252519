"""MCP servers, real ones over stdio and HTTP: their tools are tools like any other."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from runwire.host import McpServer
from runwire.native.mcp import servers as sessions
from runwire.native.mcp.tool import NAME_MAX, offered_name
from runwire.native.tools.schema import spec_of
from runwire.testing.host import FakeHost
from runwire.workspace.sandbox.choosing import choose
from tests.native.mcp import servers
from tests.native.mcp.servers import PNG, http_server
from tests.native.tools.workbench import ENVIRON, Bench, bench, facts_for, make_tools
from tests.patience import PATIENCE_S

STDIO = McpServer(command=sys.executable, args=[str(Path(servers.__file__))], timeout_s=20)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@asynccontextmanager
async def served(
    workspace: Path, named: Mapping[str, McpServer], *, inherited: Mapping[str, str] = ENVIRON
) -> AsyncGenerator[Bench]:
    data = workspace.parent / "data"
    data.mkdir(exist_ok=True)
    facts = facts_for(workspace, mcp_servers=dict(named), allow_hosts=["127.0.0.1"])
    async with bench(data, FakeHost(facts=facts), make_tools(data, inherited=inherited)) as made:
        yield made


@asynccontextmanager
async def over(transport: str, workspace: Path) -> AsyncGenerator[Bench]:
    if transport == "stdio":
        async with served(workspace, {"own": STDIO}) as made:
            yield made
    else:
        async with http_server() as url, served(workspace, {"own": McpServer(url=url, timeout_s=20)}) as made:
            yield made


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_server_s_tools_are_offered_and_answer(transport: str, workspace: Path) -> None:
    async with over(transport, workspace) as made:
        tool = made.tool("mcp__own__add")
        spec = spec_of(tool)
        assert spec.about == "Add two numbers."
        assert set(spec.schema["properties"]) == {"a", "b"}  # type: ignore[call-overload] # a JSON Schema
        parts = tool.ask({"a": 1}, made.toolset.context("call_1", 0))
        assert (parts.mcp_server, parts.mcp_tool, parts.timeout_ms) == ("own", "add", 20_000)
        assert parts.hosts == (("127.0.0.1",) if transport == "http" else ())
        assert (tool.kind, tool.effects) == ("mcp", frozenset({"executes", "network"}))
        result = await made.call("mcp__own__add", {"a": 2, "b": 3})
        assert (result.outcome, result.output, result.result) == ("completed", "5", "dispatched")


async def test_a_program_in_the_machine_s_tmp_can_be_a_server(workspace: Path) -> None:
    with TemporaryDirectory(dir="/tmp") as folder:
        program = Path(folder).resolve() / "server.py"
        program.write_bytes(Path(servers.__file__).read_bytes())
        named = McpServer(command=STDIO.command, args=[str(program)], timeout_s=20)
        async with served(workspace, {"own": named}) as made:
            assert (await made.call("mcp__own__add", {"a": 2, "b": 3})).output == "5"


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_what_is_no_text_is_kept_as_artifacts(transport: str, workspace: Path) -> None:
    async with over(transport, workspace) as made:
        drawn = await made.call("mcp__own__picture", {})
        (draft,) = drawn.images
        made.host.emit(kept=[draft])
        assert made.host.artifacts[draft.artifact.artifact_id][1] == PNG
        assert draft.artifact.kind == "image"
        mixed = await made.call("mcp__own__mixed", {})
        kept = [(a.kind, a.meta.mime, body) for a, body in made.host.artifacts.values()][1:]
        assert kept == [
            ("tool_result_blob", "audio/wav", b"\0\1\2"),
            ("tool_result_blob", "application/x-thing", b"\xff\xff\xff"),
        ]
        assert mixed.output.startswith("words\n[")
        assert str(mixed.kept_artifact_id) in mixed.output


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_failure_of_the_tool_is_a_failure_of_the_call(transport: str, workspace: Path) -> None:
    async with over(transport, workspace) as made:
        result = await made.call("mcp__own__fail", {})
        assert (result.outcome, result.code, result.result) == ("failed", "mcp_error", "failed")
        wrong = await made.call("mcp__own__add", {"a": "x"})
        assert wrong.outcome == "failed"


async def test_a_tool_that_takes_too_long_is_given_up(workspace: Path) -> None:
    quick = McpServer(command=STDIO.command, args=STDIO.args, timeout_s=1)
    async with served(workspace, {"own": quick}) as made:
        result = await made.call("mcp__own__slow", {})
        assert (result.outcome, result.limit) == ("timed_out", "wall_clock")
        assert (await made.call("mcp__own__add", {"a": 1, "b": 1})).output == "2"


async def test_a_server_that_dies_fails_its_call_and_is_started_again(workspace: Path) -> None:
    async with served(workspace, {"own": STDIO}) as made:
        async with asyncio.timeout(PATIENCE_S):
            result = await made.call("mcp__own__die", {})
        assert (result.outcome, result.code) == ("failed", "server_unreachable")
        assert (await made.call("mcp__own__add", {"a": 1, "b": 1})).output == "2"


async def test_a_cancelled_call_ends_the_session_with_the_run(workspace: Path) -> None:
    async with served(workspace, {"own": STDIO}) as made:
        call = asyncio.create_task(made.call("mcp__own__slow", {}))
        await asyncio.sleep(0.2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_a_server_that_says_nothing_is_not_waited_for(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CONNECT_S", 0.3)
    async with served(workspace, {"mute": McpServer(command="/bin/cat", args=["/dev/zero"])}) as made:
        assert [one.tool_name for one in made.toolset.unavailable if one.asked_for] == ["mcp__mute"]
    silent = McpServer(command="/bin/sleep", args=["60"])
    async with served(workspace, {"silent": silent}) as made:
        assert [one.tool_name for one in made.toolset.unavailable if one.asked_for] == ["mcp__silent"]


async def test_servers_that_cannot_be_reached_are_told_and_the_others_serve(workspace: Path) -> None:
    named = {
        "gone": McpServer(command="no-such-program"),
        "ends": McpServer(command="/bin/false"),
        "closed": McpServer(url="http://127.0.0.1:1/mcp"),
        "private": McpServer(url="http://10.0.0.1/mcp"),
        "unset": McpServer(command=sys.executable, env={"KEY": "${MCP_NOT_THERE}"}),
        "own": STDIO,
    }
    async with served(workspace, named) as made:
        told = {one.tool_name: one.reason for one in made.toolset.unavailable if one.tool_name.startswith("mcp")}
        assert set(told) == {f"mcp__{name}" for name in named if name != "own"}
        assert told["mcp__private"] == "address_refused"
        assert told["mcp__unset"] == "variable_not_set"
        assert told["mcp__gone"] == told["mcp__ends"] == told["mcp__closed"] == "server_unreachable"
        assert (await made.call("mcp__own__add", {"a": 1, "b": 1})).output == "2"


async def test_only_variables_meant_for_servers_reach_one_and_they_become_secrets(workspace: Path) -> None:
    inherited = {**ENVIRON, "MCP_KEY": "key-for-the-server", "OPENAI_API_KEY": "sk-not-yours"}
    server = McpServer(command=STDIO.command, args=STDIO.args, env={"KEY": "v=${MCP_KEY}", "PLAIN": "p"})
    async with served(workspace, {"own": server}, inherited=inherited) as made:
        text = (await made.call("mcp__own__environment", {})).output
        assert "KEY=v=key-for-the-server\n" in text
        assert "PLAIN=p\n" in text
        assert "sk-not-yours" not in text
        known = made.toolset.bench.secrets.values
        assert [one.kind for one in known if one.value == "key-for-the-server"] == ["mcp.own.key"]
    thief = McpServer(command=STDIO.command, args=STDIO.args, env={"KEY": "${OPENAI_API_KEY}"})
    async with served(workspace, {"thief": thief}, inherited=inherited) as made:
        assert [one.reason for one in made.toolset.unavailable if one.tool_name == "mcp__thief"] == ["variable_not_set"]


async def test_a_server_is_confined_like_a_command(workspace: Path) -> None:
    sandbox = await choose()
    if not sandbox.confines:
        pytest.fail("this machine has no sandbox; install bubblewrap")
    data = workspace.parent / "data"
    data.mkdir()
    (data / "token").write_text("hush")
    (workspace / "own.txt").write_text("mine")
    facts = facts_for(workspace, mcp_servers={"own": STDIO}, allow_unconfined=False)
    tools = make_tools(data, sandbox=sandbox, hidden=(data,))
    async with bench(data, FakeHost(facts=facts), tools) as made:
        assert (await made.call("mcp__own__look", {"path": str(workspace / "own.txt")})).output == "mine"
        assert (await made.call("mcp__own__look", {"path": str(data / "token")})).output != "hush"


def test_names_fit_what_providers_take() -> None:
    assert offered_name("own", "add") == "mcp__own__add"
    assert offered_name("my server", "do.it") == "mcp__my_server__do_it"
    long = offered_name("s" * 40, "t" * 40)
    assert len(long) == NAME_MAX
    assert long != offered_name("s" * 40, "t" * 39 + "u")


async def test_a_server_on_this_machine_is_reached_when_the_task_names_it(workspace: Path) -> None:
    data = workspace.parent / "data"
    data.mkdir()
    async with http_server() as url:
        facts = facts_for(workspace, mcp_servers={"own": McpServer(url=url, timeout_s=20)})
        assert not facts.allow_hosts
        async with bench(data, FakeHost(facts=facts), make_tools(data, inherited=ENVIRON)) as made:
            assert (await made.call("mcp__own__add", {"a": 2, "b": 2})).output == "4"
