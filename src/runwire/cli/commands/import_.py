"""`runwire import`: a file becomes a run."""

import asyncio

import click

from runwire.cli import printing
from runwire.cli.logs import blocks_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE


@click.command(
    "import",
    cls=Command,
    epilog="""\b
Examples:
  runwire import run.jsonl
  gunzip -c run.gz | runwire import -""",
)
@click.argument("file")
def command(file: str) -> int:
    """Take in FILE, one envelope a line (`-` is standard input), and print the id of its run.

    Ids, sequences and bytes stay as they are. The file is proven first; nothing stays of one that breaks a rule. A run
    that is already here with the same bytes is fine; with other bytes it is a conflict (status 5). Works with or without
    a running gateway.
    """
    return asyncio.run(_import(current(), file))


async def _import(options: Options, file: str) -> int:
    async with reached_or_embedded(options) as client:
        imported = await client.import_log(blocks_of(file))
    if options.json:
        printing.write_json(imported)
    else:
        printing.write_text(imported.run_id)
    return DONE
