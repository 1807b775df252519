"""Replay: the cursor moves through a log at the pace at which it was made, or a multiple of it."""

import asyncio
from collections.abc import Callable

from runwire.protocol.envelope import occurred_at_of
from runwire.protocol.moment import nanoseconds
from runwire.tui.timeline import Timeline

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
SILENCE_MAX_S = 2.0
"""A longer silence is shortened to this, at any speed."""

_NS = 1_000_000_000
_FRAME_S = 0.04
_LOADING_S = 0.02
_BURST = 200


class Player:
    """Plays one timeline."""

    def __init__(self, timeline: Timeline, changed: Callable[[], None]) -> None:
        """Begin at the pace of the run, standing still."""
        self.playing = False
        self._speed = SPEEDS.index(1.0)
        self._timeline = timeline
        self._changed = changed

    @property
    def speed(self) -> float:
        """How many times as fast as it was."""
        return SPEEDS[self._speed]

    def faster(self, steps: int) -> None:
        """Another speed, as far as there is one."""
        self._speed = max(0, min(len(SPEEDS) - 1, self._speed + steps))
        self._changed()

    async def play(self) -> None:
        """Move to the end, or until somebody clears `playing`."""
        timeline, due_s, burst = self._timeline, 0.0, 0
        self.playing = timeline.rewound = True
        try:
            while self.playing and timeline.cursor < timeline.count - 1:
                wait_s = self._wait_s()
                if wait_s is None:
                    timeline.look()
                    await asyncio.sleep(_LOADING_S)
                    continue
                due_s, burst = due_s + wait_s, burst + 1
                if due_s >= _FRAME_S or burst >= _BURST:
                    await asyncio.sleep(due_s)
                    due_s, burst = 0.0, 0
                if self.playing:
                    timeline.go(timeline.cursor + 1)
        finally:
            self.playing = False
            self._changed()

    def _wait_s(self) -> float | None:
        """How long until the next event; None when it is not here yet."""
        log, at = self._timeline.record, self._timeline.cursor
        now, following = log.held(at), log.held(at + 1)
        if now is None or following is None:
            return None
        passed_s = (nanoseconds(occurred_at_of(following)) - nanoseconds(occurred_at_of(now))) / _NS
        return min(SILENCE_MAX_S, max(0.0, passed_s) / self.speed)
