"""`runwire run`: have something done, and see it done."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

import click

from runwire.cli import printing
from runwire.cli.asking import Asker
from runwire.cli.options import Command, Options, current
from runwire.cli.plain_view import PlainView
from runwire.cli.quantities import Dollars
from runwire.cli.reaching import reached_or_working, say
from runwire.cli.seeing import see
from runwire.cli.statuses import DONE
from runwire.client.answers import Run
from runwire.client.client import Client
from runwire.client.items import Event
from runwire.errors import RunwireError
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut

_SCRIPTED = "scripted:"
_MICROS = 1_000_000
_DECISIONS = frozenset({ApprovalRequested.type, ApprovalResolved.type, ApprovalTimedOut.type})


@click.command(
    "run",
    cls=Command,
    epilog="""\b
Examples:
  runwire run --model anthropic:claude-sonnet-4-5 "make the tests pass"
  runwire run --model scripted:demo.json --workspace . --json "anything" | jq .type
  runwire run --mode worktree --budget-usd 2 "try the other parser"
  runwire run --detach "a long job"              prints the run's id""",
)
@click.argument("prompt")
@click.option("--agent", metavar="NAME", help="Who does it [default: native].")
@click.option("--model", metavar="PROVIDER:NAME", help="Which model, such as openai:gpt-5 or scripted:FILE.")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Where to work [default: here; with --mode scratch, an empty folder].",
)
@click.option(
    "--mode",
    type=click.Choice(["in_place", "clone", "worktree", "scratch"]),
    help="How to use the workspace [default: in_place].",
)
@click.option("--budget-usd", type=Dollars(), metavar="N", help="Stop before more than this is spent.")
@click.option("--experimental", metavar="TYPES", help="Experimental event types to emit, separated by commas.")
@click.option(
    "--policy",
    type=click.Choice(["default", "ask", "read_only", "trust", "allow", "deny"]),
    help="What may happen without asking.",
)
@click.option("--session", metavar="CHAT", help="The session that it belongs to.")
@click.option("--detach", is_flag=True, help="Print the run's id and leave it to the workers.")
def command(prompt: str, detach: bool, **wishes: object) -> int:
    """Start a run for PROMPT and show it live. Ctrl-C cancels the run; pressed again, it leaves the run to the gateway.

    What needs a decision is asked here, when this is a terminal: y, n, e to edit, a for always, ? for more.

    The exit status is 0 when it completed, 1 when it failed or was denied, 130 when it was interrupted. With --json the
    lines are the stored envelopes, byte for byte. Without a gateway it runs in this process on the same data directory.
    """
    options = current()
    task = {"prompt": prompt, **_task(wishes)}
    with asyncio.Runner() as runner:
        return runner.run(_detach(options, task) if detach else _run(options, task))


def _task(wishes: Mapping[str, object]) -> dict[str, object]:
    """The wishes as the gateway takes them; what was not wished for is left out."""
    task: dict[str, object] = {name: wishes[name] for name in ("agent", "policy") if wishes[name] is not None}
    model = wishes["model"]
    if isinstance(model, str):
        # The worker may stand somewhere else, so a file is named from the root.
        file = model.removeprefix(_SCRIPTED)
        task["model"] = f"{_SCRIPTED}{Path(file).resolve()}" if model.startswith(_SCRIPTED) else model
    if wishes["session"] is not None:
        task["session_id"] = wishes["session"]
    budget = wishes["budget_usd"]
    if isinstance(budget, float):
        task["budget_micros_usd"] = round(budget * _MICROS)
    types = wishes["experimental"]
    if isinstance(types, str):
        task["experimental"] = [one.strip() for one in types.split(",") if one.strip()]
    mode, place = wishes["mode"] or "in_place", wishes["workspace"]
    workspace: dict[str, object] = {"mode": mode}
    if isinstance(place, Path) or mode != "scratch":
        workspace["path"] = str((place if isinstance(place, Path) else Path()).resolve())
    task["workspace"] = workspace
    return task


async def _detach(options: Options, task: Mapping[str, object]) -> int:
    async with reached_or_working(options, working=False) as (client, here):
        run = await _start(client, task)
    if here:
        say("no gateway runs here: the run waits for `runwire up` or `runwire worker`")
    if options.json:
        printing.write_json({"run_id": run.run_id, "task_id": run.task_id, "status": run.status})
    else:
        printing.write_text(run.run_id)
    return DONE


async def _start(client: Client, task: Mapping[str, object]) -> Run:
    made = await client.create_task(task)
    if made.latest_run is None:
        raise RunwireError("the gateway made the task but started no run")
    return made.latest_run


async def _run(options: Options, task: Mapping[str, object]) -> int:
    async with reached_or_working(options, working=True) as (client, here):
        run = await _start(client, task)
        return await see(options, client, run, here=here, otherwise=lambda: _print(options, client, run))


async def _print(options: Options, client: Client, run: Run) -> None:
    view = None if options.json else PlainView()
    asker = Asker.on_terminal(client) if view is not None else None
    try:
        async with printing.while_read(), aclosing(client.events(run.run_id)) as items:
            async for item in items:
                if not isinstance(item, Event):
                    continue
                if view is None:
                    printing.write(item.envelope)
                    printing.flush()
                else:
                    view.show(item.envelope)
                if asker is not None and item.type in _DECISIONS:
                    asker.hear(decode_payload(item.type, data_of(item.envelope)))
    finally:
        if asker is not None:
            await asker.close()
        if view is not None:
            view.end_text()
            printing.flush()
