"""What is here, in the words in which Agno's clients ask: health, info, config, agents."""

import msgspec
from starlette.responses import Response

from runwire.gateway.agents import agents_of
from runwire.gateway.agno.answering import agent_of
from runwire.gateway.agno.errors import AgentNotFound
from runwire.gateway.agno.following import agent_name
from runwire.gateway.agno.starting import NATIVE
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.services import Services
from runwire.runs.task import split_model
from runwire.version import VERSION

OS_ID = "runwire"
AGNO_VERSION = "3.1.10"
"""The release of Agno whose clients and captures this surface is proven with."""


class HealthReply(msgspec.Struct, frozen=True, kw_only=True):
    """The gateway lives."""

    status: str = "ok"


class InfoReply(msgspec.Struct, frozen=True, kw_only=True):
    """What this is, and which Agno it can stand for."""

    os_id: str = OS_ID
    name: str = "Runwire"
    os_version: str = VERSION
    agno_version: str = AGNO_VERSION
    agent_count: int
    team_count: int = 0
    workflow_count: int = 0
    auth_mode: str = "security_key"
    user_isolation: bool = False


class ModelReply(msgspec.Struct, frozen=True, kw_only=True):
    """A model: its name twice, because summaries and details look for it in different places."""

    id: str
    model: str
    provider: str | None


class AgentReply(msgspec.Struct, frozen=True, kw_only=True):
    """One agent."""

    id: str
    name: str
    description: str
    model: ModelReply | None
    sandboxed: bool
    metadata: dict[str, str]


class ConfigReply(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be asked here."""

    os_id: str = OS_ID
    name: str = "Runwire"
    available_models: list[ModelReply]
    databases: list[str] = []
    agents: list[AgentReply]
    teams: list[str] = []
    workflows: list[str] = []
    interfaces: list[str] = []


async def show_health(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """The gateway lives."""
    return json_response(HealthReply())


async def show_info(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """What this is."""
    return json_response(InfoReply(agent_count=len(agents_of(services))))


async def show_config(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Everything that can be asked here."""
    agents = _agents(services)
    models = {agent.model.id: agent.model for agent in agents if agent.model is not None}
    return json_response(ConfigReply(available_models=list(models.values()), agents=agents))


async def list_agents(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Every agent."""
    return json_response(_agents(services))


async def list_nothing(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """There are neither teams nor workflows."""
    return json_response([])


async def show_agent(services: Services, call: Call) -> Response:
    """One agent."""
    name = agent_of(services, call.path["agent_id"])
    for agent in _agents(services):
        if agent.id == name:
            return json_response(agent)
    raise AgentNotFound(name)


def _agents(services: Services) -> list[AgentReply]:
    return [
        AgentReply(
            id=agent.name,
            name=agent_name(agent.name),
            description=f"{agent.name}, driven {agent.driven}",
            model=_model(services.config.agno_model) if agent.name == NATIVE else None,
            sandboxed=bool(services.runtime.sandbox_layer),
            metadata={"dialect": agent.dialect, "driven": agent.driven},
        )
        for agent in agents_of(services)
    ]


def _model(name: str | None) -> ModelReply | None:
    if name is None:
        return None
    provider, model = split_model(name)
    return ModelReply(id=model or name, model=model or name, provider=provider)
