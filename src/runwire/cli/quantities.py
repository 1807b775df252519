"""Durations and sizes as people write them."""

import re

import click

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)", re.ASCII)
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
