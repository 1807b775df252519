"""A house with one run in it."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.journal.house import House, open_house


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    """Everything open on a new data directory, with a run of a task."""
    async with open_house(tmp_path / "data") as house:
        await house.run("run_1", task_id="task_1")
        yield house
