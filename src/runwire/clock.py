"""Time as a dependency: where it comes from and how it is written. Nothing else in the house asks the system for it."""

import re
import time
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import Protocol

_NS = 1_000_000_000
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_SHAPE = re.compile(
    r"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)


class Clock(Protocol):
    """Tells the time in UTC nanoseconds since 1970 and never goes backwards within a process."""

    def now_ns(self) -> int: ...


class SystemClock:
    """The machine's clock. When somebody sets it back, it stands still until the old time is reached again."""

    __slots__ = ("_last_ns", "_wall_ns")

    def __init__(self, *, wall_ns: Callable[[], int] = time.time_ns) -> None:
        self._wall_ns = wall_ns
        self._last_ns = 0

    def now_ns(self) -> int:
        """The present moment, or the latest one ever told if the machine's clock is behind it."""
        now = self._wall_ns()
        if now < self._last_ns:
            return self._last_ns
        self._last_ns = now
        return now


def rfc3339(ns: int) -> str:
    """Write a moment as RFC 3339 in UTC with nine fractional digits and `Z`."""
    if ns < _NS:
        return f"{_second(str(ns // _NS))}{ns % _NS:09d}Z"
    # Cutting the digits is a third cheaper than dividing, and every event is stamped here.
    digits = str(ns)
    return f"{_second(digits[:-9])}{digits[-9:]}Z"


def parse_rfc3339(text: str) -> int:
    """Read an RFC 3339 moment of any offset and up to nine fractional digits; anything else is a ValueError."""
    parts = _SHAPE.fullmatch(text)
    if parts is None:
        raise ValueError(f"not an RFC 3339 time with an offset: {text[:64]!r}")
    second, fraction, sign, hours, minutes = parts.groups()
    ns = _unix(second) * _NS
    if fraction is not None:
        ns += int(fraction.ljust(9, "0"))
    if sign is not None:
        ahead = _offset_s(int(hours), int(minutes)) * _NS
        ns += ahead if sign == "-" else -ahead
    return ns


@lru_cache(maxsize=64)
def _second(unix_s: str) -> str:
    # Events come many to a second, so all but the fraction is nearly always known already.
    at = time.gmtime(int(unix_s))
    return f"{at.tm_year:04d}-{at.tm_mon:02d}-{at.tm_mday:02d}T{at.tm_hour:02d}:{at.tm_min:02d}:{at.tm_sec:02d}."


@lru_cache(maxsize=64)
def _unix(second: str) -> int:
    day = date(int(second[:4]), int(second[5:7]), int(second[8:10])).toordinal() - _EPOCH_DAY
    hour, minute, whole = int(second[11:13]), int(second[14:16]), int(second[17:19])
    # Second 60 is a leap second; like POSIX time, we count it as the next one.
    if hour > 23 or minute > 59 or whole > 60:
        raise ValueError(f"no such time of day: {second!r}")
    return ((day * 24 + hour) * 60 + minute) * 60 + whole


def _offset_s(hours: int, minutes: int) -> int:
    if hours > 23 or minutes > 59:
        raise ValueError(f"no such offset from UTC: {hours:02d}:{minutes:02d}")
    return (hours * 60 + minutes) * 60
