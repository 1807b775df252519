"""`runwire usage`: tokens and money, added up."""

from pathlib import Path

import pytest

from tests.cli.program import Shell
from tests.cli.working import done, rows, script


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that cost something."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    data = shell.home / "data"
    for number, cost in enumerate((100, 250)):
        used = {"usage": {"input": 10, "output": 5, "cache_read": 4}, "cost_micros_usd": cost}
        model = script(shell.home, {**done(), **used}, name=f"{number}.json")
        ended = shell.runwire("--data", str(data), "run", "--model", model, "--mode", "scratch", "x")
        assert ended.status == 0, ended.err
    return data


def test_it_adds_up_by_agent(shell: Shell, data: Path) -> None:
    (row,) = rows(shell.runwire("--data", str(data), "--json", "usage"))
    assert row == {
        "group": "native",
        "runs": 2,
        "turns": 2,
        "input_tokens": 20,
        "cached_input_tokens": 8,
        "output_tokens": 10,
        "cost_micros_usd": 350,
    }


@pytest.mark.parametrize(("by", "groups"), [("model", 2), ("task", 2), ("day", 1)])
def test_it_adds_up_by_whatever_is_asked(shell: Shell, data: Path, by: str, groups: int) -> None:
    found = rows(shell.runwire("--data", str(data), "--json", "usage", "--by", by))
    assert len(found) == groups
    assert sum(row["cost_micros_usd"] for row in found) == 350


def test_a_person_sees_a_table(shell: Shell, data: Path) -> None:
    shown = shell.runwire("--data", str(data), "usage").out.decode().splitlines()
    assert shown[0].split() == ["AGENT", "RUNS", "TURNS", "IN", "CACHED", "OUT", "COST"]
    assert shown[1].split()[:6] == ["native", "2", "2", "20", "8", "10"]


def test_what_began_before_is_left_out(shell: Shell, data: Path) -> None:
    found = rows(shell.runwire("--data", str(data), "--json", "usage", "--since", "2099-01-01T00:00:00Z"))
    assert found == []


def test_a_moment_that_is_none_is_status_2(shell: Shell, data: Path) -> None:
    assert shell.runwire("--data", str(data), "usage", "--since", "yesterday").status == 2
    assert shell.runwire("--data", str(data), "usage", "--by", "colour").status == 2
