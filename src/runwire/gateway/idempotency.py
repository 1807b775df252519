"""Idempotency keys: a POST that is repeated under its key is answered as before, and done once."""

import logging
import re
from hashlib import sha256

from starlette.responses import Response

from runwire.errors import InvalidRequest, StoreError
from runwire.gateway.call import Call
from runwire.gateway.errors import JSON
from runwire.gateway.operation import Answer, Operation
from runwire.gateway.services import Services
from runwire.journal.replies import Asked, Reply

REPLAYED = (b"idempotency-replayed", b"true")

_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
_log = logging.getLogger("runwire.gateway")


async def answer_once(services: Services, call: Call, operation: Operation, answer: Answer) -> Response:
    """Answer a request; under a key, the way it was answered the first time."""
    key = call.header(b"idempotency-key")
    if operation.method != "POST" or key is None:
        return await answer(services, call)
    asked = await _asked(services, call, operation, key)
    before = await services.replies.begin(asked)
    if before is not None:
        response = Response(before.body, status_code=before.status)
        response.raw_headers += [(b"content-type", JSON), REPLAYED]
        return response
    call.asked = asked
    try:
        response = await answer(services, call)
    except BaseException:
        # Nothing was done, so the next one under this key may try again.
        services.replies.release(asked)
        raise
    await _keep(services, asked, Reply(response.status_code, bytes(response.body)))
    return response


async def _asked(services: Services, call: Call, operation: Operation, key: str) -> Asked:
    if _KEY.fullmatch(key) is None:
        raise InvalidRequest("an idempotency key is 1 to 255 visible ASCII characters")
    # A spooled body is too large to be read twice; what takes one is safe to repeat by nature.
    shape = operation.body
    body = b"" if shape is None or shape.spooled else await call.body(shape.limit_bytes(services))
    who = "" if call.caller is None else call.caller.token_id
    target = call.scope["raw_path"] + b"?" + call.scope["query_string"]
    return Asked(key, f"{who} {call.method} {target.decode('latin-1')}", sha256(body).digest())


async def _keep(services: Services, asked: Asked, reply: Reply) -> None:
    try:
        await services.replies.keep(asked, reply)
    except StoreError as failure:
        # What was asked for is done, and saying otherwise would have it done twice.
        _log.error("a reply could not be kept: %s", failure.message)
