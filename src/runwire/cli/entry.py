"""The console script. It answers `--version` by itself, before anything that takes time to load."""

import sys

from runwire.version import VERSION


def main() -> int:
    """Run the `runwire` command on this process's arguments and return its exit status."""
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
