"""`runwire import`: a file becomes a run."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.logs import blocks_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.render.text import many


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
    sent = 0

    async def blocks() -> AsyncGenerator[bytes]:
        nonlocal sent
        async with aclosing(blocks_of(file)) as read:
            async for block in read:
                yield block
                sent += len(block)

    async with reached_or_embedded(options) as client:
        with busy("taking the log in", lambda: many(sent, "byte")):
            imported = await client.import_log(blocks())
    if options.json:
        printing.write_json(imported)
    else:
        printing.write_text(imported.run_id)
    return DONE
