"""What drives the agents of others: the one place to add a driver to."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from runwire.agents.dialect import Usage
from runwire.agents.edits import EditWatch, watching
from runwire.agents.launching import Launcher, Reach
from runwire.agents.profiles import configured
from runwire.agents.stdio import StdioExecutor
from runwire.agents.visiting import Patience
from runwire.clock import Clock
from runwire.config import AgentSettings
from runwire.host import Ended, Executor, RunHost
from runwire.native.loop.state import Usage as NativeUsage
from runwire.native.models.prices import price
from runwire.runs.keeping import session_of
from runwire.wiring.naming import named_agents
from runwire.workspace.limits import Groups
from runwire.workspace.sandbox.hiding import hidden_paths

if TYPE_CHECKING:
    from runwire.wiring.office import Office
    from runwire.wiring.opening import Opened
    from runwire.workspace.sandbox.layer import Sandbox


def agent_executors(opened: "Opened", office: "Office", sandbox: "Sandbox") -> Mapping[str, Executor]:
    """What drives the agents of others, by the names that tasks give them; a worker adds them to its own."""
    launcher, clock = _launcher(opened, office, sandbox), opened.ground.clock
    found: dict[str, Executor] = {}
    for name, settings in named_agents(opened.config.agents).items():
        if (settings.dialect or name) == "agno":
            found[name] = _served(name, settings, opened)
        else:
            found[name] = _Driven(name, settings, launcher, clock)
    return found


def _served(name: str, settings: AgentSettings, opened: "Opened") -> Executor:
    """What has runs done by an AgentOS."""
    from runwire.agents.agno.driving import AgnoExecutor, AgnoServer
    from runwire.agents.agno.requests import Target

    key = None if settings.api_key_env is None else opened.environ.get(settings.api_key_env)
    if key is not None:
        opened.known.register(f"agents.{name}", key)
    target = Target(settings.kind, settings.agent or name.partition(":")[2] or name)
    server = AgnoServer(url=settings.url or "", target=target, key=key)
    return AgnoExecutor(server=server, clock=opened.ground.clock, price=_price)


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
            folder=config.data / "shadows",
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
        name = self._name.partition(":")[2] or self._name
        profile = configured(name, self._settings)
        # Only the run that is kept lives on; one that somebody asks for ends with its answer.
        patience = Patience(stays=self._settings.autospawn and host.facts.session_id == session_of(name))
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
