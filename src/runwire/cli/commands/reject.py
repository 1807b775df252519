"""`runwire reject`: refuse a proposed patch."""

import asyncio

import click

from runwire.cli.commands.apply import tell_patch
from runwire.cli.completing import ArtifactId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.naming import artifact_named


@click.command(
    "reject",
    cls=Command,
    epilog="""\b
Examples:
  runwire reject ARTIFACT --reason "keep the old name"   the agent is told at its next turn""",
)
@click.argument("artifact", type=ArtifactId())
@click.option("--reason", metavar="TEXT", help="Why; the agent is told.")
def command(artifact: str, reason: str | None) -> int:
    """Reject the proposed patch ARTIFACT.

    Works with or without a running gateway.
    """
    return asyncio.run(_reject(current(), artifact, reason))


async def _reject(options: Options, artifact_id: str, reason: str | None) -> int:
    async with reached_or_embedded(options) as client:
        artifact_id = await artifact_named(client, artifact_id)
        tell_patch(options, (await client.reject(artifact_id, reason=reason)).data)
    return DONE
