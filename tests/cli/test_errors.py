"""Mistakes at the keyboard: what is wrong, then what to do, the right status, and nothing left behind."""

from pathlib import Path

import pytest

from tests.cli.program import Shell
from tests.cli.working import done, script

_RUN = "run_01JC0000000000000000000001"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home with a data directory that has seen one run."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    model = script(shell.home, done())
    assert shell.runwire("--data", "data", "run", "--mode", "scratch", "--model", model, "x").status == 0
    return shell


@pytest.mark.parametrize(
    ("arguments", "status", "what", "to_do"),
    [
        (["show", ""], 2, "'' is no id", "runwire show --help"),
        (["show", "../tasks"], 2, "'../tasks' is no id", "runwire show --help"),
        (["show", _RUN], 4, f"there is no run {_RUN}", "`runwire runs` lists"),
        (["verify", ""], 2, "'' is neither a run nor a file", "runwire verify --help"),
        (["diff", "art_1"], 4, "there is no artifact art_1", "`runwire artifacts RUN` lists"),
        (["say", _RUN, "  "], 2, "there is nothing in TEXT", "runwire say --help"),
        (["runs", "--status", "bogus"], 2, "'bogus' is not one of 'queued', 'running'", "runwire runs --help"),
        (["usage", "--since", "x"], 2, "'x' is neither a time ago such as 2d", "runwire usage --help"),
        (["run", "--budget-usd", "nan", "x"], 2, "'nan' is no amount of dollars", "runwire run --help"),
        (["run", "--budget-usd", "inf", "x"], 2, "'inf' is no amount of dollars", "runwire run --help"),
        (["run", "--policy", "nope", "x"], 2, "'nope' is not one of 'default', 'ask'", "runwire run --help"),
        (["run", "x"], 2, "an agent needs a model", "runwire run --help"),
        (["completion"], 2, "Choose from: bash, zsh, fish", "runwire completion --help"),
        (["import", "\x1b[31mred"], 4, "cannot read \\u{1b}[31mred", "check the path"),
        (["replay", "./script.json", "--speed", "1"], 1, "this is no log of envelopes", "`runwire export` writes"),
    ],
)
def test_a_mistake_says_what_and_then_what_to_do(
    shell: Shell, arguments: list[str], status: int, what: str, to_do: str
) -> None:
    ended = shell.runwire("--data", "data", *arguments)
    error, hint = ended.err.rstrip("\n").split("\n")
    assert (ended.status, ended.out) == (status, b"")
    assert error.startswith("error: ")
    assert what in error
    assert hint.startswith("hint:  ")
    assert to_do in hint


def test_a_file_that_cannot_be_written_is_not_there_afterwards(shell: Shell, tmp_path: Path) -> None:
    run_id = shell.runwire("--data", "data", "runs").out.decode().split()[-6]
    ended = shell.runwire("--data", "data", "export", run_id, str(tmp_path / "no" / "file"))
    assert ended.status == 1
    assert ended.err.startswith(
        f"error: cannot write {tmp_path / 'no' / 'file'}: No such file or directory\nhint:  name a file"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_place_beyond_the_end_says_how_to_find_the_end(shell: Shell) -> None:
    run_id = shell.runwire("--data", "data", "runs").out.decode().split()[-6]
    ended = shell.runwire("--data", "data", "resume", run_id, "--from", "999")
    assert ended.status == 2
    assert "hint:  `runwire show RUN` tells how many events the run has" in ended.err


def test_a_stream_without_a_word_says_why_it_failed(shell: Shell) -> None:
    ended = shell.runwire("--data", "data", "ingest", "--agent", "zot")
    assert ended.status == 1
    assert (
        "error: the run failed: the agent said nothing that could be understood\nhint:  `runwire show run_" in ended.err
    )
