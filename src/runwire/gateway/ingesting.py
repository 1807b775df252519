"""Taking in the stream of an agent that runs elsewhere, live."""

from collections.abc import AsyncGenerator, AsyncIterable
from pathlib import Path

from starlette.responses import Response

from runwire.agents.catalogue import make_dialect
from runwire.agents.dialect import Telling
from runwire.errors import InvalidFilter, InvalidRequest
from runwire.gateway.call import Call
from runwire.gateway.idempotency import once
from runwire.gateway.importing import spooled
from runwire.gateway.json import json_response
from runwire.gateway.runs import resource
from runwire.gateway.services import Services
from runwire.ids import is_foreign_id, is_id

_READ_BYTES = 256 * 1024
# An agent may think, or wait for a person, for as long as it likes.
_SILENCE_S = 24 * 3600.0


async def ingest(services: Services, call: Call) -> Response:
    """Make a run of the body as it comes; answered when it has ended."""
    agent = call.query.get("agent", "")
    if not agent:
        raise InvalidRequest("whose stream is it?", hint="say ?agent=NAME; GET /hecate/v1/agents lists the names")
    if not is_foreign_id(agent) or services.journal.redactor.contains_known_value(agent.encode()):
        raise InvalidFilter("agent", agent)
    run_id = call.query.get("run_id") or services.ids.new("run")
    if not is_id("run", run_id):
        raise InvalidFilter("run_id", run_id)
    if call.header(b"idempotency-key") is None:
        call.patience_s = _SILENCE_S
        return await _taken(services, agent, run_id, call.pieces(services.config.import_limit_bytes))
    # What may be repeated has to be known whole before it is begun.
    async with spooled(services, call) as (file, digest):
        return await once(services, call, digest, lambda: _taken(services, agent, run_id, _read(file)))


async def _taken(services: Services, agent: str, run_id: str, pieces: AsyncIterable[bytes]) -> Response:
    table = services.config.agents.get(agent)
    telling = Telling(agent=agent, approval_id=lambda: services.ids.new("appr"))
    dialect = make_dialect(agent if table is None else table.dialect or agent, telling)
    info = await services.runtime.ingesting.take(run_id=run_id, agent=agent, dialect=dialect, pieces=pieces)
    return json_response(await resource(info, services), 201)


async def _read(file: Path) -> AsyncGenerator[bytes]:
    with file.open("rb") as body:
        while piece := body.read(_READ_BYTES):
            yield piece
