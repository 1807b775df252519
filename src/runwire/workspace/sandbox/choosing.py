"""Which sandbox works on this machine. It is tried, not guessed: kernels, containers and administrators differ."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from runwire.errors import RunwireError
from runwire.workspace.environment import child_environment
from runwire.workspace.output import Piece
from runwire.workspace.process import Caps, run_process
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.bwrap import Bubblewrap
from runwire.workspace.sandbox.layer import Confinement, Sandbox
from runwire.workspace.sandbox.seatbelt import Seatbelt
from runwire.workspace.sandbox.unshare import Unshare
from runwire.workspace.spawning import Command

_TRIAL_S = 10.0
# It holds when the workspace can be written, what lies beside it cannot, and what is hidden cannot be read.
_TRIAL = 'echo held > in && ! { echo out > "$1/out"; } 2>/dev/null && ! cat "$2/hidden" 2>/dev/null'


async def choose() -> Sandbox:
    """The best sandbox that works here; `Bare` when none does, which `confined` refuses unless it was allowed."""
    for sandbox in candidates():
        if await works(sandbox):
            return sandbox
    return Bare(setpriv=_program("setpriv"))


async def works(sandbox: Sandbox) -> bool:
    """Whether a command that tries to get out of this sandbox is held, and works inside."""
    # Not in /tmp, which is another one inside: there nothing could be shown to be out of reach.
    with tempfile.TemporaryDirectory(prefix="runwire-", dir=_trial_place()) as name:
        place = Path(name)
        workspace, hidden = place / "workspace", place / "hidden"
        workspace.mkdir()
        hidden.mkdir()
        (hidden / "hidden").write_text("hidden")
        command = Command(
            argv=["/bin/sh", "-c", _TRIAL, "sh", str(place), str(hidden)],
            confinement=Confinement(workspace=workspace, cwd=workspace, hidden=[hidden]),
            environ=child_environment({}, {}, known=()),
        )
        try:
            report = await run_process(command, sandbox=sandbox, on_output=_unheard, caps=Caps(timeout_s=_TRIAL_S))
        except RunwireError:
            return False
        is_held = not (place / "out").exists() and (workspace / "in").exists()
        return report.outcome == "exited" and report.exit_code == 0 and is_held


def candidates() -> Iterator[Sandbox]:
    """Every sandbox whose programs are installed here, the best first."""
    if sys.platform == "darwin" and (seatbelt := _program("sandbox-exec")):
        yield Seatbelt(program=seatbelt)
    if sys.platform.startswith("linux"):
        if bwrap := _program("bwrap"):
            yield Bubblewrap(program=bwrap)
        if (unshare := _program("unshare")) and (setpriv := _program("setpriv")):
            yield Unshare(unshare=unshare, setpriv=setpriv)


def _program(name: str) -> str | None:
    # The system's own first: what stands earlier in somebody's PATH is not what we trust with the walls.
    return shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin") or shutil.which(name)


def _trial_place() -> str | None:
    return next((place for place in ("/var/tmp", str(Path.home())) if os.access(place, os.W_OK)), None)


async def _unheard(piece: Piece) -> None:
    """What the trial prints is of no interest."""
