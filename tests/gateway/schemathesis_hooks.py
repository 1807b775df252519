"""What Schemathesis does not know by itself: how a file of envelopes is written, and which of two cursors counts."""

import re
from typing import Any
from urllib.parse import quote

import schemathesis

_CURSOR = "Last-Event-ID"


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: object) -> bytes:
    """Whatever was generated, as text."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: "schemathesis.Case[Any]", __: dict[str, object]) -> None:
    """Under a good cursor in the header nobody looks at the query's. So that a bad one there is seen, it goes into both."""
    if "after_sequence" in case.query and re.fullmatch("-1|[0-9]+", str(case.headers.get(_CURSOR, ""))):
        case.headers[_CURSOR] = quote(str(case.query["after_sequence"]))
