"""`runwire top`: all runs on one screen."""

import asyncio
import os
import sys

import click

from runwire.cli import printing
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import watching
from runwire.cli.statuses import DONE

_PAGE = 200


@click.command(
    "top",
    cls=Command,
    epilog="""\b
Examples:
  runwire top                    everything; ? explains the keys
  runwire --url URL top          the runs of another gateway
  runwire top --json | jq .      every run at a glance, once""",
)
def command() -> int:
    """See all runs at a glance, those that need somebody first; open one, decide, review, replay.

    With --json the panes are printed once, one a line. Works with or without a running gateway.
    """
    options = current()
    if options.json:
        return asyncio.run(_print_panes(options))
    # The screen is drawn on stderr, as Textual does it.
    if not all(one.isatty() for one in (sys.stdin, sys.stdout, sys.stderr)) or os.environ.get("TERM") == "dumb":
        raise click.UsageError("top needs a terminal that can show a full screen; `runwire top --json` prints the same")
    _settle_colour(options)
    return asyncio.run(_look(options))


async def _look(options: Options) -> int:
    # Not at the top: what draws the screen takes time to load, and nothing else needs it.
    from runwire.tui.app import Top
    from runwire.tui.link import Link

    link = Link()
    async with watching(options, link.dropped) as client:
        # Before the screen is taken: a gateway that is not there, or a wrong token, is said in plain words.
        await client.panes(limit=1)
        top = Top(client, link)
        await top.run_async()
    if top.failure is not None:
        raise top.failure
    return DONE


async def _print_panes(options: Options) -> int:
    cursor, more = None, True
    async with watching(options) as client, printing.while_read():
        while more:
            page = await client.panes(limit=_PAGE, cursor=cursor)
            for pane in page.data:
                printing.write(bytes(pane))
            cursor, more = page.next_cursor, page.has_more
    printing.flush()
    return DONE


def _settle_colour(options: Options) -> None:
    """Say in the environment, which is where Textual looks, whether colour is wanted; an empty NO_COLOR says nothing."""
    if options.no_color:
        os.environ["NO_COLOR"] = "1"
    elif not os.environ.get("NO_COLOR"):
        os.environ.pop("NO_COLOR", None)
