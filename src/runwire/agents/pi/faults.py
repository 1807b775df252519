"""What pi's errors mean. It tells them as text only."""

import re

_STATUS = re.compile(r"(\d{3})\b")
_ABORTED = re.compile(r"\b(?:[Rr]equest|operation) was aborted\b")
_TRIED_AGAIN = re.compile(
    r"overloaded|provider.?returned.?error|rate.?limit|too many requests|429|50[0234]|service.?unavailable|server.?error"
    r"|internal.?error|network.?error|connection.?(?:error|refused|lost)|websocket.?(?:closed|error)|other side closed"
    r"|fetch failed|upstream.?connect|reset before headers|socket hang up|ended without|timed? out|timeout|terminated"
    # A conversation that is too long is made shorter first.
    r"|retry delay|context.?(?:length|window)|prompt is too long|too many tokens",
    re.IGNORECASE,
)
_CUT = "Stream ended without finish_reason"
_CALLED_OFF = re.compile(r"cancel|abort", re.IGNORECASE)
_REFUSED = re.compile(r"finish_reason|content.?filter|refus", re.IGNORECASE)
_RETRIABLE = frozenset({408, 409, 425, 429})


def status_of(error: str) -> int | None:
    """The HTTP status that an error begins with."""
    found = _STATUS.match(error)
    return int(found[1]) if found and 400 <= int(found[1]) < 600 else None


def may_pass(error: str) -> bool:
    """Whether the same might work another time."""
    status = status_of(error)
    if status is None:
        return not _REFUSED.search(error) or error == _CUT
    return status in _RETRIABLE or status >= 500


def is_abort(error: str) -> bool:
    """Whether it is no error at all, but somebody's wish."""
    return _ABORTED.search(error) is not None


def is_called_off(error: str) -> bool:
    """Whether somebody did not want it to be tried again."""
    return _CALLED_OFF.search(error) is not None


def is_tried_again(error: str) -> bool:
    """Whether a pi that does not say so tries again after such an error, as far as one can tell."""
    return _TRIED_AGAIN.search(error) is not None
