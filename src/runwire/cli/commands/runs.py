"""`runwire runs`: which runs there are."""

import asyncio
from collections.abc import AsyncGenerator
from typing import get_args

import click
import msgspec

from runwire.cli import printing
from runwire.cli.look import Id, Moment, State, look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_table
from runwire.client.answers import Run
from runwire.client.client import Client
from runwire.client.render.money import dollars
from runwire.protocol.state.run import Status

_PAGE = 500


@click.command(
    "runs",
    cls=Command,
    epilog="""\b
Examples:
  runwire runs
  runwire runs --status running
  runwire runs --limit 5 --json""",
)
@click.option("--limit", type=click.IntRange(min=1), default=50, metavar="N", help="At most N runs [default: 50].")
@click.option("--status", type=click.Choice(get_args(Status)), help="Only runs of this status.")
@click.option("--agent", metavar="AGENT", help="Only runs of this agent.")
def command(limit: int, status: str | None, agent: str | None) -> int:
    """List runs, newest first; HEAD is the sequence of the last event. With --json each line is one run as the gateway tells it.

    Works with or without a running gateway.
    """
    filters = {name: value for name, value in (("status", status), ("agent", agent)) if value}
    return asyncio.run(_list(current(), limit, filters))


async def _list(options: Options, limit: int, filters: dict[str, str]) -> int:
    async with reached_or_embedded(options) as client:
        found = [run async for run in _newest(client, limit, filters)]
    if options.json:
        for run in found:
            printing.write(bytes(run))
        return DONE
    runs = [msgspec.json.decode(run, type=Run) for run in found]
    write_table(
        ("RUN", "STATUS", "AGENT", "HEAD", "COST", "UPDATED"),
        [
            (
                Id(run.run_id),
                State(run.status),
                run.agent,
                str(run.head_sequence),
                dollars(run.cost_micros_usd),
                Moment(run.updated_at),
            )
            for run in runs
        ],
        look=look_of(options),
    )
    return DONE


async def _newest(client: Client, limit: int, filters: dict[str, str]) -> AsyncGenerator[msgspec.Raw]:
    cursor: str | None = None
    while limit > 0:
        page = await client.runs(limit=min(limit, _PAGE), cursor=cursor, **filters)
        for run in page.data[:limit]:
            yield run
        limit -= len(page.data)
        cursor = page.next_cursor
        if not page.has_more or cursor is None:
            return
