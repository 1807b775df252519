"""JSON that leaves and enters the gateway."""

import re

import msgspec
from starlette.responses import Response

from runwire.errors import InvalidBody

DEPTH_MAX = 100

# Brackets, and whole texts so that the brackets within them are passed over.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_ENCODER = msgspec.json.Encoder()


def json_response(value: object, status: int = 200) -> Response:
    """A value as the body of an answer."""
    return json_bytes(_ENCODER.encode(value), status)


def json_bytes(body: bytes, status: int = 200) -> Response:
    """JSON that is ready as the body of an answer."""
    response = Response(body, status_code=status, media_type="application/json")
    response.headers["cache-control"] = "no-store"
    return response


def require_shallow(body: bytes) -> None:
    """Refuse valid JSON that is nested deeper than readers can be expected to follow."""
    if body.count(b"{") + body.count(b"[") <= DEPTH_MAX:
        return
    depth = 0
    for token in _TOKENS.finditer(body):
        sign = body[token.start()]
        depth += (sign in b"[{") - (sign in b"]}")
        if depth > DEPTH_MAX:
            raise InvalidBody(f"it is nested deeper than {DEPTH_MAX} levels")
