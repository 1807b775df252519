"""Confinement by bubblewrap: namespaces of its own for users, mounts, processes, network, IPC and host name."""

from collections.abc import Sequence

from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.sandbox.mounts import OF_THE_KERNEL, TMP_LIMIT_BYTES, Mount, plan


class Bubblewrap:
    """The `bwrap` layer."""

    layer = "bwrap"
    confines = True
    owns_processes = True

    def __init__(self, *, program: str) -> None:
        """Use the bubblewrap at this path."""
        self._program = program

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> Sequence[str]:
        """Run `argv` with the machine read-only, the workspace writable, and nothing of what is hidden."""
        share = ["--share-net"] if confinement.network else []
        mounts = [word for mount in plan(confinement) for word in _words(mount)]
        return [
            self._program,
            *("--unshare-user-try", "--unshare-all", *share),
            *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *(word for path in OF_THE_KERNEL for word in ("--ro-bind-try", path, path)),
            *mounts,
            *("--chdir", str(confinement.cwd), "--"),
            *argv,
        ]


def _words(mount: Mount) -> Sequence[str]:
    target, source = str(mount.target), str(mount.source)
    match mount.kind:
        case "write":
            return ["--bind", source, target]
        case "read":
            return ["--ro-bind", source, target]
        case "empty":
            return ["--size", str(TMP_LIMIT_BYTES), "--tmpfs", target]
        case "blank":
            # Bound without the right to open devices, it refuses readers and writers alike.
            return ["--ro-bind", "/dev/null", target]
