"""`runwire cancel`: end a run."""

import asyncio

import click
import msgspec

from runwire.cli import printing
from runwire.cli.completing import RunId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.naming import run_named


@click.command(
    "cancel",
    cls=Command,
    epilog="""\b
Examples:
  runwire cancel RUN
  runwire cancel RUN --reason "the wrong branch\"""",
)
@click.argument("run", type=RunId())
@click.option("--reason", metavar="TEXT", help="Why, for the log.")
def command(run: str, reason: str | None) -> int:
    """Cancel RUN: what it runs is ended with everything that it started. A run that is over is refused with status 5.

    Works with or without a running gateway.
    """
    return asyncio.run(_cancel(current(), run, reason))


async def _cancel(options: Options, run_id: str, reason: str | None) -> int:
    async with reached_or_embedded(options) as client:
        run = await client.cancel(await client.run(await run_named(client, run_id)), reason=reason)
    if options.json:
        printing.write(msgspec.json.encode({"run_id": run.run_id, "status": run.status}))
    else:
        printing.write_text(f"{run.run_id} {run.status}")
    return DONE
