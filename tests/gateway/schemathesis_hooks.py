"""What Schemathesis does not know by itself: how a file of envelopes is written."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: object) -> bytes:
    """Whatever was generated, as text."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
