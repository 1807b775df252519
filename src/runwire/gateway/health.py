"""Whether the gateway lives, whether it can do its work, and how it fares."""

from typing import Literal

import apsw
import msgspec
from starlette.responses import Response

from runwire.errors import ShuttingDown, StoreError, Unavailable
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.services import Services
from runwire.version import VERSION


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """The process lives."""

    status: Literal["ok"] = "ok"
    version: str = VERSION


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """The process can store and serve."""

    status: Literal["ready"] = "ready"


async def healthz(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """That this is answered is the answer."""
    return json_response(Health())


async def readyz(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Prove that the journal can be written, by writing."""
    if services.closing.is_set():
        raise ShuttingDown
    try:
        await services.journal.write(_touch)
    except StoreError as failure:
        raise Unavailable(f"the journal cannot be written: {failure.message}", hint=failure.hint) from failure
    return json_response(Readiness())


async def metrics(services: Services, call: Call) -> Response:  # noqa: ARG001 - every route is called alike
    """Everything that is counted, for Prometheus."""
    # Not at the top: it takes long to load, and a gateway that nobody watches does without.
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.exposition import CONTENT_TYPE_LATEST

    from runwire.gateway.metrics import Figures

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(services))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _touch(db: apsw.Connection) -> None:
    """Change a row and change it back: the commit has to reach the disk for that."""
    version = db.pragma("application_id")
    db.pragma("application_id", version)
