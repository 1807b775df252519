"""What tables, diffs and lists look like at a terminal, and that a pipe gets none of it."""

import re

import pytest

from tests.cli.program import Shell
from tests.cli.typing_at import on_terminal
from tests.cli.working import done, edit, rows, script, workspace

_PAINT = re.compile(rb"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home with a run that has written a file whose text would like to own the terminal."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    folder = workspace(shell, a="one\n")
    look = {"tools": [{"name": "file_read", "input": {"path": "a.txt"}}]}
    model = script(shell.home, look, edit("a.txt", "one", "\x1b]0;owned\x07\x1b[2Jtwo"), done())
    arguments = ("run", "--model", model, "--workspace", str(folder), "--policy", "trust", "x")
    ended = shell.runwire("--data", str(shell.home / "data"), *arguments)
    assert ended.status == 0, ended.err
    return shell


def _data(shell: Shell) -> tuple[str, str]:
    return "--data", str(shell.home / "data")


def test_a_person_sees_short_ids_relative_times_and_colour(shell: Shell) -> None:
    (run,) = rows(shell.runwire(*_data(shell), "--json", "runs"))
    shown = on_terminal(shell, *_data(shell), "runs").out
    assert b"\x1b[32mcompleted\x1b[0m" in shown
    heading, line = _PAINT.sub(b"", shown).decode().splitlines()
    assert heading.split() == ["RUN", "STATUS", "AGENT", "HEAD", "COST", "UPDATED"]
    assert line.split()[0] == run["run_id"][:16]
    assert line.endswith(" ago")
    assert on_terminal(shell, *_data(shell), "show", line.split()[0]).status == 0


@pytest.mark.parametrize(("option", "env"), [([], {"NO_COLOR": "1"}), (["--no-color"], {}), ([], {"TERM": "dumb"})])
def test_colour_can_be_refused(shell: Shell, option: list[str], env: dict[str, str]) -> None:
    assert b"\x1b" not in on_terminal(shell, *_data(shell), *option, "runs", env=env).out


def test_a_pipe_gets_whole_ids_and_absolute_times(shell: Shell) -> None:
    (run,) = rows(shell.runwire(*_data(shell), "--json", "runs"))
    ended = shell.runwire(*_data(shell), "runs", env={"NO_COLOR": "", "COLUMNS": "40"})
    _, line = ended.out.decode().splitlines()
    assert line.split()[0] == run["run_id"]
    assert line.split()[-1] == run["updated_at"][:19] + "Z"
    assert b"\x1b" not in ended.out


def test_a_table_fits_a_narrow_terminal(shell: Shell) -> None:
    (run,) = rows(shell.runwire(*_data(shell), "--json", "runs"))
    shown = _PAINT.sub(b"", on_terminal(shell, *_data(shell), "artifacts", run["run_id"], columns=60).out).decode()
    assert max(map(len, shown.splitlines())) <= 60


def test_a_diff_is_coloured_for_a_person_and_commands_nobody(shell: Shell) -> None:
    (run,) = rows(shell.runwire(*_data(shell), "--json", "runs"))
    shown = on_terminal(shell, *_data(shell), "diff", run["run_id"]).out
    assert b"\x1b[31m-one\x1b[0m" in shown
    assert b"\x1b" not in _PAINT.sub(b"", shown)
    assert b"\x07" not in shown
    assert b"\x1b]0;owned\x07" in shell.runwire(*_data(shell), "diff", run["run_id"]).out
