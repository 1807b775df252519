"""The real program as somebody at a terminal sees it."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Mapping

from tests.cli.program import RUNWIRE, Ended, Shell


def on_terminal(shell: Shell, *arguments: str, columns: int = 100, env: Mapping[str, str] | None = None) -> Ended:
    """Run `runwire` to its end with a terminal of so many columns as its output; colour is allowed unless `env` says no."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    around = shell.environment({"TERM": "xterm-256color", "NO_COLOR": "", **(env or {})})
    around.pop("COLUMNS", None)
    process = subprocess.Popen(
        [*RUNWIRE, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=around,
        cwd=shell.home,
    )
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:
        # How Linux tells that the last one on the other side has gone.
        pass
    finally:
        os.close(ours)
    _, err = process.communicate(timeout=60)
    return Ended(process.returncode, said.replace(b"\r\n", b"\n"), err.decode())
