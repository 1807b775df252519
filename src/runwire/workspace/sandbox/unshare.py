"""Confinement where bubblewrap is not installed: the same namespaces by util-linux, which every Linux has.

`unshare` makes the namespaces; enter.py, run inside them, arranges the mounts, gives up every capability and stays as
the first process of the namespace, with which all others die.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from runwire.workspace.sandbox.layer import Confinement
from runwire.workspace.sandbox.mounts import OF_THE_KERNEL, TMP_LIMIT_BYTES, plan

_ENTER = Path(__file__).with_name("enter.py")


class Unshare:
    """The `unshare` layer."""

    layer = "unshare"
    confines = True
    owns_processes = True

    def __init__(self, *, unshare: str, setpriv: str, python: str = sys.executable) -> None:
        """Use the programs at these paths."""
        self._unshare = unshare
        self._setpriv = setpriv
        self._python = python

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> Sequence[str]:
        """Run `argv` with the machine read-only, the workspace writable, and nothing of what is hidden."""
        orders = {
            "mounts": [[mount.kind, str(mount.target), str(mount.source)] for mount in plan(confinement)],
            "read_only": OF_THE_KERNEL,
            "tmp_limit_bytes": TMP_LIMIT_BYTES,
            "loopback": not confinement.network,
            "cwd": str(confinement.cwd),
        }
        return [
            # A worker that is killed takes the command with it.
            *(self._setpriv, "--pdeathsig", "KILL", self._unshare),
            *("--user", "--map-current-user", "--keep-caps", "--mount", "--propagation", "unchanged", "--pid", "--ipc"),
            *("--uts", "--cgroup", "--fork", "--kill-child", *([] if confinement.network else ["--net"]), "--"),
            *(self._python, "-I", "-S", str(_ENTER), json.dumps(orders)),
            *argv,
        ]
