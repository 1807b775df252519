"""Query parameters that several routes share: what they mean and how they are refused."""

import re
from collections.abc import Callable

from runwire.clock import parse_rfc3339
from runwire.errors import InvalidCursor, InvalidFilter, InvalidLimit
from runwire.gateway.call import Call
from runwire.protocol import catalogue

LIMIT_DEFAULT = 500
LIMIT_MAX = 5000
_NAME_MAX = 128
_SEVERAL_MAX = 100

_SEQUENCE = re.compile(r"-1|[0-9]+", re.ASCII)
# No log reaches so far. Where a cursor with more digits points to makes no difference, so nobody converts them.
_SEQUENCE_DIGITS = 18
_BEYOND = 10**_SEQUENCE_DIGITS
_MOMENT_MAX = 2**63 - 1
_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)


def sequence_cursor(call: Call) -> int:
    """The last sequence that a reader has, or -1. What a reconnecting browser sends beats what its URL still says."""
    text = call.header(b"last-event-id")
    if text is None:
        text = call.query.get("after_sequence", "-1")
    if _SEQUENCE.fullmatch(text) is None:
        raise InvalidCursor(text)
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= _SEQUENCE_DIGITS else _BEYOND


def number_cursor(text: str) -> int:
    """The place in a list of things that are numbered."""
    if _NUMBER.fullmatch(text) is None:
        raise InvalidCursor(text)
    return int(text)


def limit(call: Call, *, default: int = LIMIT_DEFAULT, maximum: int = LIMIT_MAX) -> int:
    """How many things at most."""
    text = call.query.get("limit")
    if text is None:
        return default
    if _COUNT.fullmatch(text) is None or not 1 <= int(text) <= maximum:
        raise InvalidLimit(text, maximum=maximum)
    return int(text)


def name(call: Call, parameter: str) -> str | None:
    """The id or name that something must have; None when any will do."""
    text = call.query.get(parameter)
    if text is not None and not 1 <= len(text) <= _NAME_MAX:
        raise InvalidFilter(parameter, text)
    return text


def flag(call: Call, parameter: str) -> bool | None:
    """Whether something must be so; None when it does not matter."""
    text = call.query.get(parameter)
    if text not in {None, "true", "false"}:
        raise InvalidFilter(parameter, text or "")
    return None if text is None else text == "true"


def several(call: Call, parameter: str) -> tuple[str, ...] | None:
    """The ids or names of which something must have one; None when any will do."""
    text = call.query.get(parameter)
    if text is None:
        return None
    found = tuple(text.split(","))
    if len(found) > _SEVERAL_MAX or not all(1 <= len(one) <= _NAME_MAX for one in found):
        raise InvalidFilter(parameter, text)
    return found


def type_filter(call: Call) -> Callable[[str], bool] | None:
    """Whether a type is wanted; None when all are."""
    text = call.query.get("type")
    if text is None:
        return None
    try:
        return catalogue.type_filter(text)
    except catalogue.InvalidFilter as error:
        raise InvalidFilter("type", text) from error


def since_ns(call: Call) -> int | None:
    """The earliest moment of interest."""
    return _moment_ns(call, "since")


def until_ns(call: Call) -> int | None:
    """The moment from which on nothing is of interest any more."""
    return _moment_ns(call, "until")


def _moment_ns(call: Call, parameter: str) -> int | None:
    text = call.query.get(parameter)
    if text is None:
        return None
    try:
        # In a query a plus sign stands for a space, and few remember to escape the one in +02:00.
        moment = parse_rfc3339(text.replace(" ", "+"))
    except ValueError as error:
        raise InvalidFilter(parameter, text) from error
    # Years that no clock of ours can tell do not fit into a row either.
    return min(max(moment, 0), _MOMENT_MAX)
