"""Ids by their beginning, in a way that an index can answer."""

# Ids are plain ASCII, so every one that goes on after a prefix sorts before this.
_LAST = "\U0010ffff"


def prefix_range(prefix: str) -> tuple[str, str]:
    """The two values that lie around every id that begins so: at or after the first, before the second."""
    return prefix, prefix + _LAST
