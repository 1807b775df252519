"""Folders that the tests of tools share."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from runwire.testing.host import FakeHost
from tests.native.tools.workbench import Bench, bench, facts_for


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
async def ready(workspace: Path, data: Path) -> AsyncGenerator[Bench]:
    """Tools of a run that applies what it edits."""
    async with bench(data, FakeHost(facts=facts_for(workspace))) as made:
        yield made


@pytest.fixture
async def proposing(workspace: Path, data: Path) -> AsyncGenerator[Bench]:
    """Tools of a run whose edits wait for a person."""
    async with bench(data, FakeHost(facts=facts_for(workspace, auto_apply=False))) as made:
        yield made
