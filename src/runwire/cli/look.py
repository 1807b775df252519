"""How things are shown: short, relative and coloured to somebody at a terminal, whole and absolute to a program."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runwire.cli import printing
from runwire.cli.options import Options
from runwire.client.render.cells import clip
from runwire.clock import parse_rfc3339
from runwire.ids import ULID_LENGTH, is_id

Style = Literal["", "title", "good", "bad", "busy", "waiting", "quiet", "added", "removed", "place"]

_CODES: dict[Style, str] = {
    "title": "1",
    "good": "32",
    "bad": "31",
    "busy": "36",
    "waiting": "33",
    "quiet": "2",
    "added": "32",
    "removed": "31",
    "place": "36",
}
_STATES: dict[str, Style] = {
    "completed": "good",
    "applied": "good",
    "approved": "good",
    "ok": "good",
    "failed": "bad",
    "fail": "bad",
    "denied": "bad",
    "running": "busy",
    "awaiting_approval": "waiting",
    "pending": "waiting",
    "proposed": "waiting",
    "warn": "waiting",
    "cancelled": "quiet",
    "rejected": "quiet",
    "timed_out": "quiet",
    "queued": "quiet",
}
_NS = 1_000_000_000
_STEPS = ((60, 1, "s"), (3600, 60, "m"), (86_400, 3600, "h"), (30 * 86_400, 86_400, "d"))
# The ten digits of a ULID that tell the millisecond, and two that tell apart what was made in the same one.
_TELLING = 12


class Id(str):
    """An id: shown as far as it is unique among those beside it."""

    __slots__ = ()


class Moment(str):
    """A moment in RFC 3339, or nothing: shown as how long ago that is."""

    __slots__ = ()


class State(str):
    """The state of something: shown in its colour."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Who looks: `terminal` says a person, and `width` how many characters fit on their line."""

    terminal: bool = False
    coloured: bool = False
    width: int | None = None
    now_ns: int = 0

    def shown(self, cell: str) -> str:
        """A cell as it is written, but for ids, which depend on those around them."""
        if isinstance(cell, Moment):
            return self.when(cell)
        return cell

    def when(self, moment: str) -> str:
        """A moment: how long ago for a person, to the second for a program."""
        if not moment:
            return ""
        return ago(parse_rfc3339(moment), self.now_ns) if self.terminal else f"{moment[:19]}Z"

    def painted(self, text: str, style: Style) -> str:
        """The text in the colour of a style, where colour is wanted."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.coloured and style and text else text

    def fitting(self, line: str) -> str:
        """As much of a line as there is room for."""
        return line if self.width is None else clip(line, self.width)


PLAIN = Look()


def look_of(options: Options) -> Look:
    """How this command's output is looked at."""
    if not sys.stdout.isatty():
        return PLAIN
    coloured = printing.coloured(no_color=options.no_color)
    return Look(terminal=True, coloured=coloured, width=printing.width(), now_ns=time.time_ns())


def style_of(cell: str) -> Style:
    """The colour of a state; other text has none."""
    return _STATES.get(cell, "") if isinstance(cell, State) else ""


def ago(moment_ns: int, now_ns: int) -> str:
    """How long ago a moment is, or how far ahead; what is more than a month away is told by its day."""
    distance_s = abs(now_ns - moment_ns) // _NS
    for below, unit_s, letter in _STEPS:
        if distance_s < below:
            amount = f"{distance_s // unit_s}{letter}"
            return f"{amount} ago" if moment_ns <= now_ns else f"in {amount}"
    return time.strftime("%Y-%m-%d", time.gmtime(moment_ns // _NS))


def shortened(ids: Sequence[str]) -> list[str]:
    """Ids of ours cut to what tells them apart, and at least to the moment in which they were made; others stay whole."""
    different = sorted({each for each in ids if is_id(each.rpartition("_")[0], each)})
    needed: dict[str, int] = {}
    for one, following in zip(different, [*different[1:], ""], strict=True):
        same = next((at for at, (a, b) in enumerate(zip(one, following, strict=False)) if a != b), 0)
        needed[one] = max(needed.get(one, 0), same + 1)
        needed[following] = same + 1
    least = _TELLING - ULID_LENGTH
    return [each if each not in needed else each[: max(needed[each], len(each) + least)] for each in ids]
