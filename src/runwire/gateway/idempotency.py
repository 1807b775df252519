"""Idempotency keys: a POST that is repeated under its key is answered as before, and done once."""

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256

from starlette.responses import Response

from runwire.errors import InvalidRequest, StoreError
from runwire.gateway.call import Call
from runwire.gateway.errors import JSON
from runwire.gateway.operation import Again, Answer, Operation
from runwire.gateway.services import Services
from runwire.journal.replies import Asked, Reply

REPLAYED = (b"idempotency-replayed", b"true")

_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)
_log = logging.getLogger("runwire.gateway")


async def answer_once(services: Services, call: Call, operation: Operation, answer: Answer) -> Response:
    """Answer a request; under a key, the way it was answered the first time."""
    shape = operation.body
    if operation.method != "POST" or (shape is not None and shape.spooled):
        return await answer(services, call)
    body = b"" if shape is None else await call.body(shape.limit_bytes(services))
    return await once(services, call, sha256(body).digest(), lambda: answer(services, call), operation.again)


async def once(
    services: Services,
    call: Call,
    digest: bytes,
    answer: Callable[[], Awaitable[Response]],
    again: Again | None = None,
) -> Response:
    """Answer a request whose body has this digest; under a key, the way it was answered the first time."""
    key = key_of(call)
    if key is None:
        return await answer()
    asked = _asked(call, key, digest)
    before = await services.replies.begin(asked, takes_up=again is not None)
    if before is not None and not before.lost:
        response = Response(before.body, status_code=before.status)
        response.raw_headers += [(b"content-type", JSON), REPLAYED]
        return response
    call.asked = asked if before is None else replace(asked, again=True)
    try:
        known = None if before is None or again is None else await again(services, call)
        response = known or await answer()
    except BaseException:
        # Nothing was done, so the next one under this key may try again.
        services.replies.release(asked)
        raise
    await _keep(services, asked, Reply(response.status_code, bytes(response.body)))
    return response


def key_of(call: Call) -> str | None:
    """The key of a request, if it has one; what cannot be one is refused."""
    key = call.header(b"idempotency-key")
    if key is not None and _KEY.fullmatch(key) is None:
        raise InvalidRequest("an idempotency key is 1 to 255 visible ASCII characters")
    return key


def _asked(call: Call, key: str, digest: bytes) -> Asked:
    # Keys of different callers have nothing to do with each other.
    who = "" if call.caller is None else call.caller.token_id
    target = call.scope["raw_path"] + b"?" + call.scope["query_string"]
    return Asked(key, f"{who} {call.method} {target.decode('latin-1')}", digest)


async def _keep(services: Services, asked: Asked, reply: Reply) -> None:
    try:
        await services.replies.keep(asked, reply)
    except StoreError as failure:
        # What was asked for is done, and saying otherwise would have it done twice.
        _log.error("a reply could not be kept: %s", failure.message)
