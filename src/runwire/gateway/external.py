"""What outside callers append: `external.*` events, kept like any other and never acted upon."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from runwire.errors import InvalidBody, TypeNotAllowed
from runwire.gateway.call import Call
from runwire.gateway.events import find_run
from runwire.gateway.json import json_bytes, require_shallow
from runwire.gateway.services import Services
from runwire.journal.frames import split
from runwire.journal.redaction.redactor import Redactor
from runwire.protocol.events.external import PREFIX, external
from runwire.protocol.payload import Opaque

EVENTS_MAX = 1000
_READ_BYTES = 256 * 1024


class NewEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event to append."""

    type: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


class NewEvents(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One event, or several that are stored side by side or not at all."""

    type: str | UnsetType = UNSET
    data: msgspec.Raw | UnsetType = UNSET
    events: Annotated[list[NewEvent], Meta(min_length=1, max_length=EVENTS_MAX)] | UnsetType = UNSET


async def append_events(services: Services, call: Call) -> Response:
    """Store what an outside caller has to say about a run, and answer with the stored bytes."""
    limit_bytes = services.config.append_limit_bytes
    asked = await call.json(NewEvents, limit_bytes)
    require_shallow(await call.body(limit_bytes))
    info = await find_run(services, call)
    run_id = info.birth.run_id
    payloads = [_payload(event, services.journal.redactor) for event in _events(asked)]
    also = None if call.asked is None else services.replies.claim(call.asked)
    stored = await services.journal.append_all(run_id, payloads, also=also)
    envelopes = await _stored(services, run_id, stored.sequence, len(payloads))
    if isinstance(asked.events, UnsetType):
        return json_bytes(envelopes[0], 201)
    return json_bytes(b'{"object":"list","data":[%b]}' % b",".join(envelopes), 201)


def _events(asked: NewEvents) -> Sequence[NewEvent]:
    if not isinstance(asked.events, UnsetType):
        if not isinstance(asked.type, UnsetType) or not isinstance(asked.data, UnsetType):
            raise InvalidBody("it is either one event (type, data) or several (events)")
        return asked.events
    if isinstance(asked.type, UnsetType):
        raise InvalidBody("the type is missing")
    return [NewEvent(type=asked.type, data=msgspec.Raw(b"{}") if isinstance(asked.data, UnsetType) else asked.data)]


def _payload(event: NewEvent, redactor: Redactor) -> Opaque:
    if not event.type.startswith(PREFIX):
        raise TypeNotAllowed(event.type)
    # Readers tell events apart by their type, so it is never redacted.
    if redactor.contains_known_value(event.type.encode()):
        raise InvalidBody("the type holds a secret")
    try:
        return external(event.type, bytes(event.data))
    except ValueError as error:
        raise InvalidBody(str(error)) from error


async def _stored(services: Services, run_id: str, last: int, count: int) -> list[bytes]:
    """The stored bytes of the `count` events up to `last`."""
    found: list[bytes] = []
    cursor = last - count
    while cursor < last:
        batch = await services.journal.reader.read(run_id, cursor, _READ_BYTES)
        if batch is None:
            break
        found += [envelope for sequence, envelope in split(batch.frames) if sequence <= last]
        cursor = batch.last
    return found
