"""What every path is given: how long to measure, where to write, which cores to use."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.machine import Cores


@dataclass(frozen=True, slots=True)
class Context:
    """The terms of one benchmark run."""

    quick: bool
    repetitions: int
    cache: Path
    cores: Cores
    measure_ours: bool = True

    def pick(self, full: int, quick: int) -> int:
        """The full size, or the small one in quick mode."""
        return quick if self.quick else full

    @property
    def seconds(self) -> float:
        """How long one timed sample lasts."""
        return 0.5 if self.quick else 3.0

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A directory on the same disk as the repository (never a memory file system), removed afterwards."""
        self.cache.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix="scratch-", dir=self.cache))
        try:
            yield directory
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            # A disk that is still busy with what has gone would be measured by whoever comes next.
            os.sync()
