"""`runwire prune`: old events go."""

import asyncio
from collections.abc import Mapping

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.completing import RunId
from runwire.cli.look import Id, look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.quantities import Duration, Size
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.cli.tables import write_table
from runwire.client.naming import run_named

_FIELDS = {
    "max_age": "max_age_s",
    "max_events": "max_events",
    "max_bytes": "max_bytes",
    "through": "through_sequence",
}


@click.command(
    "prune",
    cls=Command,
    epilog="""\b
Examples:
  runwire prune --max-age 30d --dry-run     what would go
  runwire prune --max-age 30d               events older than that
  runwire prune --max-events 10000          all but the newest of each run
  runwire prune --max-bytes 2GiB            until the store fits
  runwire prune --max-events 100 --run RUN  one run only
  runwire prune --run RUN --through 5000    its events up to that number""",
)
@click.option("--max-age", type=Duration(), metavar="TIME", help="Keep events younger than TIME, such as 30d.")
@click.option("--max-events", type=click.IntRange(min=1), metavar="N", help="Keep N events of a run.")
@click.option("--max-bytes", type=Size(), metavar="SIZE", help="Keep as much as fits, such as 2GiB.")
@click.option("--run", type=RunId(), metavar="RUN", help="Only this run.")
@click.option("--through", type=click.IntRange(min=0), metavar="N", help="With --run: its events up to number N.")
@click.option("--dry-run", is_flag=True, help="Only tell what would go.")
def command(run: str | None, dry_run: bool, **limits: float | None) -> int:
    """Remove old events. Readers are told by a marker in their place; the hash chain still holds.

    Text that later events repeat goes first. Approvals, the ends of runs and the markers themselves stay. Works with or
    without a running gateway.
    """
    wishes = {_FIELDS[name]: limit for name, limit in limits.items() if limit is not None}
    if not wishes:
        raise click.UsageError("say what to keep: --max-age, --max-events or --max-bytes, or --run with --through")
    if "through_sequence" in wishes and (run is None or len(wishes) > 1):
        raise click.UsageError("--through goes with --run and with no other limit")
    return asyncio.run(_prune(current(), wishes, run, dry_run))


async def _prune(options: Options, wishes: Mapping[str, object], run: str | None, dry_run: bool) -> int:
    async with reached_or_embedded(options) as client:
        which = {} if run is None else {"run_id": await run_named(client, run)}
        with busy("looking for what may go" if dry_run else "removing old events"):
            report = await client.prune({**wishes, **which, "dry_run": dry_run})
    if options.json:
        for pruned in report:
            printing.write_json(pruned)
        return DONE
    rows = [(Id(pruned.run_id), str(pruned.events), str(pruned.through_sequence), pruned.reason) for pruned in report]
    write_table(("RUN", "EVENTS", "THROUGH", "REASON"), rows, look=look_of(options))
    total = sum(pruned.events for pruned in report)
    click.echo(f"{total} events {'would go' if dry_run else 'are gone'}", err=True)
    return DONE
