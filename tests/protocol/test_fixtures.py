"""The recorded logs in spec/fixtures are proof of the rules, and examples of them."""

from pathlib import Path

import pytest

from runwire.protocol.verify import verify

FIXTURES = sorted((Path(__file__).parents[2] / "spec" / "fixtures" / "v1").glob("*.jsonl"))


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_a_recorded_log_breaks_no_rule(file: Path) -> None:
    assert list(verify(file.read_bytes().splitlines())) == []


def test_there_are_recorded_logs() -> None:
    assert FIXTURES
