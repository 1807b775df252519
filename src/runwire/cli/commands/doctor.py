"""`runwire doctor`: what works here, what does not, and what to do."""

import asyncio
from collections.abc import Iterator

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.checks import (
    Finding,
    check_clock,
    check_data,
    check_gateway,
    check_python,
    check_sqlite,
    check_token,
    fail,
)
from runwire.cli.lines import plain
from runwire.cli.look import State, look_of, style_of
from runwire.cli.options import Command, Options, current
from runwire.cli.statuses import DONE, FAILED
from runwire.cli.work_checks import check_agents, check_models, check_programs, check_sandbox
from runwire.errors import ConfigInvalid


@click.command(
    "doctor",
    cls=Command,
    epilog="""\b
Examples:
  runwire doctor
  runwire doctor --json | jq 'select(.level != "ok")'""",
)
def command() -> int:
    """Check Python, SQLite, the data directory, the disk, the token file, the clock, what runs need, and the gateway.

    Each line is ok, warn or fail, with what to do about it. Exits with status 1 when anything fails. Changes nothing.
    """
    options = current()
    look = look_of(options)
    with busy("looking around"):
        findings = list(_look(options))
    for finding in findings:
        if options.json:
            printing.write_json(finding)
        else:
            level = look.painted(f"{finding.level:<5}", style_of(State(finding.level)))
            printing.write_text(f"{level} {plain(finding.what)}")
            if finding.to_do:
                printing.write_text(f"      {plain(finding.to_do)}")
    return FAILED if any(finding.level == "fail" for finding in findings) else DONE


def _look(options: Options) -> Iterator[Finding]:
    yield from check_python()
    try:
        config = options.config()
    except ConfigInvalid as error:
        yield fail(error.message, error.hint)
        return
    yield from check_data(config)
    yield from check_sqlite(config)
    yield from check_token(config)
    yield from check_clock(config)
    yield from check_programs()
    yield from check_models(config)
    yield from asyncio.run(check_sandbox(config))
    yield from asyncio.run(check_agents(config))
    yield from asyncio.run(check_gateway(config))
