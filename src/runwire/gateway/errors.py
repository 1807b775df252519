"""The one shape of every failure that leaves the gateway."""

import re
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from runwire.errors import (
    InvalidBody,
    MethodNotAllowed,
    RunwireError,
    Unauthorized,
    Unavailable,
    UnknownField,
)
from runwire.journal.redaction.redactor import Redactor

JSON = b"application/json"
REQUEST_ID = b"x-request-id"

_ENCODER = msgspec.json.Encoder()
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What happened, what to do about it, and where the log has more."""

    code: str
    message: str
    hint: str
    request_id: str
    details: dict[str, object]


class ErrorReply(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every answer from 400 up."""

    error: Failure
    detail: Annotated[str | UnsetType, Meta(description="The message once more, where Agno's clients look for it.")] = (
        UNSET
    )


def without_secrets(error: RunwireError, redactor: Redactor) -> RunwireError:
    """The same failure, safe to be told: it may quote what the caller sent."""
    error.message, error.hint = redactor.scrub(error.message), redactor.scrub(error.hint)
    error.details = msgspec.json.decode(redactor.redact(_ENCODER.encode(error.details)))
    return error


def error_json(error: RunwireError, request_id: str, *, detailed: bool = False) -> bytes:
    """The body of an error answer; a `detailed` one also has the message where Agno's clients look for it."""
    failure = Failure(
        code=error.code, message=error.message, hint=error.hint, request_id=request_id, details=error.details
    )
    return _ENCODER.encode(ErrorReply(error=failure, detail=error.message if detailed else UNSET))


def error_headers(error: RunwireError, request_id: str, size: int) -> list[tuple[bytes, bytes]]:
    """The headers of an error answer."""
    headers = [
        (b"content-type", JSON),
        (b"content-length", b"%d" % size),
        (b"cache-control", b"no-store"),
        (REQUEST_ID, request_id.encode()),
    ]
    match error:
        case Unauthorized():
            headers.append((b"www-authenticate", b'Bearer realm="runwire"'))
        case MethodNotAllowed(details={"allowed": [*allowed]}):
            headers.append((b"allow", ", ".join(map(str, allowed)).encode()))
        case Unavailable():
            headers.append((b"retry-after", b"1"))
        case _:
            pass
    return headers


def error_response(error: RunwireError, request_id: str, *, detailed: bool = False) -> Response:
    """An error answer, ready to be sent."""
    body = error_json(error, request_id, detailed=detailed)
    response = Response(body, status_code=error.status)
    response.raw_headers = error_headers(error, request_id, len(body))
    return response


def wrong_body(error: msgspec.DecodeError | UnicodeDecodeError | RecursionError) -> RunwireError:
    """Say which field of a body is wrong, or unknown."""
    if isinstance(error, RecursionError):
        return InvalidBody("it is nested too deeply")
    if not isinstance(error, msgspec.ValidationError):
        return InvalidBody(f"it is not JSON: {error}")
    problem, place = str(error), ""
    if placed := _PLACE.fullmatch(problem):
        problem, place = placed.groups()
    if unknown := _UNKNOWN.fullmatch(problem):
        return UnknownField(f"{place}.{unknown[1]}" if place else unknown[1])
    wrong = InvalidBody(str(error))
    if missing := _MISSING.fullmatch(problem):
        place = f"{place}.{missing[1]}" if place else missing[1]
    wrong.details["field"] = place
    return wrong
