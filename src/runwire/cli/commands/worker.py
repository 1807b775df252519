"""`runwire worker`: a process that only works."""

import asyncio
import os
import sys

import click
import uvloop

from runwire.cli import printing
from runwire.cli.options import Command, current
from runwire.cli.statuses import DONE
from runwire.wiring import working


@click.command(
    "worker",
    cls=Command,
    epilog="""\b
Examples:
  runwire worker                   beside a gateway on the same data directory
  runwire worker --slots 8""",
)
@click.option("--slots", type=click.IntRange(1, 256), metavar="N", help="Runs at a time [RUNWIRE_WORKERS; default: 4].")
def command(slots: int | None) -> int:
    """Take runs from the queue of the data directory and carry them out until SIGINT (Ctrl-C) or SIGTERM.

    Either signal ends it in order: it claims nothing more, lets turns reach their end, and hands the rest to others.
    """
    options = current()
    config = options.config(workers=slots)

    def started(worker_id: str) -> None:
        sys.stderr.write(f"worker {worker_id} works on {config.data}, {config.workers} runs at a time\n")
        sys.stderr.flush()
        if options.json:
            printing.write_json({"worker_id": worker_id, "pid": os.getpid()})
            printing.flush()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(working.work(config, started=started))
    return DONE
