"""`runwire resume`: go on from a place in an earlier run."""

import asyncio
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.completing import RunId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_working
from runwire.cli.seeing import see
from runwire.cli.statuses import DONE
from runwire.client.answers import Run
from runwire.client.client import Client
from runwire.client.naming import run_named

_ENDS = "run.finished,run.failed,run.cancelled"


@click.command(
    "resume",
    cls=Command,
    epilog="""\b
Examples:
  runwire resume RUN                 from its last checkpoint
  runwire resume RUN --from 41       as if nothing after event 41 had happened
  runwire resume RUN --branch        beside the run, in a task of its own""",
)
@click.argument("run", type=RunId())
@click.option("--from", "sequence", type=click.IntRange(min=0), metavar="N", help="The last event that still counts.")
@click.option("--branch", is_flag=True, help="In a new task, also while RUN goes on.")
def command(run: str, sequence: int | None, branch: bool) -> int:
    """Start a new run that knows what RUN knew, and print its id.

    Without a gateway the new run is carried out by this command, shown live on a terminal; the exit status is then that of `run`.
    """
    return asyncio.run(_resume(current(), run, sequence, branch))


async def _resume(options: Options, run_id: str, sequence: int | None, branch: bool) -> int:
    async with reached_or_working(options, working=True) as (client, here):
        run = await client.resume(
            await client.run(await run_named(client, run_id)), from_sequence=sequence, branch=branch
        )
        if options.json:
            printing.write_json({"run_id": run.run_id, "task_id": run.task_id, "status": run.status})
        else:
            printing.write_text(run.run_id)
        printing.flush()
        if not here:
            return DONE
        return await see(options, client, run, here=True, otherwise=lambda: _wait(client, run))


async def _wait(client: Client, run: Run) -> None:
    """Wait for the end of a run."""
    with busy("carrying the run out"):
        async with aclosing(client.events(run.run_id, types=_ENDS)) as items:
            async for _ in items:
                pass
