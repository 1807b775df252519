"""Running commands in tests: the sandboxes to try, and what came of one command."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runwire.workspace.environment import child_environment
from runwire.workspace.limits import Groups
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, ExitReport, run_process
from runwire.workspace.sandbox.bwrap import Bubblewrap
from runwire.workspace.sandbox.layer import Confinement, Sandbox
from runwire.workspace.sandbox.unshare import Unshare
from runwire.workspace.spawning import Command

NOBODY = 65534


class Demoted:
    """Another sandbox, entered as a user without any rights."""

    def __init__(self, inner: Sandbox) -> None:
        self._inner = inner
        self.layer = inner.layer
        self.confines = inner.confines
        self.owns_processes = inner.owns_processes

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> Sequence[str]:
        user = ["--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        return [program("setpriv"), *user, *self._inner.wrap(argv, confinement)]


def program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


def sandboxes() -> dict[str, Sandbox]:
    """Every layer of this system; for its root, also as it is for a plain user."""
    if not sys.platform.startswith("linux"):
        return {}
    found: dict[str, Sandbox] = {"unshare": _unshare(sys.executable)}
    if bwrap := shutil.which("bwrap"):
        found["bwrap"] = Bubblewrap(program=bwrap)
    if os.geteuid() == 0:
        # The interpreter of a test may lie in a home that others cannot enter; the system's does not.
        python = shutil.which("python3", path="/usr/bin:/usr/local/bin") if _is_private() else sys.executable
        plain = dict(found) | ({"unshare": _unshare(python)} if python else {})
        found |= {f"{name} as nobody": Demoted(sandbox) for name, sandbox in plain.items()}
    return found


def _unshare(python: str) -> Sandbox:
    return Unshare(unshare=program("unshare"), setpriv=program("setpriv"), python=python)


def _is_private() -> bool:
    real = Path(sys.executable).resolve()
    return any(not folder.stat().st_mode & 0o001 for folder in real.parents)


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command."""

    report: ExitReport
    pieces: Sequence[Piece]

    @property
    def stdout(self) -> str:
        return "".join(piece.text for piece in self.pieces if piece.stream == "stdout")

    @property
    def stderr(self) -> str:
        return "".join(piece.text for piece in self.pieces if piece.stream == "stderr")


async def run(
    script: str,
    confinement: Confinement,
    sandbox: Sandbox,
    *,
    caps: Caps | None = None,
    environ: Mapping[str, str] | None = None,
    groups: Groups | None = None,
) -> Ran:
    """Run a shell script and keep what it prints."""
    pieces: list[Piece] = []

    async def keep(piece: Piece) -> None:
        pieces.append(piece)

    command = Command(
        argv=["/bin/sh", "-c", script],
        confinement=confinement,
        environ=environ or child_environment({"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, {}, known=(), home="/tmp"),
    )
    report = await run_process(
        command, sandbox=sandbox, on_output=keep, caps=caps or Caps(timeout_s=20.0), groups=groups
    )
    return Ran(report, pieces)


def running(marker: str) -> list[int]:
    """The processes of the machine whose command line holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]
