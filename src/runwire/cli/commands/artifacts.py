"""`runwire artifacts`: what a run has made."""

import asyncio

import click
import msgspec

from runwire.cli import printing
from runwire.cli.completing import RunId
from runwire.cli.look import Id, State, look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_table
from runwire.client.answers import Artifact
from runwire.client.naming import run_named


@click.command(
    "artifacts",
    cls=Command,
    epilog="""\b
Examples:
  runwire artifacts RUN
  runwire artifacts RUN --kind patch --status proposed""",
)
@click.argument("run", type=RunId())
@click.option("--kind", metavar="KIND", help="Only this kind, such as patch or command_output.")
@click.option("--status", metavar="STATUS", help="Only patches of this status: proposed, applied or rejected.")
def command(run: str, kind: str | None, status: str | None) -> int:
    """List the artifacts of RUN, newest first. With --json each line is one artifact as the gateway tells it.

    `runwire diff ARTIFACT` shows a patch. Works with or without a running gateway.
    """
    filters = {name: value for name, value in (("kind", kind), ("status", status)) if value}
    return asyncio.run(_list(current(), run, filters))


async def _list(options: Options, run_id: str, filters: dict[str, str]) -> int:
    async with reached_or_embedded(options) as client:
        run_id = await run_named(client, run_id)
        # A run that is not there is an error, not an empty list.
        await client.run(run_id)
        found: list[msgspec.Raw] = []
        cursor: dict[str, str] = {}
        while True:
            page = await client.artifacts(run_id=run_id, **filters, **cursor)
            found += page.data
            if not page.has_more or page.next_cursor is None:
                break
            cursor = {"cursor": page.next_cursor}
    if options.json:
        for one in found:
            printing.write(bytes(one))
        return DONE
    artifacts = [msgspec.json.decode(one, type=Artifact) for one in found]
    write_table(
        ("ARTIFACT", "KIND", "STATUS", "BYTES", "PATH", "SUMMARY"),
        [
            (
                Id(one.id),
                one.kind,
                State(one.status or ""),
                f"{one.size_bytes:,}",
                one.target_path or "",
                one.summary[:60],
            )
            for one in artifacts
        ],
        look=look_of(options),
    )
    return DONE
