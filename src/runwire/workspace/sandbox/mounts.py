"""What a confined command finds where, as a list of mounts that both Linux layers carry out in order.

The whole machine is there to read, without devices; this list says what differs. An outer path stands before what is
inside it, so a workspace within a hidden folder is seen, and a hidden folder within a workspace is not.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runwire.workspace.sandbox.layer import Confinement

TMP_LIMIT_BYTES = 2 * 1024**3

OF_THE_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi")
"""Settings of the whole machine. Its root keeps the right to change them in any user namespace, and bubblewrap covers
them only where the folder itself looks writable, which it never does; so we make them read-only ourselves."""

# Sockets of daemons live there: connecting to one needs no right to write.
_RUN = Path("/run")
# Some systems keep their programs there, and a name server's address.
_NEEDED_IN_RUN = ("/run/current-system", "/run/booted-system")
_NEEDED_FOR_NETWORK = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf")


@dataclass(frozen=True, slots=True)
class Mount:
    """One path of the machine that looks different inside."""

    kind: Literal["write", "read", "empty", "blank"]
    """May be written; may only be read; an empty folder in memory; a file that cannot be opened."""
    target: Path
    source: Path


def plan(confinement: Confinement) -> tuple[Mount, ...]:
    """The mounts of a confinement, outermost first."""
    kept: dict[Path, Mount] = {}
    for mount in sorted(_wanted(confinement), key=lambda mount: len(mount.target.parts)):
        around = next((kept[above] for above in mount.target.parents if above in kept), None)
        is_hiding = mount.kind in {"empty", "blank"}
        # Inside an empty folder there is nothing left to hide, and nowhere to hide it.
        if not (is_hiding and around is not None and (around.kind == "empty" or around.source != around.target)):
            kept[mount.target] = mount
    return tuple(kept.values())


def _wanted(confinement: Confinement) -> Iterator[Mount]:
    tmp = Path("/tmp")
    yield Mount("empty", tmp, tmp) if confinement.tmp is None else Mount("write", tmp, _real(confinement.tmp))
    if _RUN.is_dir():
        yield Mount("empty", _RUN, _RUN)
    for name in (*_NEEDED_IN_RUN, *(_NEEDED_FOR_NETWORK if confinement.network else ())):
        if os.path.exists(name):
            yield Mount("read", Path(name), Path(name))
    for folder in (confinement.workspace, *confinement.writable):
        yield Mount("write", _real(folder), _real(folder))
    for file in confinement.readable:
        if _is_covered(file, confinement):
            yield Mount("read", file, file)
    # Hooks run outside, with the rights of whoever commits next.
    hooks = confinement.workspace / ".git" / "hooks"
    if hooks.is_dir() and not hooks.is_symlink() and not hooks.parent.is_symlink():
        yield Mount("read", _real(hooks), _real(hooks))
    # Last, so that what is hidden stays hidden when it is also a folder that may be written.
    for path in confinement.hidden:
        real = _real(path)
        if _is_folder(real):
            yield Mount("empty", real, real)
        elif os.path.lexists(real):
            yield Mount("blank", real, real)


def _is_covered(path: Path, confinement: Confinement) -> bool:
    """Whether a file or folder lies in the machine's /tmp, in nothing that is shown or hidden anyway, and around nothing."""
    others = [_real(other) for other in (confinement.workspace, *confinement.writable, *confinement.hidden)]
    return (
        path.is_relative_to("/tmp")
        and path != Path("/tmp")
        and path == _real(path)
        and (path.is_file() or path.is_dir())
        and not any(path.is_relative_to(other) or other.is_relative_to(path) for other in others)
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
