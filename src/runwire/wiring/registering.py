"""Which agents there are: the registry that the gateway serves from, and those that are kept running."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from runwire.agents.registry import Registry
from runwire.agents.versions import Surroundings, Versions
from runwire.clock import Clock
from runwire.config import AgentSettings, Config
from runwire.gateway.services import Services
from runwire.runs.keeping import Keeping, Kept
from runwire.runs.task import NewTask, WorkspaceSpec
from runwire.version import VERSION
from runwire.wiring.naming import named_agents
from runwire.workspace.sandbox.choosing import choose
from runwire.workspace.sandbox.hiding import hidden_paths
from runwire.workspace.sandbox.layer import Sandbox


def registry_of(
    config: Config, *, environ: Mapping[str, str], clock: Clock, sandbox: Sandbox | None = None
) -> Registry:
    """Knows every agent that a task may name, and looks for it as a worker would; without a sandbox it chooses one."""

    async def chosen() -> Sandbox:
        return sandbox or await choose()

    surroundings = Surroundings(
        choose=chosen,
        environ=environ,
        hidden=hidden_paths(data=config.data, home=Path.home()),
        allow_unconfined=config.allow_unconfined,
    )
    return Registry(
        version=VERSION,
        agents=named_agents(config.agents),
        environ=environ,
        versions=Versions(surroundings=surroundings, clock=clock),
    )


def keeping_of(services: Services) -> Keeping:
    """Keeps agents running by what a gateway serves from."""
    return Keeping(
        journal=services.journal,
        tasks=services.runtime.tasks,
        starter=services.runtime.starter,
        clock=services.clock,
        rng=random.random,
    )


def kept_agents(config: Config) -> Iterator[Kept]:
    """The agents that start with the gateway, each with its task."""
    for name, settings in config.agents.items():
        if settings.autospawn:
            yield Kept(name, _task(name, settings))


def _task(name: str, settings: AgentSettings) -> NewTask:
    place = settings.workspace
    return NewTask(
        prompt=settings.prompt or "",
        agent=name,
        model=settings.model,
        workspace=None if place is None else WorkspaceSpec(path=str(Path(place).expanduser()), mode="in_place"),
        timeout_s=settings.timeout_s,
        max_turns=settings.max_steps,
    )
