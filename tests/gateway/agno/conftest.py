"""A gateway at work and a client of Agno's for every test that asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.agno.client import AgnoClient
from tests.gateway.working import at_work


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AgnoClient]:
    async with at_work(tmp_path) as working:
        yield AgnoClient(working)
