"""`runwire apply`: write a proposed patch into its workspace."""

import asyncio

import click

from runwire.cli import printing
from runwire.cli.completing import ArtifactId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.answers import Artifact
from runwire.client.naming import artifact_named


@click.command(
    "apply",
    cls=Command,
    epilog="""\b
Examples:
  runwire apply ARTIFACT
  runwire diff ARTIFACT && runwire apply ARTIFACT""",
)
@click.argument("artifact", type=ArtifactId())
def command(artifact: str) -> int:
    """Apply the proposed patch ARTIFACT. When the file has changed since, nothing is written and the status is 5.

    Works with or without a running gateway.
    """
    return asyncio.run(_apply(current(), artifact))


async def _apply(options: Options, artifact_id: str) -> int:
    async with reached_or_embedded(options) as client:
        tell_patch(options, (await client.apply(await artifact_named(client, artifact_id))).data)
    return DONE


def tell_patch(options: Options, patch: Artifact) -> None:
    """Say where a patch stands now."""
    if options.json:
        printing.write_json({"artifact_id": patch.id, "status": patch.status, "path": patch.target_path})
    else:
        printing.write_text(f"{patch.id} {patch.status} {patch.target_path or ''}".rstrip())
