"""`runwire backup`: the whole store as a folder."""

from collections.abc import Mapping
from pathlib import Path

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.options import Command, Options, current
from runwire.cli.statuses import DONE
from runwire.wiring import copying


@click.command(
    "backup",
    cls=Command,
    epilog="""\b
Examples:
  runwire backup /backups/monday
  runwire --data DIR restore /backups/monday   what to do with it""",
)
@click.argument("destination", metavar="DEST", type=click.Path(path_type=Path))
def command(destination: Path) -> int:
    """Copy the data directory to DEST, a folder that does not exist yet, also while a gateway runs on it.

    The copy is of one moment and is proven before it gets its name. It holds everything but the token file.
    """
    options = current()
    with busy("copying the store"):
        copied = copying.backup(options.config(), destination.absolute())
    tell(options, copied.path, {"runs": copied.held.runs, "events": copied.held.events, "bytes": copied.size_bytes})
    return DONE


def tell(options: Options, path: Path, counted: Mapping[str, int]) -> None:
    """Say what was copied, and where to."""
    if options.json:
        printing.write_json({"path": str(path), **counted})
    else:
        printing.write_text(f"{path}: {', '.join(f'{count} {name}' for name, count in counted.items())}")
