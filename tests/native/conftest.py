"""A workspace and somebody who plays scripts in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.native.playing import Player


@pytest.fixture
def player(tmp_path: Path) -> Iterator[Player]:
    playing = Player(tmp_path)
    yield playing
    playing.root.close()
