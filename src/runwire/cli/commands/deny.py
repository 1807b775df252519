"""`runwire deny`: do not let it happen."""

import asyncio

import click

from runwire.cli.commands.approve import tell_decision
from runwire.cli.completing import ApprovalId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.naming import approval_named


@click.command(
    "deny",
    cls=Command,
    epilog="""\b
Examples:
  runwire deny APPROVAL --comment "use the staging host"   the agent is told and goes on
  runwire deny APPROVAL --stop                             and the run ends""",
)
@click.argument("approval", type=ApprovalId())
@click.option("--comment", metavar="TEXT", help="Why; the agent is told.")
@click.option("--stop", is_flag=True, help="End the run, too.")
def command(approval: str, comment: str | None, stop: bool) -> int:
    """Deny APPROVAL. The first answer wins: a later one that differs is refused with status 5.

    Works with or without a running gateway.
    """
    return asyncio.run(_deny(current(), approval, comment, stop))


async def _deny(options: Options, approval_id: str, comment: str | None, stop: bool) -> int:
    async with reached_or_embedded(options) as client:
        approval_id = await approval_named(client, approval_id)
        tell_decision(options, await client.deny(approval_id, comment=comment, stop=stop))
    return DONE
