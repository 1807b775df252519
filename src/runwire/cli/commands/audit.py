"""`runwire audit`: who did what, and with whose permission."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

import click
import msgspec

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.lines import plain
from runwire.cli.look import Look, look_of, shortened
from runwire.cli.options import Command, Options, current
from runwire.cli.quantities import Duration, Moment
from runwire.cli.reaching import reached_or_embedded, say
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_table
from runwire.client.answers import AuditEntry
from runwire.client.render.text import many

_ROWS = 1000
_ANSWER_S = 30.0
_PAGE = 5000


@click.command(
    "audit",
    cls=Command,
    epilog="""\b
Examples:
  runwire audit
  runwire audit --type 'approval.*' --since 12h
  runwire audit --grep "rm -rf"
  runwire audit --sql "SELECT command, exit_code FROM shell_commands WHERE exit_code <> 0"
  runwire audit --sql "SELECT decided_by, count(*) FROM approvals GROUP BY 1"
  runwire audit --sql "SELECT path, action, who FROM edits" --json
\b
Views for --sql:
  events, shell_commands, approvals, edits, costs
  "SELECT * FROM approvals LIMIT 1" --json shows the columns of one.""",
)
@click.option("--type", "types", metavar="TYPES", help="These types instead of the usual ones.")
@click.option(
    "--since", type=Moment(), metavar="TIME", help="Only what occurred then or later: 12h ago, or a moment in RFC 3339."
)
@click.option("--grep", "words", metavar="TEXT", help="Only what mentions this.")
@click.option(
    "--sql", "question", metavar="QUERY", help="Answer a question in SQL instead; nothing can be changed by it."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=_ROWS,
    metavar="N",
    help="With --sql: at most N rows [default: 1000].",
)
@click.option(
    "--timeout",
    "within_s",
    type=Duration(),
    default=str(_ANSWER_S),
    metavar="TIME",
    help="With --sql: how long the answer may take [default: 30s].",
)
def command(
    types: str | None, since: str | None, words: str | None, question: str | None, limit: int, within_s: float
) -> int:
    """Print commands, decisions, edits, blocked calls and how runs ended, oldest first, one a line.

    With --json each line is one fact as the gateway tells it. With --sql the events are read into a private copy, those of
    --type and --since only where these are given, and each row of the answer is printed; with --json as an object. Works with or without a
    running gateway.
    """
    filters = {name: value for name, value in (("type", types), ("since", since), ("q", words)) if value}
    if question is None:
        return asyncio.run(_print(current(), filters))
    if words is not None:
        raise click.UsageError("--grep does not go with --sql: say it with LIKE")
    return _answer(current(), question, filters, most=limit, within_s=within_s)


async def _print(options: Options, filters: dict[str, str]) -> int:
    look = look_of(options)
    async with reached_or_embedded(options) as client, printing.while_read():
        cursor: str | None = None
        while True:
            with busy("looking through the log"):
                page = await client.audit(cursor=cursor, **filters)
            for fact in page.data:
                _write(options, look, fact)
            printing.flush()
            cursor = page.next_cursor
            if not page.has_more:
                return DONE


def _write(options: Options, look: Look, fact: msgspec.Raw) -> None:
    if options.json:
        printing.write(bytes(fact))
        return
    entry = msgspec.json.decode(fact, type=AuditEntry)
    who = f" by {entry.who}" if entry.who else ""
    (run_id,) = shortened([entry.run_id]) if look.terminal else [entry.run_id]
    when = look.when(entry.occurred_at)
    line = plain(f"{when:<8}  {run_id} #{entry.sequence}  {entry.type}{who}  {entry.what}".rstrip())
    printing.write_text(look.fitting(line))


def _answer(options: Options, question: str, filters: Mapping[str, str], *, most: int, within_s: float) -> int:
    # Not at the top: the database is loaded with it.
    from runwire.cli.ledger import Ledger

    with closing(Ledger()) as ledger:
        needed = ledger.needs(question)
        if needed != "":
            asyncio.run(_fill(options, ledger.keep, {**({} if needed is None else {"type": needed}), **filters}))
        with busy("looking for the answer"):
            found = ledger.answer(question, most=most, within_s=within_s)
    columns = _distinct(found.columns)
    if options.json:
        for row in found.rows:
            printing.write_json(dict(zip(columns, row, strict=True)))
    else:
        write_table(columns, [[_shown(value) for value in row] for row in found.rows], look=look_of(options))
    if found.more:
        say(f"there is more than these {most} rows; --limit shows more")
    return DONE


async def _fill(options: Options, keep: Callable[[Sequence[bytes]], None], filters: dict[str, str]) -> None:
    """Read the events that are asked for."""
    count, cursor = 0, None
    async with reached_or_embedded(options) as client:
        with busy("reading the log", lambda: many(count, "event")):
            while True:
                page = await client.feed(cursor=cursor, limit=_PAGE, **filters)
                keep([bytes(envelope) for envelope in page.data])
                count, cursor = count + len(page.data), page.next_cursor
                if not page.has_more:
                    return


def _distinct(columns: Sequence[str]) -> list[str]:
    """The names of the columns, each of them once."""
    given = list(columns)
    return [name if name not in given[:at] else f"{name}:{at + 1}" for at, name in enumerate(given)]


def _shown(value: object) -> str:
    return "" if value is None else value.hex() if isinstance(value, bytes) else str(value)
