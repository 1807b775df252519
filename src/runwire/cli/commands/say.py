"""`runwire say`: a word to a live run."""

import asyncio

import click

from runwire.cli.completing import RunId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.naming import run_named


@click.command(
    "say",
    cls=Command,
    epilog="""\b
Examples:
  runwire say RUN "use the other branch\"""",
)
@click.argument("run", type=RunId())
@click.argument("text")
def command(run: str, text: str) -> int:
    """Say TEXT to RUN, which hears it before its next turn. A run that is over is refused with status 5.

    Works with or without a running gateway.
    """
    if not text.strip():
        raise click.UsageError("there is nothing in TEXT")
    return asyncio.run(_say(current(), run, text))


async def _say(options: Options, run_id: str, text: str) -> int:
    async with reached_or_embedded(options) as client:
        await client.say(await client.run(await run_named(client, run_id)), text)
    return DONE
