"""How far a piece of work has come, told to whoever watches: a test that ends the process at exactly that place."""

from collections.abc import Callable

Probe = Callable[[str], None]
"""Is told each place that must survive a crash, as it is reached."""


def unwatched(_: str) -> None:
    """Nobody watches."""
