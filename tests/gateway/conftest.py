"""A running gateway for every test that asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.serving import Served, serving


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path / "data") as served:
        yield served
