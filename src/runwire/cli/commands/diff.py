"""`runwire diff`: what was changed, as a patch."""

import asyncio
import sys
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE


@click.command(
    "diff",
    cls=Command,
    epilog="""\b
Examples:
  runwire diff RUN                    all that the run has changed, as one diff
  runwire diff RUN | git apply        the same change in another checkout
  runwire diff ARTIFACT               one patch""",
)
@click.argument("which", metavar="RUN|ARTIFACT")
def command(which: str) -> int:
    """Print the diff of a run or of one patch.

    Works with or without a running gateway.
    """
    return asyncio.run(_diff(current(), which))


async def _diff(options: Options, which: str) -> int:
    async with reached_or_embedded(options) as client, printing.while_read():
        pieces = client.artifact_bytes(which) if which.startswith("art_") else client.patch(which)
        async with aclosing(pieces):
            async for piece in pieces:
                sys.stdout.buffer.write(piece)
    printing.flush()
    return DONE
