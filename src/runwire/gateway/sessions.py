"""Sessions: what holds several tasks together."""

from typing import Literal

import msgspec
from starlette.responses import Response

from runwire.clock import rfc3339
from runwire.gateway.call import Call
from runwire.gateway.json import json_response
from runwire.gateway.parameters import limit
from runwire.gateway.services import Services
from runwire.runs.sessions import Sessions

LIMIT_DEFAULT = 100
LIMIT_MAX = 500


class SessionResource(msgspec.Struct, frozen=True, kw_only=True):
    """One session."""

    object: Literal["session"] = "session"
    session_id: str
    title: str
    created_at: str
    tasks: int


class SessionList(msgspec.Struct, frozen=True, kw_only=True):
    """The newest sessions, newest first."""

    object: Literal["list"] = "list"
    data: list[SessionResource]


async def list_sessions(services: Services, call: Call) -> Response:
    """The newest sessions."""
    found = await Sessions(journal=services.journal).list(limit(call, default=LIMIT_DEFAULT, maximum=LIMIT_MAX))
    data = [
        SessionResource(session_id=one.session_id, title=one.title, created_at=rfc3339(one.created_ns), tasks=one.tasks)
        for one in found
    ]
    return json_response(SessionList(data=data))
