"""The table of events and agents claims what was recorded, all of it and nothing else."""

import subprocess
import sys

import pytest

from runwire.agents.coverage import event_types
from runwire.protocol.catalogue import CATALOGUE
from tests.agents.coverage import DIALECTS, FIXTURES, NATIVE, emitted, recorded

ROOT = FIXTURES.parents[2]


@pytest.fixture(scope="module")
def cells() -> dict[str, set[str]]:
    """What was recorded, agent by agent."""
    return emitted()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_claimed_of_an_agent_was_recorded_and_what_was_recorded_is_claimed(
    dialect: str, cells: dict[str, set[str]]
) -> None:
    assert set(event_types(dialect)) == cells[dialect]


@pytest.mark.parametrize("dialect", [one for one in DIALECTS if one != NATIVE])
def test_every_dialect_has_streams_that_show_a_whole_run(dialect: str, cells: dict[str, set[str]]) -> None:
    assert any(one.agent == dialect for one in recorded())
    whole = {"run.queued", "turn.started", "assistant.text_complete", "tool.invoked", "tool.completed", "run.finished"}
    assert whole <= cells[dialect]


def test_what_the_protocol_does_not_know_is_in_a_namespace_of_its_own(cells: dict[str, set[str]]) -> None:
    strange = {name for types in cells.values() for name in types - CATALOGUE.keys()}
    assert [name for name in strange if not name.startswith("external.")] == []


def test_types_are_told_in_the_order_of_the_protocol() -> None:
    order = list(CATALOGUE)
    for dialect in DIALECTS:
        of_ours = [name for name in event_types(dialect) if name in CATALOGUE]
        assert of_ours == sorted(of_ours, key=order.index)


def test_the_page_and_the_table_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/coverage.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
