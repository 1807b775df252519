"""`runwire resume`: go on from a place in an earlier run."""

import asyncio

import click

from runwire.cli import printing
from runwire.cli.completing import RunId
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached
from runwire.cli.statuses import DONE
from runwire.client.naming import run_named


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

    This command needs a running gateway.
    """
    return asyncio.run(_resume(current(), run, sequence, branch))


async def _resume(options: Options, run_id: str, sequence: int | None, branch: bool) -> int:
    async with reached(options) as client:
        run = await client.resume(
            await client.run(await run_named(client, run_id)), from_sequence=sequence, branch=branch
        )
    if options.json:
        printing.write_json({"run_id": run.run_id, "task_id": run.task_id, "status": run.status})
    else:
        printing.write_text(run.run_id)
    return DONE
