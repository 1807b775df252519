"""A terminal of which the upper part stays and the lower part is drawn again and again."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment

Row = Sequence[Segment]
"""One line on the screen, no wider than it."""

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
# Terminals do not agree on how wide some characters are. What is drawn must not wrap, or erasing it would miss a row.
_CUT, _WRAP = "\x1b[?7l", "\x1b[?7h"
_NARROWEST, _LOWEST = 20, 6
_SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}


class Screen:
    """Writes to a terminal. What is printed scrolls away as usual; what is drawn below it is replaced each time."""

    def __init__(self, *, console: Console, write: Callable[[str], None], size: Callable[[], tuple[int, int]]) -> None:
        """Draw for a terminal of that size (columns and rows), which may change, in the colours of `console`."""
        self.console = console
        self._write = write
        self._size = size
        self._system = _SYSTEMS.get(console.color_system or "")
        self._widths: list[int] = []
        self._drawn = ""

    @classmethod
    def of_stdout(cls) -> "Screen":
        """The terminal that stdout is."""
        return cls(console=Console(force_terminal=True, legacy_windows=False), write=_write, size=_size)

    @property
    def width(self) -> int:
        """How many columns a row may have. The last one stays free: writing there is where terminals differ."""
        return max(self._size()[0], _NARROWEST) - 1

    @property
    def height(self) -> int:
        """How many rows there are."""
        return max(self._size()[1], _LOWEST)

    def paint(self, stays: Iterable[Row], changes: Sequence[Row]) -> None:
        """Print some rows for good, and below them draw others in the place of those that were there."""
        printed = "".join(f"{self._coded(row)}\n" for row in stays)
        drawn = "\n".join(map(self._coded, changes))
        if not printed and drawn == self._drawn:
            return
        below = f"{_HIDE}{_CUT}{drawn}{_WRAP}" if drawn else _SHOW
        self._write(f"{self._erasing()}{printed}{below}")
        self._drawn = drawn
        self._widths = [sum(segment.cell_length for segment in row) for row in changes]

    def clear(self) -> None:
        """Take away what is drawn and give the cursor back."""
        self.paint((), ())
        self._write(_SHOW)

    def _erasing(self) -> str:
        if not self._widths:
            return ""
        # A terminal that became narrower since has broken the rows anew.
        columns = max(self._size()[0], 1)
        rows = sum(max(-(-width // columns), 1) for width in self._widths)
        # Row by row: cleared at once from the top of the screen, some terminals keep a copy among what scrolled away.
        return "\r\x1b[2K" + "\x1b[1A\x1b[2K" * (rows - 1)

    def _coded(self, row: Row) -> str:
        return "".join(
            segment.style.render(segment.text, color_system=self._system) if segment.style else segment.text
            for segment in row
            if not segment.control
        )


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _size() -> tuple[int, int]:
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return 80, 24
    # A terminal that does not know its size says nought.
    return size.columns or 80, size.lines or 24
