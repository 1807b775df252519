"""`runwire watch`: what happens now, in some runs or in all of them."""

import asyncio
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.completing import RunId
from runwire.cli.lines import event_line
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import watching
from runwire.cli.statuses import DONE, FAILED
from runwire.client.client import Client
from runwire.client.items import Event, FeedEvent
from runwire.client.naming import run_named


@click.command(
    "watch",
    cls=Command,
    epilog="""\b
Examples:
  runwire watch --all                     every event of every run from now on
  runwire watch --all --type 'run.*'      only how runs begin and end
  runwire watch RUN1 RUN2                 two runs from their start until both have ended""",
)
@click.argument("runs", type=RunId(), nargs=-1, metavar="[RUN]...")
@click.option("--all", "everything", is_flag=True, help="Watch every run, from now on.")
@click.option("--type", "types", metavar="TYPES", help="Only these types, such as 'tool.shell.*,run.*'.")
def command(runs: tuple[str, ...], everything: bool, types: str | None) -> int:
    """Print events as they happen, one a line: run, number, time, type and the beginning of the data.

    On a terminal, a single RUN is shown as `runwire run` shows it, and asks here what needs a decision; Ctrl-C leaves it alone.

    Named runs are shown from their start; the command ends when all of them have, with status 1 unless all completed.
    With --json each line is the stored envelope, byte for byte. Works with or without a running gateway.
    """
    if everything == bool(runs):
        raise click.UsageError("name the runs to watch, or say --all")
    options = current()
    return asyncio.run(_watch_all(options, types) if everything else _watch_runs(options, runs, types))


async def _watch_all(options: Options, types: str | None) -> int:
    filters = {} if types is None else {"type": types}
    async with (
        watching(options) as client,
        printing.while_read(),
        aclosing(client.watch(**filters)) as items,
    ):
        async for item in items:
            if isinstance(item, FeedEvent):
                _write(options, item.envelope)
    return DONE


async def _watch_runs(options: Options, runs: tuple[str, ...], types: str | None) -> int:
    async with watching(options) as client, printing.while_read():
        # A run that is not there is an error before anything is printed.
        named = list(dict.fromkeys([(await client.run(await run_named(client, run))).run_id for run in runs]))
        if len(named) == 1 and types is None and not options.json and printing.drawable(no_color=options.no_color):
            return DONE if await _show_run(client, named[0]) else FAILED
        async with asyncio.TaskGroup() as group:
            watched = [group.create_task(_watch_run(options, client, run, types)) for run in named]
    return DONE if all(task.result() for task in watched) else FAILED


async def _show_run(client: Client, run: str) -> bool:
    """Show a run to its end and say whether it completed."""
    # Not at the top: what draws is loaded only where somebody looks.
    from runwire.cli.live import on_screen

    async with on_screen(client, asks=True) as live:
        await live.follow(client, run)
    return (await client.run(run)).status == "completed"


async def _watch_run(options: Options, client: Client, run: str, types: str | None) -> bool:
    """Print a run to its end and say whether it completed."""
    async with aclosing(client.events(run, types=types)) as items:
        async for item in items:
            if isinstance(item, Event):
                _write(options, item.envelope)
    return (await client.run(run)).status == "completed"


def _write(options: Options, envelope: bytes) -> None:
    if options.json:
        printing.write(envelope)
    else:
        printing.write_text(event_line(envelope, with_run=True))
    printing.flush()
