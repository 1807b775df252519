"""Taking in a file of envelopes. Its way back out is a run's events as NDJSON."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec
from starlette.responses import Response

from runwire.errors import InvalidFilter
from runwire.gateway.call import Call
from runwire.gateway.idempotency import once
from runwire.gateway.json import json_response
from runwire.gateway.services import Services
from runwire.ids import is_foreign_id
from runwire.journal.disk import answering

_PREFIX = "import-"
_ABANDONED_NS = 24 * 3600 * 1_000_000_000


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a file became."""

    object: str = "run"
    run_id: str


async def import_run(services: Services, call: Call) -> Response:
    """Take in one run, byte for byte, or nothing of it."""
    agent = call.query.get("agent", "external")
    if not is_foreign_id(agent) or services.journal.redactor.contains_known_value(agent.encode()):
        raise InvalidFilter("agent", agent)
    async with spooled(services, call) as (file, digest):

        async def take() -> Response:
            return json_response(Imported(run_id=await services.importer.take(file, agent=agent)), 201)

        return await once(services, call, digest, take)


@asynccontextmanager
async def spooled(services: Services, call: Call) -> AsyncGenerator[tuple[Path, bytes]]:
    """The body as a file in the data directory, and its digest: it may be larger than memory, and it is read twice."""
    digest = sha256()
    folder = services.config.data
    with answering(), NamedTemporaryFile(dir=folder, prefix=_PREFIX, suffix=".part") as file:
        _sweep(folder, services.clock.now_ns() - _ABANDONED_NS)
        async for piece in call.pieces(services.config.import_limit_bytes):
            # The page cache takes it at once; waiting for a thread would cost more.
            file.write(piece)
            digest.update(piece)
        await asyncio.to_thread(file.flush)
        yield Path(file.name), digest.digest()


def _sweep(folder: Path, before_ns: int) -> None:
    """Remove what a process has left that died in the middle of an import."""
    for left in folder.glob(f"{_PREFIX}*.part"):
        if left.stat().st_mtime_ns < before_ns:
            left.unlink(missing_ok=True)
