"""The audit across runs: a page of facts, oldest first."""

from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.errors import CursorAhead, InvalidFilter
from runwire.gateway.call import Call
from runwire.gateway.feed import Filter, cursor_at, position_of
from runwire.gateway.json import json_response
from runwire.gateway.parameters import limit, until_ns
from runwire.gateway.services import Services
from runwire.protocol.envelope import occurred_at_of
from runwire.protocol.moment import nanoseconds
from runwire.runs.audit import AuditEntry, accountable, entry, mentions

LIMIT_DEFAULT = 200
LIMIT_MAX = 1000
_WORDS_MAX = 256
# As for the feed: what fits little must not make one request read the whole store.
_LOOKED_AT_MAX = 50_000
_AT_ONCE = 512


class AuditList(msgspec.Struct, frozen=True, kw_only=True):
    """Some facts. While `has_more`, `next_cursor` leads on, also from an empty page."""

    object: Literal["list"] = "list"
    data: list[AuditEntry]
    has_more: bool
    next_cursor: str


async def list_audit(services: Services, call: Call) -> Response:
    """What was done, by whom and with whose permission."""
    reader = services.journal.reader
    wanted, until = Filter.of(services, call), until_ns(call)
    wanted.accepts = wanted.accepts or accountable
    words = call.query.get("q", "")
    if len(words) > _WORDS_MAX:
        raise InvalidFilter("q", words)
    most = limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX)
    end = await reader.feed_end()
    position = position_of(call.query["cursor"]) if "cursor" in call.query else 0
    if position > end:
        raise CursorAhead(position, head=end)
    stop = min(end, position + _LOOKED_AT_MAX)
    found: list[AuditEntry] = []
    while position < stop and len(found) < most:
        events, beyond = await reader.feed(position, _AT_ONCE)
        for event in events:
            if len(found) == most:
                beyond = event.position
                break
            if (
                await wanted.wants(event)
                and (until is None or nanoseconds(occurred_at_of(event.envelope)) < until)
                and (not words or mentions(event, words))
            ):
                birth = await wanted.birth(event.run_id)
                found.append(entry(event, None if birth is None else birth.agent))
        position = beyond
    return json_response(AuditList(data=found, has_more=position < end, next_cursor=cursor_at(position).decode()))
