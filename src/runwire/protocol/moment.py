"""Reading `occurred_at`: UTC text to nanoseconds since 1970."""

import re

from runwire.clock import parse_rfc3339

OCCURRED_AT = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$"

_SHAPE = re.compile(OCCURRED_AT, re.ASCII)


def nanoseconds(text: str) -> int:
    """Return the moment that `occurred_at` stands for; other spellings of the same moment are a ValueError."""
    if _SHAPE.match(text) is None or len(text) != 30:
        raise ValueError(f"{text[:64]!r} is not a moment in UTC with nine fractional digits and Z")
    return parse_rfc3339(text)
