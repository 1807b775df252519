"""`runwire acp`: an agent for editors."""

import asyncio
import os
import secrets
import signal
import sys
import time

import click

from runwire.acp.serving import serve
from runwire.acp.session import MODES
from runwire.cli.options import Command, Options, current
from runwire.cli.quantities import Dollars
from runwire.cli.reaching import reached_or_working
from runwire.cli.statuses import DONE
from runwire.cli.wishes import budget_micros_usd, model_named
from runwire.ids import Ids


@click.command(
    "acp",
    cls=Command,
    epilog="""\b
Examples:
  runwire acp --model anthropic:claude-sonnet-4-5
  runwire acp --agent claude --mode worktree --policy ask

In the settings of an editor such as Zed:
  "agent_servers": {"Runwire": {"command": "runwire", "args": ["acp", "--model", "openai:gpt-5"]}}""",
)
@click.option("--agent", metavar="NAME", help="Who does the work [default: native].")
@click.option("--model", metavar="PROVIDER:NAME", help="Which model, such as openai:gpt-5 or scripted:FILE.")
@click.option(
    "--mode",
    type=click.Choice(["in_place", "clone", "worktree"]),
    default="in_place",
    show_default=True,
    help="How to use the folder that the editor has open.",
)
@click.option("--budget-usd", type=Dollars(), metavar="N", help="What one conversation may cost.")
@click.option(
    "--policy",
    type=click.Choice([mode.id for mode in MODES]),
    help="What may happen without asking, until the editor chooses another mode [default: default].",
)
def command(model: str | None, budget_usd: float | None, **wishes: object) -> int:
    """Be an agent on stdin and stdout, in the Agent Client Protocol, for an editor that starts this command.

    Each conversation is a task, each prompt a run. What needs a decision is asked in the editor, and can be answered
    anywhere else. Runs outlive the editor; without a gateway they are carried out here and end with this command.
    """
    settings = {name: value for name, value in wishes.items() if value is not None}
    if model is not None:
        settings["model"] = model_named(model)
    if budget_usd is not None:
        settings["budget_micros_usd"] = budget_micros_usd(budget_usd)
    with asyncio.Runner() as runner:
        return runner.run(_serve(current(), settings))


async def _serve(options: Options, settings: dict[str, object]) -> int:
    # What anything else prints goes to stderr from now on: stdout has room for the protocol only.
    out = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, stop.set)
    ids = Ids(now_ns=time.time_ns, random_bytes=secrets.token_bytes)
    async with reached_or_working(options, working=True) as (client, here):
        pipes = (sys.stdin.fileno(), out)
        await serve(client, settings, pipes=pipes, stop=stop, here=here, new_id=ids.new)
    return DONE
