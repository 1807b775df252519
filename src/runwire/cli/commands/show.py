"""`runwire show`: one run."""

import asyncio

import click
import msgspec

from runwire.cli import printing
from runwire.cli.completing import RunId
from runwire.cli.look import Moment, State, look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_facts
from runwire.client.answers import Run
from runwire.client.naming import run_named
from runwire.client.render.money import dollars


@click.command(
    "show",
    cls=Command,
    epilog="""\b
Examples:
  runwire show RUN
  runwire show RUN --json | jq .head_hash""",
)
@click.argument("run", type=RunId())
def command(run: str) -> int:
    """Show what RUN is now. With --json the line is the run as the gateway tells it.

    Works with or without a running gateway.
    """
    return asyncio.run(_show(current(), run))


async def _show(options: Options, run_id: str) -> int:
    async with reached_or_embedded(options) as client:
        told = await client.run_json(await run_named(client, run_id))
    if options.json:
        printing.write(told)
        return DONE
    run = msgspec.json.decode(told, type=Run)
    write_facts(
        [
            ("run", run.run_id),
            ("task", run.task_id or ""),
            ("session", run.session_id or ""),
            ("agent", run.agent),
            ("status", State(run.status)),
            ("error", ": ".join(part for part in (run.error_code, run.error_message) if part)),
            ("events", _range(run)),
            ("cost", dollars(run.cost_micros_usd)),
            ("created", Moment(run.created_at)),
            ("updated", Moment(run.updated_at)),
            ("head", run.head_hash),
        ],
        look=look_of(options),
    )
    return DONE


def _range(run: Run) -> str:
    count = run.head_sequence + 1
    pruned = f", the first kept is {run.first_sequence}" if run.first_sequence else ""
    return f"{count}{pruned}"
