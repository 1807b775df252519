"""What the tests of this room share: ground outside of /tmp, and every sandbox that this machine can try."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Ground:
    """A workspace, and beside it what a command must not reach."""

    place: Path
    workspace: Path
    data: Path
    outside: Path

    @property
    def token(self) -> Path:
        return self.data / "token"


@pytest.fixture
def ground() -> Iterator[Ground]:
    """Open to every user, so that only a sandbox keeps anybody out; not in /tmp, which is another one inside."""
    place = Path(tempfile.mkdtemp(prefix="runwire-test-", dir="/var/tmp")).resolve()
    folders = [place / name for name in ("workspace", "data", "outside")]
    for folder in folders:
        folder.mkdir()
        folder.chmod(0o777)
    place.chmod(0o755)
    made = Ground(place, *folders)
    made.token.write_text("the-token-of-this-gateway")
    made.token.chmod(0o666)
    (made.outside / "plain.txt").write_text("outside")
    os.chmod(made.outside / "plain.txt", 0o666)
    yield made
    shutil.rmtree(place, ignore_errors=True)
