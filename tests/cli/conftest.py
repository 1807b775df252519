"""Fixtures for tests that run the real program."""

from pathlib import Path

import pytest

from tests.cli.program import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Commands that see nothing of this machine's own settings."""
    return Shell(tmp_path)
