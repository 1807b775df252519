"""`runwire normalize`: an agent's own stream in, ours out. It stores nothing and asks nobody."""

import asyncio
import secrets

import click

from runwire.agents.catalogue import make_dialect, names
from runwire.agents.dialect import Dialect, StreamEnd, Telling
from runwire.agents.errors import AgentUnknown
from runwire.agents.glasspane import Pane
from runwire.agents.normalising import Enveloper, Normaliser
from runwire.cli import printing
from runwire.cli.logs import STANDARD, blocks_of, require_file
from runwire.cli.options import Command, current
from runwire.cli.reaching import say
from runwire.cli.statuses import DONE
from runwire.clock import SystemClock
from runwire.ids import Ids


@click.command(
    "normalize",
    cls=Command,
    epilog=f"""\b
Examples:
  zot --json "say hello" | runwire normalize --agent zot
  runwire normalize --agent claude session.jsonl > run.jsonl && runwire verify run.jsonl
  runwire normalize --agent pi session.jsonl --as glasspane

\b
Agents: {", ".join(names())}.""",
)
@click.option("--agent", required=True, metavar="NAME", help="Whose stream it is.")
@click.option(
    "--as",
    "form",
    type=click.Choice(["envelope", "glasspane"]),
    default="envelope",
    help="What to print: the events, or one line a frame with its canonical name and the agent's state.",
)
@click.argument("file", default=STANDARD)
def command(agent: str, form: str, file: str) -> int:
    """Read the raw stream of an agent from FILE (`-`, the default, is standard input) and print it as one wire.

    Envelopes come out as the events of one run, numbered from 0, ended as the agent ended. Nothing is stored: `ingest` does that.
    """
    configured = current().config().agents.get(agent)
    clock = SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    telling = Telling(agent=agent, approval_id=lambda: ids.new("appr"))
    try:
        dialect = make_dialect(agent if configured is None else configured.dialect or agent, telling)
    except AgentUnknown as unknown:
        raise click.UsageError(f"{unknown.message}; {unknown.hint}") from unknown
    require_file(file)
    return asyncio.run(_panes(dialect, file) if form == "glasspane" else _envelopes(agent, dialect, file, ids))


async def _envelopes(agent: str, dialect: Dialect, file: str, ids: Ids) -> int:
    clock = SystemClock()
    normaliser, enveloper = Normaliser(dialect), Enveloper(run_id=ids.new("run"), agent=agent, ids=ids)
    _write(enveloper.begin(clock.now_ns()))
    async with printing.while_read():
        async for block in blocks_of(file):
            now_ns = clock.now_ns()
            _write(enveloper.write(normaliser.feed(block, now_ns), now_ns))
    now_ns = clock.now_ns()
    rest, outcome = normaliser.end(StreamEnd(), now_ns)
    _write([*enveloper.write(rest, now_ns), *enveloper.end(outcome, dialect, now_ns)])
    return DONE


def _write(envelopes: list[bytes]) -> None:
    for envelope in envelopes:
        printing.write(envelope)
    printing.flush()


async def _panes(dialect: Dialect, file: str) -> int:
    clock, normaliser, pane = SystemClock(), Normaliser(dialect), Pane()
    async with printing.while_read():
        async for block in blocks_of(file):
            for line in normaliser.watch(block, clock.now_ns(), pane):
                printing.write_text(line)
            printing.flush()
    for line in normaliser.watch_end(clock.now_ns(), pane):
        printing.write_text(line)
    if pane.malformed:
        say(f"{pane.malformed} lines were not understood")
    return DONE
