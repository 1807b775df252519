"""`runwire audit`: who did what."""

from pathlib import Path

import pytest

from tests.cli.program import Shell
from tests.cli.working import done, rows, script, sh


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a command in it."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    data = shell.home / "data"
    model = script(shell.home, sh("echo audited"), done())
    ended = shell.runwire("--data", str(data), "run", "--model", model, "--mode", "scratch", "x")
    assert ended.status == 0, ended.err
    return data


def test_commands_and_ends_are_there_oldest_first(shell: Shell, data: Path) -> None:
    found = rows(shell.runwire("--data", str(data), "--json", "audit"))
    types = [row["type"] for row in found]
    assert types.index("tool.shell.command") < types.index("run.finished")
    assert "assistant.text_delta" not in types


def test_types_and_words_choose(shell: Shell, data: Path) -> None:
    chosen = rows(shell.runwire("--data", str(data), "--json", "audit", "--type", "tool.shell.*"))
    assert {row["type"].rpartition(".")[0] for row in chosen} == {"tool.shell"}
    mentioned = rows(shell.runwire("--data", str(data), "--json", "audit", "--grep", "echo audited"))
    assert mentioned
    assert rows(shell.runwire("--data", str(data), "--json", "audit", "--grep", "never said")) == []


def test_a_person_sees_a_line_for_each(shell: Shell, data: Path) -> None:
    shown = shell.runwire("--data", str(data), "audit").out.decode().splitlines()
    assert any("tool.shell.command" in line and "echo audited" in line for line in shown)


def test_a_moment_that_is_none_is_status_2(shell: Shell, data: Path) -> None:
    assert shell.runwire("--data", str(data), "audit", "--since", "yesterday").status == 2
