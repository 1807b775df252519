"""The places of a log that hold no event, and whether a gap marker accounts for each of them."""


class Holes:
    """Counts a log's sequences and keeps every missing range until a marker behind it covers it."""

    __slots__ = ("_expected", "_open", "last_end")

    def __init__(self, *, after: int = -1) -> None:
        """Expect the sequence after `after` first."""
        self._expected = after + 1
        self._open: list[tuple[int, int]] = []
        self.last_end = after
        """The end of the latest hole, covered or not; -1 when the log has none."""

    @property
    def expected(self) -> int:
        """The sequence that would leave no hole."""
        return self._expected

    @property
    def unexplained(self) -> list[tuple[int, int]]:
        """The missing ranges that no marker has covered yet, both ends included."""
        return self._open

    def arrive(self, sequence: int) -> bool:
        """Take note of an event; False when its place is already behind us."""
        if sequence < self._expected:
            return False
        if sequence > self._expected:
            self.last_end = sequence - 1
            self._open.append((self._expected, sequence - 1))
        self._expected = sequence + 1
        return True

    def cover(self, first: int, last: int) -> None:
        """Let a marker account for the range it names."""
        left: list[tuple[int, int]] = []
        for start, end in self._open:
            if start < first:
                left.append((start, min(end, first - 1)))
            if end > last:
                left.append((max(start, last + 1), end))
        self._open = left
