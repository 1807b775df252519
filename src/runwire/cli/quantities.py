"""Durations, moments, sizes and money as people write them."""

import math
import re

import click

from runwire.clock import SystemClock, parse_rfc3339, rfc3339

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)", re.ASCII)
_NS = 1_000_000_000
_DOLLARS_MAX = 1_000_000_000
_EXAMPLE = "2026-11-01T00:00:00Z"
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {"": 1, "B": 1} | {
    f"{letter}{suffix}": base**power
    for power, letter in enumerate("KMGT", start=1)
    for suffix, base in (("", 1000), ("B", 1000), ("iB", 1024))
}


class Duration(click.ParamType[float]):
    """A time such as 30d, 12h or 90m; a bare number is seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The time in seconds."""
        return _amount(self, value, {"": 1, **_SECONDS}, "30d, 12h or 90m", (param, ctx))


class Moment(click.ParamType[str]):
    """A moment in RFC 3339, or how long ago it was, such as 2d, 12h or 90m."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The moment in RFC 3339."""
        text = str(value).strip()
        found = _AMOUNT.fullmatch(text)
        if found is not None and found[2] in _SECONDS:
            now_ns = SystemClock().now_ns()
            return rfc3339(max(now_ns - round(float(found[1]) * _SECONDS[found[2]] * _NS), 0))
        try:
            parse_rfc3339(text)
        except ValueError:
            self.fail(
                f"{text[:64]!r} is neither a time ago such as 2d, 12h or 90m nor one such as {_EXAMPLE}", param, ctx
            )
        return text


class Dollars(click.ParamType[float]):
    """An amount of money in US dollars."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The amount."""
        try:
            amount = float(str(value))
        except ValueError:
            amount = math.nan
        if not 0 <= amount <= _DOLLARS_MAX:
            self.fail(f"{str(value)!r} is no amount of dollars such as 2 or 0.50", param, ctx)
        return amount


class Size(click.ParamType[int]):
    """A size such as 500MB or 2GiB; a bare number is bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The size in bytes."""
        return int(_amount(self, value, _BYTES, "500MB or 2GiB", (param, ctx)))


def _amount(
    kind: click.ParamType[float] | click.ParamType[int],
    value: object,
    units: dict[str, int],
    examples: str,
    where: tuple[click.Parameter | None, click.Context | None],
) -> float:
    found = _AMOUNT.fullmatch(str(value).strip())
    amount = 0.0 if found is None else float(found[1]) * units.get(found[2], 0)
    if not amount:
        kind.fail(f"{str(value)!r} is not a {kind.name} such as {examples}", *where)
    return amount
