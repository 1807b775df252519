"""What a page asks first: whom it talks to, who it is there, and what a form can offer."""

from pathlib import Path
from typing import Literal, get_args

import msgspec
from starlette.responses import Response

from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.services import Services
from runwire.gateway.tasks import caller_of
from runwire.journal.tokens import Scope
from runwire.runs.policy import Preset
from runwire.version import VERSION

_SCOPES: tuple[Scope, ...] = get_args(Scope)


class About(msgspec.Struct, frozen=True, kw_only=True):
    """This gateway, as its caller may use it."""

    object: Literal["about"] = "about"
    version: str
    caller: str
    """The name under which the caller's deeds are told."""
    scopes: list[Scope]
    """What the caller's token is good for."""
    stall_s: float
    heartbeat_s: float
    workspace: str
    """The folder that relative paths are seen from."""
    sandbox_layer: str
    providers: list[str]
    """Whose models were set up here, by a key or by a table of the configuration."""
    policies: list[str]
    """The policies that have a name."""
    demo: bool
    """Whether there is a demonstration."""


async def show_about(services: Services, call: Call) -> Response:
    """This gateway."""
    allows = [scope for scope in _SCOPES if call.caller is not None and call.caller.allows(scope)]
    about = About(
        version=VERSION,
        caller=caller_of(call),
        scopes=allows,
        stall_s=services.config.stall_s,
        heartbeat_s=services.config.heartbeat_s,
        workspace=str(Path.cwd()),
        sandbox_layer=services.runtime.sandbox_layer,
        providers=list(services.runtime.providers),
        policies=list(get_args(Preset)),
        demo=bool((await services.runtime.demo.find()).task_ids),
    )
    return json_response(about)
