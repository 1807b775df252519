"""`runwire diff`: what was changed, as a patch."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.completing import RunOrArtifactId
from runwire.cli.lines import plain
from runwire.cli.logs import lines_of
from runwire.cli.look import Look, Style, look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.naming import artifact_named, run_named

_STYLES: dict[str, Style] = {"+": "added", "-": "removed", "@": "place"}


@click.command(
    "diff",
    cls=Command,
    epilog="""\b
Examples:
  runwire diff RUN                    all that the run has changed, as one diff
  runwire diff RUN | git apply        the same change in another checkout
  runwire diff ARTIFACT               one patch""",
)
@click.argument("which", type=RunOrArtifactId(), metavar="RUN|ARTIFACT")
def command(which: str) -> int:
    """Print the diff of a run or of one patch.

    Works with or without a running gateway.
    """
    return asyncio.run(_diff(current(), which))


async def _diff(options: Options, which: str) -> int:
    async with reached_or_embedded(options) as client, printing.while_read():
        if which.startswith("art_"):
            pieces = client.artifact_bytes(await artifact_named(client, which))
        else:
            pieces = client.patch(await run_named(client, which))
        look = look_of(options)
        async with aclosing(pieces):
            if look.terminal:
                await _show(look, pieces)
            else:
                async for piece in pieces:
                    sys.stdout.buffer.write(piece)
    printing.flush()
    return DONE


async def _show(look: Look, pieces: AsyncGenerator[bytes]) -> None:
    """Write the diff for a person: in colour, and with nothing in it that the terminal would obey."""
    async for line in lines_of(pieces):
        text = plain(line.decode("utf-8", "replace").removesuffix("\r").expandtabs())
        printing.write_text(look.painted(text, _style(text)))


def _style(line: str) -> Style:
    if line.startswith(("+++", "---", "diff ", "index ", "new file", "deleted file", "similarity ", "rename ")):
        return "title"
    return _STYLES.get(line[:1], "")
