"""Agents of other people's: which there are, and what drives each. The one place to add a driver to."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from runwire.agents.dialect import Usage
from runwire.agents.edits import EditWatch, watching
from runwire.agents.launching import Launcher, Reach
from runwire.agents.profiles import configured
from runwire.agents.stdio import StdioExecutor
from runwire.agents.visiting import Patience
from runwire.clock import Clock
from runwire.config import AgentSettings, Dialect
from runwire.host import Ended, Executor, RunHost
from runwire.native.loop.state import Usage as NativeUsage
from runwire.native.models.prices import price
from runwire.workspace.limits import Groups
from runwire.workspace.sandbox.hiding import hidden_paths

if TYPE_CHECKING:
    from runwire.wiring.office import Office
    from runwire.wiring.opening import Opened
    from runwire.workspace.sandbox.layer import Sandbox

NATIVE = "native"
# These say how an agent is spoken with, and not which one it is: each needs a table that does.
_FAMILIES = ("acp", "agno")


def named_agents(tables: Mapping[str, AgentSettings]) -> dict[str, AgentSettings]:
    """Every agent but our own by the names that tasks may give it: known ones, and those that have a table."""
    found = {name: AgentSettings(dialect=name) for name in get_args(Dialect) if name not in _FAMILIES}
    for name, settings in tables.items():
        found[name] = settings
        if settings.dialect in _FAMILIES:
            found[f"{settings.dialect}:{name}"] = settings
    return found


class NamedAgents:
    """The agents that tasks may name, as `runs.accepting.KnownAgents` promises."""

    def __init__(self, tables: Mapping[str, AgentSettings]) -> None:
        """Know the agents of these tables beside those that need none."""
        self._named = named_agents(tables)

    def names(self) -> Sequence[str]:
        """Our own first."""
        return (NATIVE, *self._named)

    def knows(self, agent: str) -> bool:
        """Whether a task may name it."""
        return agent == NATIVE or agent in self._named

    def needs_model(self, agent: str) -> bool:
        """Only our own agent has its model called by us."""
        return agent == NATIVE

    def needs_price(self, agent: str) -> bool:
        """Only our own agent has its money counted by us."""
        return agent == NATIVE


def agent_executors(opened: "Opened", office: "Office", sandbox: "Sandbox") -> Mapping[str, Executor]:
    """What drives the agents of others, by the names that tasks give them; a worker adds them to its own."""
    launcher = _launcher(opened, office, sandbox)
    return {
        name: _Driven(name, settings, launcher, opened.ground.clock)
        for name, settings in named_agents(opened.config.agents).items()
        if (settings.dialect or name) != "agno"
    }


def _launcher(opened: "Opened", office: "Office", sandbox: "Sandbox") -> Launcher:
    config, ground = opened.config, opened.ground
    reach = Reach(
        sandbox=sandbox,
        inherited=opened.environ,
        secrets=opened.known,
        hidden=hidden_paths(data=config.data, home=Path.home()),
        home=Path.home(),
        groups=Groups.of_this_process(),
    )

    def watch(host: RunHost) -> AbstractAsyncContextManager[EditWatch]:
        return watching(
            host,
            folder=config.data / "shadows" / host.facts.run_id,
            applied=office.patches.applier.ledger.applied,
            locks=office.patches.locks,
            clock=ground.clock,
            ids=ground.ids,
        )

    return Launcher(reach=reach, watch=watch, price=_price)


class _Driven:
    """An agent whose driver is loaded when it first has something to do."""

    def __init__(self, name: str, settings: AgentSettings, launcher: Launcher, clock: Clock) -> None:
        self._name = name
        self._settings = settings
        self._launcher = launcher
        self._clock = clock

    async def run(self, host: RunHost) -> Ended:
        """Have the agent do the run's work."""
        profile = configured(self._name.partition(":")[2] or self._name, self._settings)
        patience = Patience(stays=self._settings.autospawn)
        executor = StdioExecutor(profile=profile, launcher=self._launcher, clock=self._clock, patience=patience)
        return await executor.run(host)


def _price(provider: str | None, model: str | None, usage: Usage) -> int | None:
    """What a call costs by the table, where the agent does not say."""
    if provider is None or model is None:
        return None
    cached = NativeUsage(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cache_read_tokens=usage.cached_input_tokens
    )
    return price(provider, model, cached)
