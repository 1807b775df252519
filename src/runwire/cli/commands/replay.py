"""`runwire replay`: a log once more, at the pace it was made."""

import asyncio
import math
from collections.abc import AsyncIterable
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.completing import RunOrFile
from runwire.cli.logs import NotALog, after_first, blocks_of, is_file, lines_of, log_of
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import knowing, reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.client import Client
from runwire.client.naming import run_named
from runwire.clock import parse_rfc3339
from runwire.protocol.envelope import MalformedEnvelope, decode_envelope

_NS = 1_000_000_000


class Speed(click.ParamType[float]):
    """A number above 0, or `max`."""

    name = "speed"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """How many recorded seconds pass in one; infinity for `max`."""
        if value == "max":
            return math.inf
        try:
            speed = float(str(value))
        except ValueError:
            speed = 0.0
        if not 0 < speed < math.inf:
            self.fail(f"{value!r} is neither a number above 0 nor `max`", param, ctx)
        return speed


@click.command(
    "replay",
    cls=Command,
    epilog="""\b
Examples:
  runwire replay RUN                    as it happened
  runwire replay run.jsonl --speed 10   ten times as fast
  runwire replay RUN --speed max        without waiting""",
)
@click.argument("source", type=RunOrFile(), metavar="RUN|FILE")
@click.option("--speed", type=Speed(), default="1", metavar="N|max", help="How many times as fast [default: 1].")
def command(source: str, speed: float) -> int:
    """Show RUN or FILE (`-` is standard input) once more, waiting between events as long as it took.

    Elsewhere than on a terminal, and with --json, it prints the envelopes, one a line.

    Works with or without a running gateway.
    """
    return asyncio.run(_replay(current(), source, speed))


async def _replay(options: Options, source: str, speed: float) -> int:
    if not options.json and printing.drawable(no_color=options.no_color):
        await _show(options, source, speed)
        return DONE
    pace = _Pace(speed)
    async with printing.while_read(), aclosing(log_of(source, options)) as lines:
        async for line in lines:
            await pace.keep(line)
            printing.write(line)
    return DONE


async def _show(options: Options, source: str, speed: float) -> None:
    if is_file(source):
        run_id, lines = await after_first(lines_of(blocks_of(source)))
        # A log only names the diffs; where the run is known, they are shown.
        async with aclosing(lines), knowing(options, run_id) as client:
            await _draw(client, lines, _Pace(speed))
    else:
        async with reached_or_embedded(options) as client:
            run_id = await run_named(client, source)
            async with aclosing(client.export(run_id)) as lines:
                await _draw(client, lines, _Pace(speed))


async def _draw(client: Client | None, lines: AsyncIterable[bytes], pace: "_Pace") -> None:
    # Not at the top: what draws is loaded only where somebody looks.
    from runwire.cli.live import on_screen

    async with on_screen(client, asks=False, now_ns=pace.now_ns) as live:
        async for line in lines:
            await pace.keep(line)
            try:
                live.take(line)
            except MalformedEnvelope as error:
                raise NotALog(error) from error


class _Pace:
    """The time of a log as it passes once more."""

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._loop = asyncio.get_running_loop()
        self._began_s = self._loop.time()
        self._first_ns: int | None = None

    async def keep(self, line: bytes) -> None:
        """Wait until it is time for a line."""
        if self._speed == math.inf:
            return
        at_ns = _moment(line)
        self._first_ns = at_ns if self._first_ns is None else self._first_ns
        # Against the start, not the line before: small errors must not add up over a long log.
        due_s = self._began_s + (at_ns - self._first_ns) / _NS / self._speed
        printing.flush()
        await asyncio.sleep(due_s - self._loop.time())

    def now_ns(self) -> int:
        """The moment of the log that is now."""
        if self._first_ns is None:
            return 0
        return self._first_ns + round((self._loop.time() - self._began_s) * self._speed * _NS)


def _moment(line: bytes) -> int:
    try:
        return parse_rfc3339(decode_envelope(line).occurred_at)
    except (MalformedEnvelope, ValueError) as error:
        raise NotALog(error) from error
