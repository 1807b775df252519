"""Fixtures for tests with an editor."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.program import Shell
from tests.cli.running import Gateway, running


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Commands that see nothing of this machine's own settings."""
    return Shell(tmp_path)


@pytest.fixture
def gateway(shell: Shell, tmp_path: Path) -> Generator[Gateway]:
    """A gateway in a process of its own."""
    with running(shell, tmp_path / "data") as gateway:
        yield gateway
