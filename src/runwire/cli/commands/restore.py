"""`runwire restore`: a store out of a backup."""

from pathlib import Path

import click

from runwire.cli.busy import busy
from runwire.cli.commands.backup import tell
from runwire.cli.options import Command, current
from runwire.cli.statuses import DONE
from runwire.wiring import copying


@click.command(
    "restore",
    cls=Command,
    epilog="""\b
Examples:
  runwire --data DIR restore /backups/monday
  runwire --data DIR up""",
)
@click.argument("source", type=click.Path(path_type=Path))
def command(source: Path) -> int:
    """Make the data directory out of SOURCE, a folder that `backup` made. It has to be empty, or not there yet.

    The next start makes a new token file; the tokens in the backup are good again.
    """
    options = current()
    with busy("making the store out of the backup"):
        copied = copying.restore(options.config(), source.absolute())
    tell(options, copied.path, {"runs": copied.held.runs, "events": copied.held.events, "bytes": copied.size_bytes})
    return DONE
