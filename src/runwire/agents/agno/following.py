"""Where a stream stands: the numbers of its events, and what of them comes again when a stream is taken up anew."""

from runwire.agents.agno.frames import Frame, Replay

RUNS_MAX = 4096
"""So many runs are remembered; a stream that tells of more is not one anybody takes up again."""

_INDEX_MAX = 2**53
_DONE = frozenset({"RunCompleted", "RunCancelled", "RunError", "RunPaused"})


class Following:
    """Follows the numbers that background runs and continued ones give their events. They begin again at 0 with a leg."""

    def __init__(self) -> None:
        self.status = ""
        """What the server said last about the run, when it was asked again."""
        self._last: int | None = None
        self.left = 0
        """How many events follow that were sent before."""
        self._inline: set[str] = set()
        self._ended: set[str] = set()
        self._over: frozenset[str] = frozenset()
        """The runs that had ended when the stream was taken up anew."""

    def ends(self, run_id: str | None) -> None:
        """A run has ended here: whatever of it is told again is known."""
        if run_id and len(self._ended) < RUNS_MAX:
            self._ended.add(run_id)

    def begins(self, run_id: str | None, event_index: int | None) -> None:
        """A leg of a run begins."""
        if run_id:
            self._ended.discard(run_id)
            if event_index is None and len(self._inline) < RUNS_MAX:
                self._inline.add(run_id)

    def replay(self, frame: Replay) -> None:
        """So many events follow that were sent before."""
        self.status = frame.status or ""
        self.left = max(0, frame.total_events or frame.missed_events or 0)
        self._over = frozenset(self._ended)
        asked = frame.last_event_index_requested
        if self._last is None and asked is not None and self.left:
            self._last = asked

    def is_known(self, frame: Frame, name: str) -> bool:
        """Whether an event was told already, before the stream was taken up anew."""
        if not self.left:
            return False
        self.left -= 1
        run_id = frame.run_id or ""
        if run_id in self._over:
            return True
        if run_id in self._inline:
            # The numbers of such a run are made up afterwards; only how it stands can be news.
            return name.removeprefix("Team") not in _DONE
        index = frame.event_index
        return index is not None and self._last is not None and index <= self._last

    def missing(self, index: int) -> tuple[int, int] | None:
        """The numbers that were left out before this one, if any were."""
        if not 0 <= index < _INDEX_MAX:
            return None
        last, self._last = self._last, index
        return (last + 1, index - 1) if last is not None and index > last + 1 else None
