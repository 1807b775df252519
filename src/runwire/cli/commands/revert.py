"""`runwire revert`: take an applied patch back."""

import asyncio

import click

from runwire.cli import printing
from runwire.cli.completing import ArtifactId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.naming import artifact_named


@click.command(
    "revert",
    cls=Command,
    epilog="""\b
Examples:
  runwire revert ARTIFACT --reason "breaks the build\"""",
)
@click.argument("artifact", type=ArtifactId())
@click.option("--reason", metavar="TEXT", help="Why, for the log.")
def command(artifact: str, reason: str | None) -> int:
    """Take the applied patch ARTIFACT back. When the file has changed since, nothing is written and the status is 5.

    Works with or without a running gateway.
    """
    return asyncio.run(_revert(current(), artifact, reason))


async def _revert(options: Options, artifact_id: str, reason: str | None) -> int:
    async with reached_or_embedded(options) as client:
        artifact_id = await artifact_named(client, artifact_id)
        answer = await client.revert(artifact_id, reason=reason)
    inverse = answer.inverse_artifact_id
    if options.json:
        printing.write_json({"artifact_id": artifact_id, "inverse_artifact_id": inverse})
    else:
        printing.write_text(f"{artifact_id} reverted by {inverse}")
    return DONE
