"""The events of a run, one a row. What is on the screen is asked for; what is not is neither read nor decoded."""

import asyncio
from collections.abc import Callable, Sequence

from runwire.errors import GatewayError
from runwire.tui.log import Log
from runwire.tui.rows import Piece, Rows
from runwire.tui.telling import event_pieces

_NEAR = 32
_AROUND = 64
_AGAIN_S = 1.0


class Timeline(Rows):
    """A window on a log."""

    def __init__(self, log: Log, *, troubled: Callable[[GatewayError], None]) -> None:
        """Look at this log; a read that failed is told, and tried again."""
        super().__init__(id="timeline")
        self.following = True
        self.record = log
        self.rewound = False
        """Whether what comes after the cursor has not happened yet, as far as the onlooker is concerned."""
        self._troubled = troubled
        self._look = asyncio.Event()

    def pieces(self, row: int, width: int) -> Sequence[Piece]:
        """An event, or a sign that it is on its way."""
        envelope = self.record.held(row) if row < len(self.record) else None
        if envelope is None:
            self._look.set()
            return [(f"{self.record.sequence(row) if row < len(self.record) else row:>6} …", "dim")]
        return event_pieces(envelope, width)

    def faint(self, row: int) -> bool:
        """What has not happened yet stands back."""
        return self.rewound and row > self.cursor

    @property
    def envelope(self) -> bytes | None:
        """The event at the cursor, if it is here."""
        return self.record.held(self.cursor) if self.cursor < len(self.record) else None

    def show(self) -> None:
        """The log has another length."""
        self.resize(len(self.record))
        self._look.set()

    def look(self) -> None:
        """Something else may be on the screen."""
        self._look.set()

    async def keep_reading(self) -> None:
        """Read what is looked at, for ever."""
        while True:
            await self._look.wait()
            self._look.clear()
            rows = self._wanted()
            if not rows:
                continue
            try:
                stood = self.record.sequence(min(self.cursor, len(self.record) - 1))
                if not await self.record.fetch(rows):
                    # Retention was here: the cursor stays with its event, or with what is left next to it.
                    self.resize(len(self.record))
                    self.place(self.record.row(stood))
            except GatewayError as error:
                self._troubled(error)
                await asyncio.sleep(_AGAIN_S)
                self._look.set()
            self.refresh()

    def _wanted(self) -> list[int]:
        seen = self.seen
        if not self.record.missing(range(seen.start - _NEAR, seen.stop + _NEAR)):
            return []
        return self.record.missing(range(seen.start - _AROUND, seen.stop + _AROUND))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Read around the new place before it is reached."""
        super().watch_scroll_y(old_value, new_value)
        self._look.set()
