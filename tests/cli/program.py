"""The real program in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

RUNWIRE = [sys.executable, "-m", "runwire"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    status: int
    out: bytes
    err: str


def surroundings(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment without any setting of the machine that runs the tests."""
    # What runs tests in several processes tells each how wide its terminal would be.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUNWIRE_", "XDG_", "COLUMNS"))}
    return kept | {"NO_COLOR": "1"} | dict(more or {})


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs commands with a home of their own."""

    home: Path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What a command sees around it."""
        return surroundings({"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "share"), **(more or {})})

    def runwire(self, *arguments: str, feed: bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
        """Run `runwire` to its end."""
        done = subprocess.run(
            [*RUNWIRE, *arguments],
            input=feed,
            capture_output=True,
            env=self.environment(env),
            cwd=self.home,
            timeout=60,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr.decode())
