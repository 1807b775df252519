"""The gateway as an ASGI app: one light function decides who may pass, then the route answers."""

import logging
from collections.abc import Iterable
from time import perf_counter

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from runwire.errors import RunwireError
from runwire.gateway.access import Door, is_preflight, preflight_headers, shared_headers
from runwire.gateway.auth import recognise, require
from runwire.gateway.call import Call, CallerGone, tell
from runwire.gateway.errors import error_response, without_secrets
from runwire.gateway.idempotency import answer_once
from runwire.gateway.logs import request_line
from runwire.gateway.operation import AGNO, Operation
from runwire.gateway.router import Router
from runwire.gateway.routes import ROUTES
from runwire.gateway.services import Services

_UNROUTED = "-"
# What logs and metrics say of a request whose caller hung up before an answer began.
_NOBODY_LEFT = 499
_log = logging.getLogger("runwire.gateway")


class Gateway:
    """Answers every request, and every failure in one shape."""

    def __init__(self, services: Services, operations: Iterable[Operation]) -> None:
        """Serve these operations from these services."""
        self._services = services
        self._router = Router(operations)
        self._door = Door(services.config)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"the gateway speaks HTTP only, not {scope['type']}")
        started = perf_counter()
        services = self._services
        call = Call(scope, receive, services.ids.new("req"), services.config.idle_timeout_s)
        try:
            await self._answer_or_refuse(call, send)
        except CallerGone:
            call.status = call.status or _NOBODY_LEFT
        finally:
            self._record(call, perf_counter() - started)

    async def _answer_or_refuse(self, call: Call, send: Send) -> None:
        try:
            await self._answer(call, send)
        except CallerGone:
            raise
        except Exception as failure:  # noqa: BLE001 - this is a task's root: whatever it was, the caller is told
            await self._fail(call, failure, send)

    async def _answer(self, call: Call, send: Send) -> None:
        origin = self._door.check(call)
        if origin is not None:
            call.headers += shared_headers(origin)
            if is_preflight(call):
                call.headers += preflight_headers()
                await _respond(call, Response(status_code=204), send)
                return
        found = self._router.find(call)
        if isinstance(found, RunwireError) or found.scope is not None:
            call.caller = await recognise(call, self._services.tokens)
        if isinstance(found, RunwireError):
            raise found
        if call.caller is not None and found.scope is not None:
            require(call.caller, found.scope)
        if found.stream is not None:
            await found.stream(self._services, call, send)
        elif found.answer is not None:
            await _respond(call, await answer_once(self._services, call, found, found.answer), send)

    async def _fail(self, call: Call, failure: Exception, send: Send) -> None:
        if not isinstance(failure, RunwireError):
            _log.error("unexpected failure", exc_info=failure, extra={"fields": {"request_id": call.request_id}})
            failure = RunwireError("something went wrong on our side")
        elif failure.status >= 500:
            _log.error("%s", failure.message, extra={"fields": {"request_id": call.request_id, "code": failure.code}})
        if call.status:
            # The answer has begun. Leaving it unfinished makes the server cut the connection, which no reader can miss.
            return
        told = without_secrets(failure, self._services.journal.redactor)
        detailed = call.scope["path"].startswith(f"{AGNO}/")
        await _respond(call, error_response(told, call.request_id, detailed=detailed), send)

    def _record(self, call: Call, seconds: float) -> None:
        tally, route = self._services.tally, call.template or _UNROUTED
        tally.requests[call.method, route, call.status] += 1
        tally.seconds[call.method, route] += seconds
        request_line(call, route, seconds)


def create_app(services: Services) -> ASGIApp:
    """The gateway over open services, whose start and end belong to the caller."""
    return Gateway(services, ROUTES)


async def _respond(call: Call, response: Response, send: Send) -> None:
    call.status = response.status_code
    known = {name for name, _ in response.raw_headers}
    response.raw_headers += [header for header in call.headers if header[0] not in known]
    await tell(send, {"type": "http.response.start", "status": call.status, "headers": response.raw_headers})
    body = b"" if call.method == "HEAD" else bytes(response.body)
    await tell(send, {"type": "http.response.body", "body": body, "more_body": False})
