"""What a measurement is: figures in turn, checks against the same run, rows of the table."""

import os
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

Sense = Literal[">=", "<="]


class Figure(msgspec.Struct, frozen=True):
    """One side of a row: what was measured, every sample in the order taken, and the median that counts."""

    what: str
    median: float
    samples: tuple[float, ...]


class Check(msgspec.Struct, frozen=True):
    """One requirement: the ratio (or plain value) reached, the one required, and whether it is met."""

    against: str
    reached: float | None
    sense: Sense
    required: float
    unit: str
    met: bool


class Row(msgspec.Struct, frozen=True):
    """One line of the table. `rival` is what others do, `limit` what the machine allows; both from the same run."""

    path: str
    workload: str
    unit: str
    ours: Figure | None
    limit: Figure | None = None
    rival: Figure | None = None
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()


def figure(what: str, samples: Sequence[float]) -> Figure | None:
    """The figure for these samples; none when the side was not measured."""
    if not samples:
        return None
    return Figure(what=what, median=statistics.median(samples), samples=tuple(samples))


def interleave(repetitions: int, sides: dict[str, Callable[[], float]], label: str = "") -> dict[str, list[float]]:
    """Measure each side once per repetition, in turn, so that a noisy minute falls on all of them alike."""
    samples: dict[str, list[float]] = {name: [] for name in sides}
    for repetition in range(repetitions):
        for name, measure in sides.items():
            # What one side left unwritten must not be written at the next one's expense.
            os.sync()
            value = measure()
            samples[name].append(value)
            say(f"  {label or 'round'} {repetition + 1}/{repetitions} {name}: {value:,.4g}")
    return samples


def check_ratio(against: str, ours: Figure | None, other: Figure | None, sense: Sense, required: float) -> Check:
    """Compare our median with another's; a side that was not measured is not met."""
    reached = ours.median / other.median if ours and other and other.median else None
    return _check(against, reached, sense, required, "x")


def check_value(what: str, reached: float | None, sense: Sense, required: float, unit: str) -> Check:
    """Compare a plain value with a fixed bound."""
    return _check(what, reached, sense, required, unit)


def _check(against: str, reached: float | None, sense: Sense, required: float, unit: str) -> Check:
    met = reached is not None and (reached >= required if sense == ">=" else reached <= required)
    return Check(against=against, reached=reached, sense=sense, required=required, unit=unit, met=met)


def say(text: str) -> None:
    """Talk goes to stderr; the table alone goes to stdout."""
    print(text, file=sys.stderr, flush=True)
