"""A gateway with workers for every test that asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.program import Shell
from tests.gateway.working import Working, at_work


@pytest.fixture
async def working(tmp_path: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path, slots=4) as opened:
        yield opened


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Commands that see nothing of this machine's own settings."""
    return Shell(tmp_path)
