"""The console script. It answers `--version` by itself, before anything that takes time to load."""

import os
import sys

from runwire.version import VERSION


def main() -> int:
    """Run the `runwire` command on this process's arguments and return its exit status."""
    if sys.stdout is None or sys.stderr is None:
        _open_what_is_closed()
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"runwire {VERSION}\n")
        return 0
    try:
        # Not at the top: whoever asks for the version need not wait for the rest.
        from runwire.cli.program import run

        return run(arguments)
    except KeyboardInterrupt:
        # So early that no command had begun.
        return 130


def _open_what_is_closed() -> None:
    """Let whoever started us with a closed stdout or stderr (`>&-`) have what they want: a command that says nothing."""
    nowhere = open(os.devnull, "w")  # noqa: SIM115 - it stays open for as long as the process runs
    sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
