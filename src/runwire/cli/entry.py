"""The console script. It answers `--version` by itself, before anything that takes time to load."""

import os
import sys

from runwire.version import VERSION


def main() -> int:
    """Run the `runwire` command on this process's arguments and return its exit status."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
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
    """Let whoever started us with closed streams (`<&- >&-`) have what they want: a command that hears or says nothing."""
    # In this order: each takes the lowest number that is free, which is its own. They stay open for as long as the process runs.
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 - as said above
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - as said above
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115 - as said above
