"""`runwire replay`: a log once more, at the pace it was made."""

import asyncio
import math
from contextlib import aclosing

import click

from runwire.cli import printing
from runwire.cli.logs import log_of
from runwire.cli.options import Command, Options, current
from runwire.cli.statuses import DONE
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
@click.argument("source", metavar="RUN|FILE")
@click.option("--speed", type=Speed(), default="1", metavar="N|max", help="How many times as fast [default: 1].")
def command(source: str, speed: float) -> int:
    """Print the envelopes of RUN or FILE (`-` is standard input), one a line, waiting between them as long as it took.

    Works with or without a running gateway.
    """
    return asyncio.run(_replay(current(), source, speed))


async def _replay(options: Options, source: str, speed: float) -> int:
    loop = asyncio.get_running_loop()
    began_s, first_ns = loop.time(), None
    async with printing.while_read(), aclosing(log_of(source, options)) as lines:
        async for line in lines:
            if speed < math.inf:
                at_ns = _moment(line)
                first_ns = at_ns if first_ns is None else first_ns
                # Against the start, not the line before: small errors must not add up over a long log.
                due_s = began_s + (at_ns - first_ns) / _NS / speed
                printing.flush()
                await asyncio.sleep(due_s - loop.time())
            printing.write(line)
    return DONE


def _moment(line: bytes) -> int:
    try:
        return parse_rfc3339(decode_envelope(line).occurred_at)
    except (MalformedEnvelope, ValueError) as error:
        raise click.ClickException(f"this is no log of envelopes: {error}") from error
