"""What a sandbox is: a way to have the kernel hold a command inside its workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from runwire.workspace.errors import SandboxUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """How far one command may reach. Paths are absolute and real."""

    workspace: Path
    cwd: Path
    writable: Sequence[Path] = ()
    """Folders beside the workspace that may be written, such as the repository of a worktree."""
    readable: Sequence[Path] = ()
    """Files and folders that the command is started with, to be seen also where a private /tmp would cover them."""
    network: bool = False
    hidden: Sequence[Path] = ()
    """What may not even be read. See hiding.py."""
    tmp: Path | None = None
    """The folder that stands in for /tmp, to be shared by the commands of a run; a fresh one each time when None."""


class Sandbox(Protocol):
    """One way to confine."""

    @property
    def layer(self) -> str:
        """The name that events tell: bwrap, unshare, seatbelt or none."""

    @property
    def confines(self) -> bool:
        """Whether the command is held at all."""

    @property
    def owns_processes(self) -> bool:
        """Whether every process that the command leaves behind dies with it, whatever it does."""

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> Sequence[str]:
        """The command that runs `argv` inside; its programs are named by absolute paths."""


def confined(sandbox: Sandbox, *, allow_unconfined: bool) -> Sandbox:
    """The sandbox itself, when it confines or when running without was allowed; otherwise SandboxUnavailable."""
    if not sandbox.confines and not allow_unconfined:
        raise SandboxUnavailable
    return sandbox
