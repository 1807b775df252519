"""The same commands where no gateway runs: on the same data directory, with the same result."""

import signal
import subprocess
from pathlib import Path

import pytest

from runwire.protocol.envelope import type_of
from tests.cli.program import RUNWIRE, Shell
from tests.cli.running import running
from tests.cli.working import done, rows, script, types
from tests.client.logs import log
from tests.spec import spec

RUN = "run_01JC0000000000000000000001"
LOG = b"".join(line + b"\n" for line in log(RUN, 5))


@spec("SEQ-6", "CHAIN-4")
def test_what_is_taken_in_without_a_gateway_is_served_by_the_next_one_and_the_other_way_round(
    shell: Shell, tmp_path: Path
) -> None:
    data = ("--data", str(tmp_path / "data"))
    ended = shell.runwire(*data, "import", "-", feed=LOG)
    assert (ended.status, ended.out.decode(), ended.err) == (0, f"{RUN}\n", "")
    assert shell.runwire(*data, "export", RUN).out == LOG
    with running(shell, tmp_path / "data") as gateway:
        assert shell.runwire(*data, "--json", "events", RUN).out == LOG
        assert gateway.stop(signal.SIGTERM) == 0
    assert shell.runwire(*data, "replay", RUN, "--speed", "max").out == LOG
    assert shell.runwire(*data, "verify", RUN).status == 0
    assert RUN in shell.runwire(*data, "runs").out.decode()
    assert "completed" in shell.runwire(*data, "show", RUN).out.decode()
    assert shell.runwire(*data, "token", "list").status == 0
    assert shell.runwire(*data, "prune", "--max-events", "3").status == 0
    assert b"gap.events_pruned" in shell.runwire(*data, "export", RUN).out
    assert shell.runwire(*data, "import", "-", feed=LOG).status == 5
    assert shell.runwire(*data, "export", "run_nowhere").status == 4


def test_what_other_processes_do_is_seen_without_a_gateway(shell: Shell, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    model = script(shell.home, done())
    run_id = shell.runwire(*data, "run", "--detach", "--mode", "scratch", "--model", model, "x").out.decode().strip()
    panes = rows(shell.runwire(*data, "--json", "top"))
    assert [(pane["run_id"], pane["status"]) for pane in panes] == [(run_id, "queued")]
    stored = shell.runwire(*data, "--json", "events", run_id)
    assert types(stored.out.splitlines()) == ["run.queued", "user.message"]
    command = [*RUNWIRE, *data, "--json", "watch", run_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=shell.environment(), cwd=shell.home) as watching:
        assert watching.stdout is not None
        assert type_of(watching.stdout.readline().rstrip()) == "run.queued"
        assert shell.runwire(*data, "cancel", run_id).status == 0
        assert types(watching.stdout.read().splitlines())[-1] == "run.cancelled"
    assert watching.returncode == 1


@pytest.mark.parametrize("arguments", [["events", RUN], ["watch", "--all"], ["watch", RUN], ["top", "--json"]])
def test_live_views_need_a_gateway_where_nothing_is_kept(shell: Shell, tmp_path: Path, arguments: list[str]) -> None:
    # A port that nobody listens on, whatever else may run on this machine.
    ended = shell.runwire("--data", str(tmp_path / "data"), *arguments, env={"RUNWIRE_PORT": "9"})
    assert (ended.status, ended.out) == (3, b"")
    assert ended.err.startswith("error: cannot reach the gateway at http://127.0.0.1:9: ")
    assert "\nhint:  `runwire up` starts one" in ended.err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", ["runs", "show", "export", "verify", "replay"])
def test_a_gateway_that_was_named_is_not_replaced_by_another(shell: Shell, tmp_path: Path, command: str) -> None:
    arguments = [command] if command == "runs" else [command, RUN]
    ended = shell.runwire("--data", str(tmp_path / "data"), "--url", "http://127.0.0.1:9", *arguments)
    assert ended.status == 3
    assert not (tmp_path / "data").exists()


def test_a_data_directory_that_cannot_be_made_is_an_error_and_not_a_traceback(shell: Shell, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    ended = shell.runwire("--data", str(blocked / "data"), "runs")
    assert ended.status == 2
    assert ended.err.startswith(f"error: {blocked}")
    assert "Traceback" not in ended.err
