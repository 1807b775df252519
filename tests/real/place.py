"""Where an agent is at home for one test."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where an agent works, and beside it where it keeps its own files."""

    workspace: Path
    home: Path
