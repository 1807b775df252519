"""Whether the gateway can be heard. The client takes every stream up again by itself; this is how a person is told."""

from collections.abc import Callable

from runwire.client.items import Drop
from runwire.client.render.harmless import one_line


def _nobody() -> None:
    """Nobody looks yet."""


class Link:
    """Remembers the last break of a stream until something is heard again."""

    def __init__(self) -> None:
        self.trouble = ""
        """What is wrong, on one safe line; empty while all is well."""
        self.breaks = 0
        self.changed: Callable[[], None] = _nobody

    def dropped(self, drop: Drop) -> None:
        """A stream broke off and is about to be taken up again."""
        self.breaks += 1
        self.trouble = f"lost the gateway, trying again (attempt {drop.attempt}): {one_line(drop.cause, 160)}"
        self.changed()

    def heard(self) -> None:
        """Something came."""
        if self.trouble:
            self.trouble = ""
            self.changed()
