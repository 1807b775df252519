"""`runwire completion`: shells complete commands, options and ids."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import Shell

_FIXTURE = Path(__file__).parents[2] / "spec" / "fixtures" / "v1" / "completed.jsonl"


def _complete(shell: Shell, line: str) -> list[str]:
    """What bash is offered where the line ends."""
    env = {"_RUNWIRE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    ended = shell.runwire(env=env)
    assert (ended.status, ended.err) == (0, "")
    return [offer.partition(",")[2] for offer in ended.out.decode().splitlines() if offer]


def test_commands_and_options_are_completed(shell: Shell) -> None:
    assert _complete(shell, "runwire appro") == ["approvals", "approve"]
    assert _complete(shell, "runwire approve --s") == ["--scope"]
    assert _complete(shell, "runwire approve --scope al") == ["always"]


def test_ids_are_completed_and_nothing_is_made_by_looking(shell: Shell) -> None:
    data = shell.home / "data"
    assert _complete(shell, f"runwire --data {data} show run_") == []
    assert not data.exists()
    run_id = shell.runwire("--data", str(data), "import", str(_FIXTURE)).out.decode().strip()
    assert _complete(shell, f"runwire --data {data} show {run_id[:9]}") == [run_id]
    assert _complete(shell, f"runwire diff --data {data} ") == [run_id]
    assert _complete(shell, f"runwire --data {data} show run_ZZ") == []


def test_a_gateway_that_is_not_there_does_not_disturb_the_shell(shell: Shell) -> None:
    assert _complete(shell, "runwire --url http://127.0.0.1:9 show run_") == []


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_understands(shell: Shell, name: str, tmp_path: Path) -> None:
    ended = shell.runwire("completion", name)
    assert ended.status == 0
    assert b"_RUNWIRE_COMPLETE" in ended.out
    program = shutil.which(name)
    if program is not None:
        script = tmp_path / "script"
        script.write_bytes(ended.out)
        subprocess.run([program, "-n", str(script)], check=True, capture_output=True)


def test_another_shell_is_status_2(shell: Shell) -> None:
    assert shell.runwire("completion", "tcsh").status == 2
