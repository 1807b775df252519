"""`runwire show`: one run."""

import asyncio
from contextlib import aclosing

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
from runwire.client.client import Client
from runwire.client.naming import run_named
from runwire.client.render.blocks import told_elsewhere
from runwire.client.render.drawing import Drawing
from runwire.client.render.money import dollars
from runwire.client.render.text import lines_of, text_of

_LAST = 1000
_WIDTH = 120


@click.command(
    "show",
    cls=Command,
    epilog="""\b
Examples:
  runwire show RUN
  runwire show RUN --events 0              only what it is now, not what happened
  runwire show RUN --json | jq .head_hash""",
)
@click.argument("run", type=RunId())
@click.option(
    "--events",
    "last",
    type=click.IntRange(min=0),
    default=_LAST,
    metavar="N",
    help="Tell what the last N events say [default: 1000].",
)
def command(run: str, last: int) -> int:
    """Show what RUN is now, and what happened in it. With --json the line is the run as the gateway tells it.

    Works with or without a running gateway.
    """
    return asyncio.run(_show(current(), run, last))


async def _show(options: Options, run_id: str, last: int) -> int:
    async with reached_or_embedded(options) as client, printing.while_read():
        told = await client.run_json(await run_named(client, run_id))
        if options.json:
            printing.write(told)
            return DONE
        run = msgspec.json.decode(told, type=Run)
        _write(options, run)
        if last:
            await _tell(options, client, run, max(run.head_sequence - last, -1))
    return DONE


async def _tell(options: Options, client: Client, run: Run, after: int) -> None:
    """Draw what happened past an event: as `run` drew it on a terminal, as plain lines elsewhere."""
    printing.write_text("")
    if after >= run.first_sequence:
        left_out = f"… what happened up to event {after}: `runwire replay {run.run_id} --speed max`"
        printing.write_text(look_of(options).painted(left_out, "quiet"))
    printing.flush()
    async with aclosing(client.export(run.run_id, after)) as lines:
        if not printing.drawable(no_color=options.no_color):
            drawing = Drawing()
            async for line in lines:
                drawing.take(line)
            _write_blocks(drawing, printing.width() or _WIDTH)
            return
        # Not at the top: what draws is loaded only where somebody looks.
        from runwire.cli.live import on_screen

        async with on_screen(client, asks=False) as live:
            async for line in lines:
                live.take(line)


def _write_blocks(drawing: Drawing, width: int) -> None:
    for block in drawing.blocks:
        if not told_elsewhere(block):
            for line in lines_of(block, width, now_ns=drawing.head_ns):
                printing.write_text(text_of(line))


def _write(options: Options, run: Run) -> None:
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


def _range(run: Run) -> str:
    count = run.head_sequence + 1
    pruned = f", the first kept is {run.first_sequence}" if run.first_sequence else ""
    return f"{count}{pruned}"
