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
    """A gateway in a process of its own, which waits for nobody when it ends."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "config.toml").write_text("close_grace_s = 0.2\n")
    with running(shell, data) as gateway:
        yield gateway
