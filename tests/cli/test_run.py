"""`runwire run`: have something done and see it done, with a gateway or without."""

import json
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from runwire.protocol.envelope import run_id_of
from tests.cli.program import RUNWIRE, Shell
from tests.cli.running import Gateway, running
from tests.cli.working import done, envelopes, rows, script, sh, types, workspace


@pytest.fixture(params=["embedded", "gateway"], scope="module")
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A data directory, with a gateway on it and without, for all tests."""
    home = tmp_path_factory.mktemp("home")
    if request.param == "embedded":
        yield home / "data"
        return
    with running(Shell(home), home / "data") as gateway:
        yield gateway.data


def test_json_lines_are_the_stored_envelopes_byte_for_byte(shell: Shell, data: Path) -> None:
    model = script(shell.home, sh("echo hello"), done())
    ended = shell.runwire(
        "--data", str(data), "--json", "run", "--model", model, "--workspace", str(workspace(shell)), "Say hello."
    )
    assert (ended.status, ended.err) == (0, "")
    lines = envelopes(ended)
    assert types(lines)[0] == "run.queued"
    assert types(lines)[-1] == "run.finished"
    stored = shell.runwire("--data", str(data), "export", run_id_of(lines[0]))
    assert stored.out == ended.out
    assert shell.runwire("--data", str(data), "verify", run_id_of(lines[0])).status == 0


def test_a_person_sees_text_and_a_line_for_each_call(shell: Shell, data: Path) -> None:
    model = script(shell.home, sh("echo hello"), done("It said hello."))
    ended = shell.runwire("--data", str(data), "run", "--model", model, "--mode", "scratch", "Say hello.")
    assert ended.status == 0
    shown = ended.out.decode()
    assert "$ echo hello\n" in shown
    assert "It said hello.\n" in shown
    assert shown.splitlines()[-1].startswith("completed: 2 turns")


def test_a_failed_run_is_status_1(shell: Shell, data: Path) -> None:
    model = script(shell.home, sh("true"))
    ended = shell.runwire("--data", str(data), "--json", "run", "--model", model, "--mode", "scratch", "x")
    assert ended.status == 1
    assert types(envelopes(ended))[-1] == "run.failed"


def test_the_workspace_is_here_unless_another_is_named(shell: Shell, data: Path) -> None:
    model = script(shell.home, sh("touch made-here"), done())
    assert shell.runwire("--data", str(data), "run", "--model", model, "x").status == 0
    assert (shell.home / "made-here").exists()


def test_a_script_is_named_from_where_the_command_stands(shell: Shell, data: Path) -> None:
    script(shell.home, done())
    ended = shell.runwire("--data", str(data), "run", "--model", "scripted:script.json", "--mode", "scratch", "x")
    assert ended.status == 0


def test_ctrl_c_cancels_the_run_and_is_status_130(shell: Shell, data: Path) -> None:
    model = script(shell.home, sh("sleep 62"))
    process = subprocess.Popen(
        [*RUNWIRE, "--data", str(data), "--json", "run", "--model", model, "--mode", "scratch", "x"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shell.environment(),
        cwd=shell.home,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip(b"\n"))
        if b'"type":"tool.shell.command"' in line:
            process.send_signal(signal.SIGINT)
            break
    out, _ = process.communicate(timeout=30)
    lines += out.splitlines()
    assert process.returncode == 130
    assert types(lines)[-1] == "run.cancelled"
    assert json.loads(lines[-1])["data"]["reason"] == "interrupted"
    assert "tool.cancelled" in types(lines)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "nobody:knows"], "nobody"),
        (["--model", "scripted:missing.json"], "missing.json"),
        (["--agent", "nobody", "--model", "scripted:script.json"], "nobody"),
    ],
)
def test_what_cannot_be_started_is_status_2(shell: Shell, data: Path, arguments: list[str], said: str) -> None:
    script(shell.home, done())
    ended = shell.runwire("--data", str(data), "run", "--mode", "scratch", *arguments, "x")
    assert (ended.status, ended.out) == (2, b"")
    assert ended.err.startswith("error: ")
    assert said in ended.err
    assert "\nhint:  " in ended.err


def test_a_budget_ends_a_run(shell: Shell, data: Path) -> None:
    model = script(shell.home, {**sh("true"), "cost_micros_usd": 20_000}, done())
    ended = shell.runwire(
        "--data", str(data), "--json", "run", "--model", model, "--mode", "scratch", "--budget-usd", "0.01", "x"
    )
    assert ended.status == 1
    assert "cost.budget_exceeded" in types(envelopes(ended))


def test_experimental_types_are_asked_for_by_name(shell: Shell, data: Path) -> None:
    model = script(shell.home, {"thinking": "Hm.", "text": "Yes."})
    ended = shell.runwire(
        *("--data", str(data), "--json", "run", "--model", model, "--mode", "scratch"),
        *("--experimental", "assistant.thinking_delta,assistant.thinking_complete", "x"),
    )
    assert "assistant.thinking_complete" in types(envelopes(ended))


def test_detached_it_prints_the_id_and_leaves_the_run_to_the_gateway(shell: Shell, tmp_path: Path) -> None:
    model = script(shell.home, done())
    with running(shell, tmp_path / "data") as gateway:
        ended = shell.runwire(
            "--data", str(gateway.data), "run", "--detach", "--model", model, "--mode", "scratch", "x"
        )
        assert (ended.status, ended.err) == (0, "")
        run_id = ended.out.decode().strip()
        assert run_id.startswith("run_")
        assert shell.runwire("--data", str(gateway.data), "watch", run_id).status == 0
        assert _status(shell, gateway, run_id) == "completed"


def test_detached_without_a_gateway_the_run_waits_for_one(shell: Shell, tmp_path: Path) -> None:
    model, data = script(shell.home, done()), str(tmp_path / "data")
    ended = shell.runwire("--data", data, "run", "--detach", "--model", model, "--mode", "scratch", "x")
    run_id = ended.out.decode().strip()
    assert (ended.status, run_id[:4]) == (0, "run_")
    assert "runwire up" in ended.err
    with running(shell, tmp_path / "data") as gateway:
        assert shell.runwire("--data", data, "watch", run_id).status == 0
        assert _status(shell, gateway, run_id) == "completed"


def test_a_gateway_that_was_named_and_is_not_there_is_status_3(shell: Shell) -> None:
    model = script(shell.home, done())
    ended = shell.runwire("--url", "http://127.0.0.1:9", "run", "--model", model, "x")
    assert ended.status == 3


def _status(shell: Shell, gateway: Gateway, run_id: str) -> str:
    (row,) = rows(shell.runwire("--data", str(gateway.data), "--json", "show", run_id))
    return str(row["status"])
