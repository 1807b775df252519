"""The agents that can be asked to do something: what is here, and how each is driven."""

from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.services import Services
from runwire.protocol.catalogue import CATALOGUE
from runwire.version import VERSION


class AgentResource(msgspec.Struct, frozen=True, kw_only=True):
    """One agent."""

    object: Literal["agent"] = "agent"
    name: str
    installed: bool
    version: str | None
    driven: str
    """How it is spoken to."""
    sandbox_layer: str
    event_types: list[str]
    """Which events a run of it can have."""


class AgentList(msgspec.Struct, frozen=True, kw_only=True):
    """Every known agent."""

    object: Literal["list"] = "list"
    data: list[AgentResource]


async def list_agents(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Every known agent."""
    native = AgentResource(
        name="native",
        installed=True,
        version=VERSION,
        driven="in process",
        sandbox_layer=services.runtime.sandbox_layer,
        event_types=sorted(CATALOGUE),
    )
    return json_response(AgentList(data=[native]))
