"""Where the calls of runs happen, as rules see it."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runwire.runs.floor import Place
from runwire.runs.policy import Bounds


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What is the same for every run of this process."""

    data: Path
    unconfined: bool
    """Whether no sandbox works here."""

    @cached_property
    def real_data(self) -> str:
        """Where the data really lies, as rules see it."""
        return os.path.realpath(self.data)


def place_of(surroundings: Surroundings, workspace: str, settled: Bounds) -> Place:
    """Where the calls of a run happen, as policy sees it."""
    return Place(
        workspace=workspace,
        data=surroundings.real_data,
        unconfined=surroundings.unconfined,
        allow_unconfined=settled.allow_unconfined,
    )
