"""Reading `occurred_at`: UTC text to nanoseconds since 1970."""

from runwire.clock import parse_rfc3339

OCCURRED_AT = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$"

_LENGTH = len("2026-05-03T10:23:45.123456789Z")


def nanoseconds(text: str) -> int:
    """Return the moment that `occurred_at` stands for; other spellings of the same moment are a ValueError."""
    # The clock reads any RFC 3339 text; of that length, with these three letters, only our own spelling is left.
    if len(text) != _LENGTH or text[10] != "T" or text[19] != "." or text[-1] != "Z":
        raise ValueError(f"{text[:64]!r} is not a moment in UTC with nine fractional digits and Z")
    return parse_rfc3339(text)
