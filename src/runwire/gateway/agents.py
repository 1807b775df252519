"""The agents that can be asked to do something: what is here, and how each is driven."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.agents.registry import SERVED, Found, Known
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.services import Services


class AgentResource(msgspec.Struct, frozen=True, kw_only=True):
    """One agent."""

    object: Literal["agent"] = "agent"
    name: str
    aliases: Sequence[str]
    """Other names that a task may give it."""
    dialect: str
    installed: bool
    """Whether its program is on the worker's PATH or, for one that is served elsewhere, its server answers."""
    version: str | None
    driven: str
    """How it is spoken to."""
    asks: bool
    """Whether it asks for permission by itself; what others do is bounded by their sandbox alone."""
    survives_restart: bool
    """Whether a question of it can still be answered after the worker that drove it is gone."""
    autospawn: bool
    sandbox_layer: str
    """What confines it; nothing of ours does where it is served elsewhere."""
    place: str | None
    """Its program, or its address."""
    install: str | None
    """What to do to get it, when it is not installed."""
    event_types: Sequence[str]
    """Which events its stream was seen to become."""


class AgentList(msgspec.Struct, frozen=True, kw_only=True):
    """Every known agent."""

    object: Literal["list"] = "list"
    data: list[AgentResource]


async def list_agents(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Every known agent, as it is on this machine."""
    layer = services.runtime.sandbox_layer
    return json_response(AgentList(data=[_resource(one, layer) for one in await services.runtime.registry.look()]))


def agents_of(services: Services) -> Sequence[Known]:
    """Every known agent, whether it is installed or not."""
    return services.runtime.registry.known()


def _resource(found: Found, layer: str) -> AgentResource:
    known = found.known
    return AgentResource(
        name=known.name,
        aliases=known.aliases,
        dialect=known.dialect,
        installed=found.installed,
        version=found.version,
        driven=known.driven,
        asks=known.asks,
        survives_restart=known.survives_restart,
        autospawn=known.autospawn,
        sandbox_layer="none" if known.dialect == SERVED else layer,
        place=found.place or None,
        install=found.to_do or None,
        event_types=known.event_types,
    )
