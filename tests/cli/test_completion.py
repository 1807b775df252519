"""`runwire completion`: shells complete commands, options and ids."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runwire.cli.completing import SHELLS
from tests.cli.emulated import terminal
from tests.cli.program import Shell

_FIXTURE = Path(__file__).parents[2] / "spec" / "fixtures" / "v1" / "completed.jsonl"
# How a shell is started without anybody's settings, and what it is told before it completes.
_BARE = {
    "bash": (["--norc", "--noprofile", "-i"], ":"),
    "zsh": (["-f", "-i"], "autoload -U compinit; compinit -D -u"),
}


def _complete(shell: Shell, line: str) -> list[str]:
    """What bash is offered where the line ends."""
    env = {"_RUNWIRE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    ended = shell.runwire(env=env)
    assert (ended.status, ended.err) == (0, "")
    return [offer.partition(",")[2] for offer in ended.out.decode().splitlines() if offer]


def _program(name: str) -> str:
    program = shutil.which(name)
    assert program is not None, f"{name} is not installed: scripts/shells installs it"
    return program


def _script(shell: Shell, name: str) -> Path:
    """What `runwire completion` prints for a shell, as a file."""
    ended = shell.runwire("completion", name)
    assert ended.status == 0
    script = shell.home / f"completion.{name}"
    script.write_bytes(ended.out)
    return script


def _around(shell: Shell) -> dict[str, str]:
    """What a shell sees around it: `runwire` is at hand, and a data directory that has a run."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return shell.environment({"PATH": path, "RUNWIRE_DATA": str(shell.home / "data")})


def _imported(shell: Shell) -> str:
    """The id of a run that is there."""
    return shell.runwire("--data", str(shell.home / "data"), "import", str(_FIXTURE)).out.decode().strip()


def test_commands_and_options_are_completed(shell: Shell) -> None:
    assert _complete(shell, "runwire appro") == ["approvals", "approve"]
    assert _complete(shell, "runwire approve --s") == ["--scope"]
    assert _complete(shell, "runwire approve --scope al") == ["always"]


def test_ids_are_completed_and_nothing_is_made_by_looking(shell: Shell) -> None:
    data = shell.home / "data"
    assert _complete(shell, f"runwire --data {data} show run_") == []
    assert not data.exists()
    run_id = _imported(shell)
    assert _complete(shell, f"runwire --data {data} show {run_id[:9]}") == [run_id]
    assert _complete(shell, f"runwire diff --data {data} ") == [run_id]
    assert _complete(shell, f"runwire --data {data} show run_ZZ") == []


def test_a_gateway_that_is_not_there_does_not_disturb_the_shell(shell: Shell) -> None:
    assert _complete(shell, "runwire --url http://127.0.0.1:9 show run_") == []


@pytest.mark.parametrize("name", SHELLS)
def test_the_script_is_one_that_the_shell_understands(shell: Shell, name: str) -> None:
    subprocess.run([_program(name), "-n", str(_script(shell, name))], check=True, capture_output=True)


@pytest.mark.parametrize("name", sorted(_BARE))
def test_an_id_is_completed_in_the_line_that_somebody_types(shell: Shell, name: str) -> None:
    options, first = _BARE[name]
    run_id = _imported(shell)
    script = _script(shell, name)
    with terminal(shell, *options, program=[_program(name)], env=_around(shell)) as shown:
        shown.type(f"{first}; source {script}; PS1='at'' hand> '\n")
        shown.see("at hand>")
        shown.type(f"runwire show {run_id[:9]}")
        shown.complete(f"at hand> runwire show {run_id}")


def test_an_id_is_completed_by_fish(shell: Shell) -> None:
    run_id = _imported(shell)
    asked = f"source {_script(shell, 'fish')}; complete --do-complete 'runwire show {run_id[:9]}'"
    command = [_program("fish"), "--no-config", "--command", asked]
    told = subprocess.run(command, check=True, capture_output=True, env=_around(shell))
    # Behind a tab fish shows what the run is.
    assert told.stdout.decode() == f"{run_id}\tcompleted external\n"


def test_another_shell_is_status_2(shell: Shell) -> None:
    assert shell.runwire("completion", "tcsh").status == 2
