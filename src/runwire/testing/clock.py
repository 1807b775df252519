"""Time that a test holds in its hand."""

START_NS = 1_777_800_225_123_456_789  # 2026-05-03T09:23:45.123456789Z


class ManualClock:
    """Stands still until it is told to go on."""

    __slots__ = ("_now_ns",)

    def __init__(self, *, now_ns: int = START_NS) -> None:
        self._now_ns = now_ns

    def now_ns(self) -> int:
        """The moment it was last set to."""
        return self._now_ns

    def advance(self, seconds: float) -> None:
        """Let time pass; a negative amount is somebody setting the machine's clock back."""
        self._now_ns += round(seconds * 1_000_000_000)
