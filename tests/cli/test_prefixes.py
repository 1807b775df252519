"""Ids can be shortened to a beginning that no other has."""

from pathlib import Path

import pytest

from tests.cli.program import Ended, Shell
from tests.cli.working import done, edit, rows, script, workspace

_COMMANDS = [["show"], ["export"], ["verify"], ["artifacts"], ["diff"], ["replay", "--speed", "max"]]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home with two runs in it, the first of which has changed a file."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    folder = workspace(shell, a="one\n")
    look = {"tools": [{"name": "file_read", "input": {"path": "a.txt"}}]}
    for turns in ([look, edit("a.txt", "one", "two"), done()], [done()]):
        model = script(shell.home, *turns)
        ended = _run(shell, "run", "--model", model, "--workspace", str(folder), "--policy", "trust", "x")
        assert ended.status == 0, ended.err
    return shell


def _run(shell: Shell, *arguments: str) -> Ended:
    return shell.runwire("--data", str(shell.home / "data"), *arguments)


def _ids(shell: Shell) -> list[str]:
    return [row["run_id"] for row in rows(_run(shell, "--json", "runs"))][::-1]


def _shortest(one: str, other: str) -> str:
    """As much of one as tells it from the other."""
    same = next(index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    return one[: same + 1]


@pytest.mark.parametrize("command", _COMMANDS, ids=lambda command: command[0])
def test_a_unique_beginning_is_as_good_as_the_whole_id(shell: Shell, command: list[str]) -> None:
    whole, other = _ids(shell)
    short = _shortest(whole, other)
    name, *options = command
    by_short, by_whole = _run(shell, name, short, *options), _run(shell, name, whole, *options)
    assert (by_short.status, by_short.out) == (0, by_whole.out), by_short.err
    assert by_short.out


def test_a_beginning_that_fits_several_is_status_2_and_names_them(shell: Shell) -> None:
    ids = _ids(shell)
    ended = _run(shell, "show", "run_0")
    assert (ended.status, ended.out) == (2, b"")
    first, second = ended.err.splitlines()
    assert first == "error: more than one run begins with run_0"
    assert all(each in second for each in ids)


def test_a_beginning_that_fits_nothing_is_status_4(shell: Shell) -> None:
    ended = _run(shell, "show", "run_ZZ")
    assert (ended.status, ended.out) == (4, b"")
    assert "there is no run run_ZZ" in ended.err


def test_artifacts_too_can_be_shortened(shell: Shell) -> None:
    run, _ = _ids(shell)
    (patch, *_) = rows(_run(shell, "--json", "artifacts", run, "--kind", "patch"))
    others = [row["id"] for row in rows(_run(shell, "--json", "artifacts", run)) if row["id"] != patch["id"]]
    short = max((_shortest(patch["id"], other) for other in others), key=len, default="art_")
    assert _run(shell, "diff", short).out == _run(shell, "diff", patch["id"]).out != b""


def test_an_id_made_elsewhere_is_found_though_another_begins_with_it(shell: Shell, tmp_path: Path) -> None:
    whole, _ = _ids(shell)
    log = _run(shell, "export", whole).out
    for name in ("night", "night-2"):
        file = tmp_path / f"{name}.jsonl"
        file.write_bytes(log.replace(whole.encode(), name.encode()).replace(b'"evt_', f'"evt_{name}'.encode()))
        ended = _run(shell, "import", str(file))
        assert ended.status == 0, ended.err
    assert rows(_run(shell, "--json", "show", "night"))[0]["run_id"] == "night"
    assert rows(_run(shell, "--json", "show", "night-"))[0]["run_id"] == "night-2"
    assert _run(shell, "show", "nigh").status == 2
