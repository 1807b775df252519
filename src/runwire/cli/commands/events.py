"""`runwire events`: what happened in one run."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.completing import RunId
from runwire.cli.lines import event_line
from runwire.cli.look import look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import watching
from runwire.cli.statuses import DONE
from runwire.client.client import Client
from runwire.client.items import Event, Synced
from runwire.client.naming import run_named


@click.command(
    "events",
    cls=Command,
    epilog="""\b
Examples:
  runwire events RUN                            everything so far
  runwire events RUN --follow                   and what comes, until the run ends
  runwire events RUN --after 41 --type 'tool.*' tool events past number 41
  runwire --json events RUN | jq .type          stored envelopes, one a line""",
)
@click.argument("run", type=RunId())
@click.option("--after", type=click.IntRange(min=-1), default=-1, metavar="N", help="Only events past number N.")
@click.option("--type", "types", metavar="TYPES", help="Only these types, such as 'tool.shell.*,run.*'.")
@click.option("--follow", "-f", is_flag=True, help="Wait for new events until the run has ended.")
def command(run: str, after: int, types: str | None, follow: bool) -> int:
    """Print the events of RUN, one a line: number, time, type and the beginning of the data.

    With --json each line is the stored envelope, byte for byte. A connection that breaks is taken up again where it was.
    Works with or without a running gateway.
    """
    options = current()
    return asyncio.run(_follow(options, run, after, types) if follow else _print(options, run, after, types))


async def _print(options: Options, run: str, after: int, types: str | None) -> int:
    async with watching(options) as client:
        await _write(options, _stored(client, await run_named(client, run), after, types))
    return DONE


async def _follow(options: Options, run: str, after: int, types: str | None) -> int:
    async with watching(options) as client, printing.while_read():
        await _write(options, client.events(await run_named(client, run), after, types))
    return DONE


async def _stored(client: Client, run: str, after: int, types: str | None) -> AsyncGenerator[Event | Synced]:
    async with aclosing(client.events(run, after, types)) as items:
        async for item in items:
            yield item
            if isinstance(item, Synced):
                return


async def _write(options: Options, items: AsyncGenerator[Event | Synced]) -> None:
    live, look = False, look_of(options)
    async with aclosing(items):
        async for item in items:
            if isinstance(item, Synced):
                live = True
                printing.flush()
                continue
            if options.json:
                printing.write(item.envelope)
            else:
                printing.write_text(look.fitting(event_line(item.envelope, with_run=False)))
            if live:
                printing.flush()
