"""`runwire conformance`: whether a server keeps the protocol."""

import asyncio
import secrets
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.completing import RunId
from runwire.cli.lines import plain
from runwire.cli.look import Look, Style, look_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import address_of, say, token_for
from runwire.cli.statuses import DONE, FAILED
from runwire.client.client import Client
from runwire.client.conformance.asking import Asker
from runwire.client.conformance.kit import check, recorded
from runwire.client.conformance.scenario import Result
from runwire.client.naming import run_named
from runwire.clock import SystemClock
from runwire.ids import Ids

_STYLES: dict[str, Style] = {"ok": "good", "breach": "bad", "skipped": "quiet"}


@click.command(
    "conformance",
    cls=Command,
    epilog="""\b
Examples:
  runwire conformance --url http://127.0.0.1:7437
  runwire conformance --url https://elsewhere.example --token TOKEN --run RUN   without writing anything
  runwire conformance --json | jq -r 'select(.outcome == "breach") | .rule'""",
)
@click.option("--run", type=RunId(), metavar="RUN", help="Ask about this run, which is over, and write nothing.")
def command(run: str | None) -> int:
    """Hold a server to the protocol, one scenario a line, and exit with status 1 if it breaks any requirement.

    The server is that of --url, else the gateway on the data directory. A short run is imported first, and stays there; a server
    that takes none is asked about the newest of its runs that is over. It takes about ten seconds, most of them waiting for a heartbeat.
    """
    return asyncio.run(_check(current(), run))


async def _check(options: Options, run: str | None) -> int:
    config, clock, look = options.config(), SystemClock(), look_of(options)
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    url, token = address_of(config), token_for(config)
    if run is not None:
        async with Client(url, token) as client:
            run = await run_named(client, run)
    log, counts = recorded(ids.new, clock.now_ns()), {"ok": 0, "breach": 0, "skipped": 0}
    async with (
        Asker(url, token) as asker,
        aclosing(check(asker, log, run_id=run)) as results,
    ):
        while True:
            with busy("asking the server"):
                result = await anext(results, None)
            if result is None:
                break
            counts[result.outcome] += 1
            _tell(options, look, result)
    say(f"{counts['ok']} kept, {counts['breach']} broken, {counts['skipped']} not looked at")
    return FAILED if counts["breach"] else DONE


def _tell(options: Options, look: Look, result: Result) -> None:
    scenario = result.scenario
    if options.json:
        printing.write_json(
            {
                "scenario": scenario.name,
                "outcome": result.outcome,
                "rules": scenario.rules,
                "rule": result.rule or None,
                "message": result.message or None,
            }
        )
    else:
        outcome = look.painted(f"{result.outcome:<7}", _STYLES[result.outcome])
        why = ": ".join(part for part in (result.rule, result.message) if part) or ", ".join(scenario.rules)
        printing.write_text(f"{outcome}  {scenario.name:<18}  {plain(why)}")
    printing.flush()
