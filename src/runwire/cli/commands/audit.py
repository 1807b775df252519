"""`runwire audit`: who did what, and with whose permission."""

import asyncio

import click
import msgspec

from runwire.cli import printing
from runwire.cli.lines import plain
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.answers import AuditEntry


@click.command(
    "audit",
    cls=Command,
    epilog="""\b
Examples:
  runwire audit
  runwire audit --type 'approval.*' --since 2026-11-01T00:00:00Z
  runwire audit --grep "rm -rf\"""",
)
@click.option("--type", "types", metavar="TYPES", help="These types instead of the usual ones.")
@click.option("--since", metavar="TIME", help="Only what occurred at this moment or later (RFC 3339).")
@click.option("--grep", "words", metavar="TEXT", help="Only what mentions this.")
def command(types: str | None, since: str | None, words: str | None) -> int:
    """Print commands, decisions, edits, blocked calls and how runs ended, oldest first, one a line.

    With --json each line is one fact as the gateway tells it. Works with or without a running gateway.
    """
    filters = {name: value for name, value in (("type", types), ("since", since), ("q", words)) if value}
    return asyncio.run(_print(current(), filters))


async def _print(options: Options, filters: dict[str, str]) -> int:
    async with reached_or_embedded(options) as client:
        cursor: str | None = None
        while True:
            page = await client.audit(cursor=cursor, **filters)
            for fact in page.data:
                _write(options, fact)
            printing.flush()
            cursor = page.next_cursor
            if not page.has_more:
                return DONE


def _write(options: Options, fact: msgspec.Raw) -> None:
    if options.json:
        printing.write(bytes(fact))
        return
    entry = msgspec.json.decode(fact, type=AuditEntry)
    who = f" by {entry.who}" if entry.who else ""
    printing.write_text(
        plain(f"{entry.occurred_at[:19]}Z  {entry.run_id} #{entry.sequence}  {entry.type}{who}  {entry.what}".rstrip())
    )
