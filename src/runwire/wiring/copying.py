"""Backups of a data directory."""

from pathlib import Path

from runwire.config import Config
from runwire.journal import backup as backups


def backup(config: Config, destination: Path) -> backups.Copied:
    """Copy the data directory to `destination`, also while a gateway runs on it."""
    return backups.backup(config.data, destination)


def restore(config: Config, source: Path) -> backups.Copied:
    """Make the data directory out of a backup; one that is in use or not empty is refused."""
    return backups.restore(source, config.data)
