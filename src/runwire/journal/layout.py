"""What lies where in a data directory."""

from pathlib import Path

DATABASE = "journal.db"
BODIES = "bodies"
TOKEN = "token"


def database_of(data: Path) -> Path:
    """The database: every event, and every row beside them."""
    return data / DATABASE


def bodies_of(data: Path) -> Path:
    """The folder of the artifact bodies that are too large for a row."""
    return data / BODIES


def token_of(data: Path) -> Path:
    """The file that holds the admin token of this machine's own user."""
    return data / TOKEN
