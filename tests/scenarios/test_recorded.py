"""The recorded logs in spec/fixtures are those that the runtime of today leaves."""

import pytest

from tests.scenarios.log import Log
from tests.scenarios.playing import SCENARIOS, Repertoire
from tests.scenarios.recording import FIXTURES, outline, recorded


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_story_is_recorded_as_it_is_played(played: Repertoire, name: str) -> None:
    files = [(FIXTURES / file).read_bytes() for file, _ in recorded(name, played(name))]
    assert outline([Log(file.splitlines()) for file in files]) == outline(played(name).logs)
