"""What the command says of itself: version, help, wrong usage. And what it does not load to say it."""

import statistics
import subprocess
import sys
import time

import pytest

from runwire.cli.program import COMMANDS
from runwire.version import VERSION
from tests.cli.program import RUNWIRE, Shell, surroundings


def test_the_version_is_on_stdout(shell: Shell) -> None:
    ended = shell.runwire("--version")
    assert (ended.status, ended.out, ended.err) == (0, f"runwire {VERSION}\n".encode(), "")


def test_the_version_is_also_told_among_other_options(shell: Shell) -> None:
    ended = shell.runwire("--no-color", "--version")
    assert (ended.status, ended.out) == (0, f"runwire {VERSION}\n".encode())


def _loaded(*arguments: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    code = (
        "import sys; from runwire.cli.entry import main; sys.argv = ['runwire', *sys.argv[1:]]; main();"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, env=surroundings(), text=True, check=True
    )
    return set(done.stderr.split())


def test_the_version_is_told_without_loading_anything_heavy() -> None:
    assert _loaded("--version") & {"click", "httpx2", "msgspec", "asyncio", "importlib.metadata", "re"} == set()


def test_the_help_is_told_without_loading_any_command() -> None:
    loaded = _loaded("--help")
    assert {name for name in loaded if name.startswith("runwire.cli.commands")} == set()
    assert loaded & {"httpx2", "rich", "uvicorn", "apsw", "starlette"} == set()


def _seconds(*command: str) -> float:
    times = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run(command, capture_output=True, env=surroundings(), check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def test_the_version_costs_little_more_than_importing_the_encoder() -> None:
    assert _seconds(*RUNWIRE, "--version") <= 1.3 * _seconds(sys.executable, "-c", "import msgspec")


def test_the_help_costs_little_more_than_importing_what_draws_and_what_calls() -> None:
    assert _seconds(*RUNWIRE, "--help") <= 1.5 * _seconds(sys.executable, "-c", "import rich, httpx2")


def test_the_help_names_every_command_and_every_global_option(shell: Shell) -> None:
    ended = shell.runwire("--help")
    text = ended.out.decode()
    assert ended.status == 0
    assert [entry.name for entry in COMMANDS if f"\n  {entry.name} " not in text] == []
    for option in ("--url", "--token", "--data", "--json", "--no-color"):
        assert option in text


@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS])
def test_every_command_helps_with_examples_and_takes_the_global_options(shell: Shell, name: str) -> None:
    ended = shell.runwire(name, "--help")
    text = ended.out.decode()
    assert ended.status == 0
    assert "Examples:" in text
    assert f"runwire {name}" in text
    assert "--data DIR" in text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nonsense"], "no such command 'nonsense'"),
        (["events"], "missing argument 'RUN'"),
        (["events", "run_1", "--after", "soon"], "--after"),
        (["events", "run_1", "--frobnicate"], "--frobnicate"),
        (["export", "run_1", "a", "-o", "b"], "name the file once"),
        (["watch"], "name the runs to watch, or say --all"),
        (["watch", "run_1", "--all"], "name the runs to watch, or say --all"),
        (["replay", "run_1", "--speed", "0"], "neither a number above 0 nor `max`"),
        (["verify", "run_1", "--head", "abc"], "is not a chain value"),
        (["prune", "--max-age", "soon"], "is not a duration such as 30d"),
        (["prune", "--max-bytes", "many"], "is not a size such as 500MB"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_and_what_to_do(
    shell: Shell, arguments: list[str], complaint: str
) -> None:
    ended = shell.runwire(*arguments)
    assert (ended.status, ended.out) == (2, b"")
    first, second = ended.err.splitlines()
    assert first.startswith("error: ")
    assert complaint in first
    assert second.startswith("hint:  ")


def test_no_arguments_at_all_is_wrong_usage_and_shows_the_help(shell: Shell) -> None:
    ended = shell.runwire()
    assert (ended.status, ended.out) == (2, b"")
    assert "Commands:" in ended.err


def test_a_setting_that_makes_no_sense_is_wrong_usage(shell: Shell) -> None:
    ended = shell.runwire("runs", env={"RUNWIRE_PORT": "many"})
    assert ended.status == 2
    assert "'port' cannot be 'many'" in ended.err
