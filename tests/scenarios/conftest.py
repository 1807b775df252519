"""The stories, for every test that looks at one."""

import pytest

from tests.scenarios.playing import Repertoire


@pytest.fixture(scope="session")
def played() -> Repertoire:
    """What a story has left behind, by its name."""
    return Repertoire()
