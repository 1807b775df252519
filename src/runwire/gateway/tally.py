"""What the gateway counts about itself: plain numbers, because they change at every write."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Numbers since the start of the process."""

    subscribers: int = 0
    stream_bytes: int = 0
    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    """By method, route and status."""
    seconds: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    """Spent answering, by method and route."""
