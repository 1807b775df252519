"""`runwire approvals`: what waits for a decision."""

import asyncio

import click
import msgspec

from runwire.cli import printing
from runwire.cli.completing import RunId
from runwire.cli.look import Id, Moment, State, look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_table
from runwire.client.answers import Approval
from runwire.client.naming import run_named


@click.command(
    "approvals",
    cls=Command,
    epilog="""\b
Examples:
  runwire approvals                   what waits now
  runwire approvals --all             what was decided, too
  runwire approvals --json | jq .input""",
)
@click.option("--all", "everything", is_flag=True, help="Also those that were decided.")
@click.option("--run", "run", type=RunId(), metavar="RUN", help="Only those of this run.")
@click.option("--limit", type=click.IntRange(1, 500), default=100, metavar="N", help="At most N [default: 100].")
def command(everything: bool, run: str | None, limit: int) -> int:
    """List the decisions that runs wait for, newest first. With --json each line is one approval as the gateway tells it.

    `runwire approve ID` and `runwire deny ID` decide. Works with or without a running gateway.
    """
    return asyncio.run(_list(current(), None if everything else "pending", run, limit))


async def _list(options: Options, status: str | None, run: str | None, limit: int) -> int:
    async with reached_or_embedded(options) as client:
        filters = {} if run is None else {"run_id": await run_named(client, run)}
        page = await client.approvals(status, limit=limit, **filters)
    if options.json:
        for approval in page.data:
            printing.write(bytes(approval))
        return DONE
    look = look_of(options)
    found = [msgspec.json.decode(approval, type=Approval) for approval in page.data]
    write_table(
        ("APPROVAL", "STATUS", "RUN", "TOOL", "WHAT", "ASKED"),
        [
            (
                Id(one.approval_id),
                State(one.status),
                Id(one.run_id),
                one.tool_name,
                one.summary if look.terminal else one.summary[:60],
                Moment(one.requested_at),
            )
            for one in found
        ],
        look=look,
    )
    return DONE
