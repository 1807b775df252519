"""The demonstration: whether there is one, made anew, removed."""

from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.gateway.artifacts import NothingSaid
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.services import Services


class DemoResource(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of the demonstration."""

    object: Literal["demo"] = "demo"
    exists: bool
    active: int
    """How many of its runs are not over."""
    task_ids: list[str]
    run_ids: list[str]


async def show_demo(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Whether there is a demonstration."""
    return json_response(await _found(services))


async def make_demo(services: Services, call: Call) -> Response:
    """Make it anew."""
    await call.json(NothingSaid, services.config.body_limit_bytes, default=b"{}")
    await services.runtime.demo.make()
    return json_response(await _found(services), 201)


async def remove_demo(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Remove it, if there is one."""
    await services.runtime.demo.remove()
    return Response(status_code=204)


async def _found(services: Services) -> DemoResource:
    found = await services.runtime.demo.find()
    return DemoResource(
        exists=bool(found.task_ids), active=found.active, task_ids=found.task_ids, run_ids=found.run_ids
    )
