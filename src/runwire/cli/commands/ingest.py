"""`runwire ingest`: the stream of an agent that runs elsewhere becomes a run, live."""

import asyncio
import secrets

import click
import msgspec

from runwire.agents.catalogue import dialect_of
from runwire.agents.errors import AgentUnknown
from runwire.cli import printing
from runwire.cli.logs import STANDARD, blocks_of, require_file
from runwire.cli.options import Command, Options, current
from runwire.cli.program import complain
from runwire.cli.reaching import reached_or_embedded, say
from runwire.cli.statuses import DONE, FAILED
from runwire.clock import SystemClock
from runwire.ids import Ids


class _Run(msgspec.Struct, frozen=True):
    run_id: str
    status: str
    error_message: str | None = None


@click.command(
    "ingest",
    cls=Command,
    epilog="""\b
Examples:
  zot --json "make the tests pass" | runwire ingest --agent zot
  claude -p "…" --output-format stream-json --verbose | runwire ingest --agent claude""",
)
@click.option("--agent", required=True, metavar="NAME", help="Whose stream it is.")
@click.argument("file", default=STANDARD)
def command(agent: str, file: str) -> int:
    """Keep the raw stream of an agent as a run, as it comes from FILE (`-`, the default, is standard input).

    The id of the run is said at once on standard error and printed at the end. The status is 1 when the agent failed or was stopped.
    Works with or without a running gateway.
    """
    options = current()
    configured = options.config().agents.get(agent)
    try:
        dialect_of(agent if configured is None else configured.dialect or agent)
    except AgentUnknown as unknown:
        raise click.UsageError(f"{unknown.message}; {unknown.hint}") from unknown
    require_file(file)
    return asyncio.run(_ingest(options, agent, file))


async def _ingest(options: Options, agent: str, file: str) -> int:
    run_id = Ids(now_ns=SystemClock().now_ns, random_bytes=secrets.token_bytes).new("run")
    async with reached_or_embedded(options) as client:
        say(f"the run is {run_id}")
        raw = await client.ingest(agent, blocks_of(file), run_id=run_id)
    run = msgspec.json.decode(raw, type=_Run)
    if options.json:
        printing.write(raw)
    else:
        printing.write_text(run.run_id)
    if run.status == "completed":
        return DONE
    printing.flush()
    said = "was cancelled" if run.status == "cancelled" else run.status
    because = f": {run.error_message}" if run.error_message else ""
    complain(f"the run {said}{because}", f"`runwire show {run.run_id}` tells more")
    return FAILED
