"""Ends: cancelled, hung up, killed, restarted. Whatever happens, somebody is told and nothing is left behind."""

import asyncio
import json
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.acp.editor import PATIENCE_S, Editor, editing
from tests.acp.test_prompting import run_of, wait_for
from tests.cli.program import RUNWIRE, Shell
from tests.cli.running import Gateway
from tests.cli.working import done, rows, script, sh, workspace


def run_status(shell: Shell, data: Path) -> str:
    """How the newest run stands."""
    return str(rows(shell.runwire("--data", str(data), "--json", "runs"))[0]["status"])


@contextmanager
def unread_program(
    shell: Shell, data: Path, model: str
) -> "Generator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]":
    """The program with nobody who reads what it writes."""
    command = [*RUNWIRE, "--data", str(data), "acp", "--model", model]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=shell.environment(), cwd=shell.home
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process, process.stdin, process.stdout
        finally:
            process.kill()


async def until_status(shell: Shell, data: Path, status: str) -> None:
    """Wait until the newest run stands so."""
    async with asyncio.timeout(PATIENCE_S):
        while await asyncio.to_thread(run_status, shell, data) != status:
            await asyncio.sleep(0.1)


async def begun(editor: Editor, folder: Path) -> "tuple[str, asyncio.Task[Any]]":
    """A conversation whose run waits in a tool, and the prompt that waits for the run."""
    chat = await editor.new(folder)
    prompt = asyncio.create_task(editor.prompt(chat))
    await editor.until(lambda: "begun" in str(editor.calls(chat)))
    return chat, prompt


@pytest.mark.parametrize("embedded", [False, True])
async def test_a_prompt_that_is_cancelled_in_the_middle_of_a_tool_ends_and_the_next_one_goes_on(
    shell: Shell, tmp_path: Path, request: pytest.FixtureRequest, embedded: bool
) -> None:
    if not embedded:
        request.getfixturevalue("gateway")
    model = script(shell.home, sh(wait_for("never")), done("Something else."))
    async with editing(shell, tmp_path / "data", "--model", model) as editor:
        chat, prompt = await begun(editor, workspace(shell))
        await editor.agent.cancel(session_id=chat)
        answer = await prompt
        assert answer.stop_reason == "cancelled"
        assert [one["status"] for one in editor.calls(chat).values()] == ["failed"]
        assert (await editor.prompt(chat, "do something else")).stop_reason == "end_turn"
        assert editor.said(chat) == "Something else."
    assert shell.runwire("--data", str(tmp_path / "data"), "verify", run_of(answer)).status == 0


async def test_a_request_that_the_editor_gives_up_on_is_a_prompt_that_is_cancelled(
    shell: Shell, gateway: Gateway
) -> None:
    model = script(shell.home, sh(wait_for("never")))
    async with editing(shell, gateway.data, "--model", model) as editor:
        _, prompt = await begun(editor, workspace(shell))
        # The requests before it were initialize and session/new.
        await editor.agent._conn.send_notification("$/cancel_request", {"requestId": 2})
        assert (await prompt).stop_reason == "cancelled"


async def test_an_editor_that_reads_nothing_can_still_cancel_and_hang_up(shell: Shell, gateway: Gateway) -> None:
    # More than any pipe and any outbox holds, and then a run that does not end by itself.
    folder = workspace(shell)
    model = script(shell.home, {"text": "x" * 1_500_000, **sh(f"touch arrived; {wait_for('never')}")})
    with unread_program(shell, gateway.data, model) as (process, stdin, stdout):

        def write(message: dict[str, object]) -> None:
            stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            stdin.flush()

        write({"id": 1, "method": "session/new", "params": {"cwd": str(folder), "mcpServers": []}})
        chat = json.loads(stdout.readline())["result"]["sessionId"]
        prompt = [{"type": "text", "text": "please"}]
        write({"id": 2, "method": "session/prompt", "params": {"sessionId": chat, "prompt": prompt}})
        async with asyncio.timeout(PATIENCE_S):
            while not (folder / "arrived").exists():
                await asyncio.sleep(0.05)
        write({"method": "session/cancel", "params": {"sessionId": chat}})
        await until_status(shell, gateway.data, "cancelled")
        stdin.close()
        assert await asyncio.to_thread(process.wait, PATIENCE_S) == 0


async def test_a_gateway_that_restarts_in_the_middle_of_a_prompt_is_waited_for(shell: Shell, gateway: Gateway) -> None:
    folder = workspace(shell)
    model = script(shell.home, {"text": "Before. ", **sh(wait_for("go"))}, done("After."))
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat, prompt = await begun(editor, folder)
        await asyncio.to_thread(gateway.restart, signal.SIGTERM)
        (folder / "go").touch()
        answer = await prompt
        assert answer.stop_reason == "end_turn"
        assert editor.said(chat) == "Before. After."


async def test_a_cancel_while_the_gateway_is_away_is_answered_and_reaches_it_later(
    shell: Shell, gateway: Gateway
) -> None:
    # Whoever takes the run up finds that the first command was lost, and begins the second.
    model = script(shell.home, sh(wait_for("never")), sh(wait_for("never")))
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat, prompt = await begun(editor, workspace(shell))
        await asyncio.to_thread(gateway.stop, signal.SIGKILL)
        await editor.agent.cancel(session_id=chat)
        assert (await prompt).stop_reason == "cancelled"
        await asyncio.to_thread(gateway.restart)
        await until_status(shell, gateway.data, "cancelled")


async def test_without_a_gateway_a_prompt_is_refused_with_what_to_do(shell: Shell, gateway: Gateway) -> None:
    async with editing(shell, gateway.data, "--model", script(shell.home, done())) as editor:
        chat = await editor.new(workspace(shell))
        gateway.stop(signal.SIGKILL)
        assert "`runwire up` starts one" in str(await editor.refused(chat))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
async def test_a_run_outlives_its_editor(shell: Shell, gateway: Gateway, how: signal.Signals | None) -> None:
    folder = workspace(shell)
    model = script(shell.home, sh(wait_for("go")), done("After."))
    async with editing(shell, gateway.data, "--model", model) as editor:
        chat, prompt = await begun(editor, folder)
        if how is not None:
            editor.process.send_signal(how)
        elif editor.process.stdin is not None:
            editor.process.stdin.close()
        assert await editor.process.wait() == (-how if how is signal.SIGKILL else 0)
        await asyncio.wait({prompt})
        assert isinstance(prompt.exception(), ConnectionError)
    async with editing(shell, gateway.data, "--model", model) as editor:
        await editor.agent.load_session(cwd=str(folder), session_id=chat)
        assert "begun" in str(editor.calls(chat))
        # Loaded once more, it is told once more from the beginning, and from then on once.
        await editor.agent.load_session(cwd=str(folder), session_id=chat)
        (folder / "go").touch()
        await editor.until(lambda: editor.said(chat))
        # The script has no more turns; by the time that this is told, everything else is.
        assert "script_exhausted" in str(await editor.refused(chat, "go on"))
        assert editor.said(chat) == "After."


async def test_a_run_that_is_carried_out_by_the_command_itself_is_cancelled_with_it(
    shell: Shell, tmp_path: Path
) -> None:
    model = script(shell.home, sh(wait_for("never")))
    async with editing(shell, tmp_path / "data", "--model", model) as editor:
        _, prompt = await begun(editor, workspace(shell))
    assert editor.process.returncode == 0
    await asyncio.wait({prompt})
    assert run_status(shell, tmp_path / "data") == "cancelled"


def test_whatever_an_editor_writes_is_answered_and_nothing_but_the_protocol_is_printed(
    shell: Shell, tmp_path: Path
) -> None:
    lines: list[tuple[bytes, object, int | None]] = [
        (b"not json", None, -32700),
        (b'{"jsonrpc":"2.0","id":', None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'{"jsonrpc":"2.0","id":6,"method":"initialize","params":' + b"[" * 100_000, None, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', None, -32600),
        (b'"hello"', None, -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"initialize"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":7}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":"a","method":"session/nothing"}', "a", -32601),
        (b'{"jsonrpc":"2.0","id":8,"method":"_own/method","params":{}}', 8, -32601),
        (b'{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"cwd":5}}', 9, -32602),
        (b'{"jsonrpc":"2.0","id":10,"method":"session/new","params":[]}', 10, -32602),
        (b'{"jsonrpc":"2.0","id":11,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}', 11, -32002),
        (b'{"jsonrpc":"2.0","id":12,"method":"initialize","params":{"protocolVersion":99}}', 12, None),
    ]
    silent = [
        b"",
        b'{"jsonrpc":"2.0","method":"session/nothing"}',
        b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}',
        b'{"jsonrpc":"2.0","method":"session/cancel","params":7}',
        b'{"jsonrpc":"2.0","id":99,"result":{}}',
        b'{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"no"}}',
    ]
    feed = b"\n".join([*silent, *(line for line, _, _ in lines)])
    ended = shell.runwire("--data", str(tmp_path / "data"), "acp", feed=feed)
    assert (ended.status, ended.err) == (0, "")
    answers = [json.loads(line) for line in ended.out.splitlines()]
    assert all(set(one) in ({"jsonrpc", "id", "error"}, {"jsonrpc", "id", "result"}) for one in answers)
    found = sorted((str(one["id"]), one.get("error", {}).get("code")) for one in answers)
    assert found == sorted((str(given), code) for _, given, code in lines)
    (hello,) = [one["result"] for one in answers if "result" in one]
    assert hello["protocolVersion"] == 1


def test_the_help_of_the_program_loads_nothing_of_it(shell: Shell) -> None:
    code = "import sys; from runwire.cli.program import run; run(['--help']); print([m for m in sys.modules if 'acp' in m])"
    done_ = subprocess.run([RUNWIRE[0], "-c", code], capture_output=True, env=shell.environment(), check=True)
    assert done_.stdout.splitlines()[-1] == b"[]"
