"""`runwire agents`: who can be asked to do something, and whether asking works."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import click
import msgspec

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.look import look_of
from runwire.cli.options import Group, Options, current
from runwire.cli.program import complain
from runwire.cli.reaching import reached_or_embedded, reached_or_working
from runwire.cli.statuses import DONE, FAILED
from runwire.cli.tables import write_facts, write_table
from runwire.client.answers import Agent, Run
from runwire.client.client import Client
from runwire.client.items import Event
from runwire.errors import GatewayError, NotFound, RunwireError
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of
from runwire.protocol.events.assistant import AssistantTextComplete

_PROMPT = "Reply with the single word: ready"
_TIMEOUT_S = 120.0
_SAID_MAX = 200


class AgentNotThere(NotFound):
    """No agent of that name."""

    code = "agent_not_found"
    hint = "`runwire agents` lists those there are; `[agents.NAME]` in config.toml adds one"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no agent {name[:64]!r}", details={"agent": name[:64]})


@click.group(
    "agents",
    cls=Group,
    invoke_without_command=True,
    epilog="""\b
Examples:
  runwire agents
  runwire agents --json | jq -r 'select(.installed) | .name'
  runwire agents probe claude                 start it for real, and see it answer
  runwire agents probe native --model openai:gpt-5""",
)
@click.pass_context
def command(context: click.Context) -> int:
    """List every agent: which are here and in which version, whether they ask before they act, and how they are driven.

    RESTART tells what becomes of a question when the worker ends: it waits, or it is gone with the agent. Works with or without
    a running gateway.
    """
    return DONE if context.invoked_subcommand else asyncio.run(_list(current()))


@command.command("probe")
@click.argument("name", metavar="NAME")
@click.option("--model", metavar="MODEL", help="Which model [default: the agent's own choice].")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=1),
    default=_TIMEOUT_S,
    metavar="S",
    help="How long it may take.",
)
def probe(name: str, model: str | None, timeout_s: float) -> int:
    """Start the agent NAME for real, confined in an empty folder, and have it say one word.

    Tells what happened. Exits with status 1, and what to do, when it is not here or does not answer. Works with or without a
    running gateway; the exchange is an ordinary run, which may cost what one word of its model costs.
    """
    wishes: dict[str, object] = {
        "prompt": _PROMPT,
        "title": f"probe of {name}",
        "workspace": {"mode": "scratch"},
        "policy": "read_only",
        "timeout_s": timeout_s,
    }
    if model is not None:
        wishes["model"] = model
    return asyncio.run(_probe(current(), name, wishes))


async def _list(options: Options) -> int:
    async with reached_or_embedded(options) as client:
        with busy("looking for agents"):
            listing = await client.agents()
    if options.json:
        for one in listing.data:
            printing.write(bytes(one))
        return DONE
    write_table(
        ("AGENT", "VERSION", "ASKS", "RESTART", "EVENTS", "DRIVEN"),
        [_row(agent) for agent in _agents(listing.data)],
        look=replace(look_of(options), width=printing.width()),
    )
    return DONE


def _agents(data: Sequence[msgspec.Raw]) -> list[Agent]:
    return [msgspec.json.decode(one, type=Agent) for one in data]


def _row(agent: Agent) -> tuple[str, ...]:
    version = agent.version or ("unknown" if agent.installed else "not here")
    return (
        agent.name,
        version,
        "yes" if agent.asks else "no",
        "waits" if agent.survives_restart else "is gone",
        str(len(agent.event_types)),
        agent.driven if agent.installed else f"to get it: {agent.install}",
    )


@dataclass(slots=True)
class _Exchange:
    """What happened when an agent was asked."""

    run: Run
    types: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)


async def _probe(options: Options, name: str, wishes: dict[str, object]) -> int:
    async with reached_or_working(options, working=True) as (client, _):
        with busy("looking for agents"):
            known = _agents((await client.agents()).data)
        agent = next((one for one in known if name in (one.name, *one.aliases)), None)
        if agent is None:
            raise AgentNotThere(name)
        if not agent.installed:
            _show(options, agent, None)
            complain(f"{agent.name} is not here", f"to get it: {agent.install}")
            return FAILED
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        with busy(f"waiting for a word of {agent.name}"):
            exchange = await _exchange(client, {**wishes, "agent": agent.name})
        took_s = loop.time() - began_s
    _show(options, agent, exchange, took_s)
    run = exchange.run
    if run.status == "completed" and exchange.said:
        return DONE
    complain(
        f"{agent.name} did not answer: {run.error_message or f'the run {run.status} without a word'}",
        f"`runwire events {run.run_id}` shows what happened; check that it is logged in, "
        f"and that what it needs is in its table [agents.{(agent.aliases or (agent.name,))[0]}]",
    )
    return FAILED


async def _exchange(client: Client, wishes: dict[str, object]) -> _Exchange:
    """Have a run of it, and see it to its end; whoever loses patience ends it."""
    run = (await client.create_task(wishes)).latest_run
    if run is None:
        raise RunwireError("the gateway made the task but started no run")
    exchange = _Exchange(run)
    try:
        async with aclosing(client.events(run.run_id)) as items:
            async for item in items:
                if isinstance(item, Event):
                    _count(exchange, item)
    except asyncio.CancelledError:
        await asyncio.shield(_end(client, run))
        raise
    exchange.run = await client.run(run.run_id)
    return exchange


async def _end(client: Client, run: Run) -> None:
    try:
        await client.cancel(run, reason="interrupted")
    except GatewayError:
        # It has ended in the same moment.
        return


def _count(exchange: _Exchange, event: Event) -> None:
    exchange.types[event.type] += 1
    payload = decode_payload(event.type, data_of(event.envelope))
    if isinstance(payload, AssistantTextComplete):
        exchange.said.append(payload.text)


def _show(options: Options, agent: Agent, exchange: _Exchange | None, took_s: float = 0.0) -> None:
    if options.json:
        printing.write_json(_as_json(agent, exchange, took_s))
        return
    facts = [
        ("agent", agent.name),
        ("installed", agent.place or "yes" if agent.installed else "no"),
        ("version", agent.version or "unknown" if agent.installed else ""),
        ("driven", agent.driven),
    ]
    if exchange is not None:
        facts += [
            ("run", exchange.run.run_id),
            ("ended", exchange.run.status),
            ("took", f"{took_s:.1f} s"),
            ("said", " ".join("".join(exchange.said).split())[:_SAID_MAX]),
        ]
    write_facts(facts)
    if exchange is not None:
        printing.write_text("")
        write_table(("EVENT", "COUNT"), [(name, str(count)) for name, count in exchange.types.items()])
    printing.flush()


def _as_json(agent: Agent, exchange: _Exchange | None, took_s: float) -> dict[str, object]:
    told: dict[str, object] = {"agent": agent.name, "installed": agent.installed, "version": agent.version}
    if exchange is None:
        return told | {"install": agent.install}
    run = exchange.run
    return told | {
        "run_id": run.run_id,
        "status": run.status,
        "error_code": run.error_code,
        "error_message": run.error_message,
        "took_s": round(took_s, 3),
        "said": "".join(exchange.said),
        "events": dict(exchange.types),
    }
