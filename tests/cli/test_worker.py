"""`runwire worker`: a process that only works."""

import signal
import subprocess
from pathlib import Path

import msgspec
import pytest

from tests.cli.program import RUNWIRE, Shell
from tests.cli.running import running
from tests.cli.working import done, script, sh, types


def _worker(shell: Shell, data: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [*RUNWIRE, "--data", str(data), "--json", "worker", "--slots", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=shell.environment({"RUNWIRE_CLOSE_GRACE_S": "0.2"}),
    )
    assert process.stdout is not None
    assert msgspec.json.decode(process.stdout.readline())["pid"] == process.pid
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_works_beside_a_gateway_that_does_not_and_ends_in_order(
    shell: Shell, tmp_path: Path, number: signal.Signals
) -> None:
    model = script(shell.home, sh("echo hello"), done())
    with running(shell, tmp_path / "data", "--workers", "0") as gateway, _worker(shell, gateway.data) as process:
        ended = shell.runwire("--data", str(gateway.data), "--json", "run", "--model", model, "--mode", "scratch", "x")
        assert ended.status == 0
        assert types(ended.out.splitlines())[-1] == "run.finished"
        process.send_signal(number)
        assert process.wait(20) == 0


def test_slots_are_counted_from_1(shell: Shell, tmp_path: Path) -> None:
    assert shell.runwire("--data", str(tmp_path / "data"), "worker", "--slots", "0").status == 2
