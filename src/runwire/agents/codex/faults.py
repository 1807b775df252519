"""Why Codex failed, in its own words and in ours."""

import re

import msgspec
from msgspec import Struct

from runwire.host import Failed

_RETRY = re.compile(r"Reconnecting\.\.\. (\d{1,6})/(\d{1,6})(?: \((.*)\))?", re.DOTALL)
_STATUS = re.compile(r"\bstatus (\d{3})\b")
_CODES = (
    ("max_output_tokens", "max_tokens"),
    ("content_filter", "refused"),
    ("context_length_exceeded", "context_overflow"),
    ("maximum context length", "context_overflow"),
)
_PASSING = ("stream disconnected", "high demand", "timed out", "timeout")
_LONG = 64 * 1024


class _Inner(Struct):
    message: str = ""


class _Wrapped(Struct):
    error: _Inner


_WRAPPED = msgspec.json.Decoder(_Wrapped)


class Retry(Struct, frozen=True):
    """Codex will try again."""

    attempt: int
    of: int
    why: str


def retry_of(message: str) -> Retry | None:
    """What a message says about another attempt; None when it says that there is none."""
    found = _RETRY.match(message)
    return Retry(int(found[1]), int(found[2]), found[3] or message) if found else None


def status_of(message: str) -> int | None:
    """The HTTP status that a message names."""
    found = _STATUS.search(message[:_LONG])
    return int(found[1]) if found else None


def plain(message: str) -> str:
    """A message without the JSON that a provider wrapped it in."""
    if not message.startswith("{"):
        return message
    try:
        return _WRAPPED.decode(message).error.message or message
    except (msgspec.DecodeError, RecursionError):
        return message


def failure(message: str, status: int | None = None) -> Failed:
    """A failure of a turn."""
    message = message or "the turn failed"
    short = message[:_LONG]
    code = next((code for sign, code in _CODES if sign in short), "model_error")
    status = status if status is not None else status_of(message)
    passing = status in {408, 409, 429} or (status or 0) >= 500 or any(sign in short for sign in _PASSING)
    return Failed(code, plain(message), retriable=passing and code == "model_error")
