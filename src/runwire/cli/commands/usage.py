"""`runwire usage`: tokens and money."""

import asyncio

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.look import look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.quantities import Moment
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_table
from runwire.client.render.money import dollars


@click.command(
    "usage",
    cls=Command,
    epilog="""\b
Examples:
  runwire usage
  runwire usage --by day --since 7d""",
)
@click.option(
    "--by", "group_by", type=click.Choice(["agent", "model", "task", "day"]), default="agent", help="What to add up by."
)
@click.option(
    "--since",
    type=Moment(),
    metavar="TIME",
    help="Only runs that began then or later: 7d ago, or a moment in RFC 3339.",
)
def command(group_by: str, since: str | None) -> int:
    """Show what runs have used. IN counts all input; CACHED is the part of it that a cache answered.

    Works with or without a running gateway.
    """
    return asyncio.run(_show(current(), group_by, since))


async def _show(options: Options, group_by: str, since: str | None) -> int:
    async with reached_or_embedded(options) as client:
        with busy("adding up"):
            report = await client.usage(group_by, since=since)
    if options.json:
        for row in report.data:
            printing.write_json(row)
        return DONE
    write_table(
        (group_by.upper(), "RUNS", "TURNS", "IN", "CACHED", "OUT", "COST"),
        [
            (
                row.group or "-",
                str(row.runs),
                str(row.turns),
                str(row.input_tokens),
                str(row.cached_input_tokens),
                str(row.output_tokens),
                dollars(row.cost_micros_usd),
            )
            for row in report.data
        ],
        look=look_of(options),
    )
    return DONE
