"""Single keys, as they are pressed."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Keys:
    """While it is on, each key goes to `press` at once and nothing typed is shown. Ctrl-C stays what it is."""

    def __init__(self, press: Callable[[str], None]) -> None:
        """Hand keys to `press`."""
        self._press = press
        self._before: list[Any] | None = None

    def on(self) -> None:
        """Take the keyboard, if there is one and it is not taken yet."""
        if self._before is not None or not sys.stdin.isatty():
            return
        descriptor = sys.stdin.fileno()
        self._before = termios.tcgetattr(descriptor)
        tty.setcbreak(descriptor)
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    def off(self) -> None:
        """Give the keyboard back as it was."""
        if self._before is None:
            return
        descriptor = sys.stdin.fileno()
        asyncio.get_running_loop().remove_reader(descriptor)
        with suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, self._before)
        self._before = None

    def forget(self) -> None:
        """Throw away what was typed and not read yet."""
        if self._before is not None:
            with suppress(termios.error):
                termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    def _read(self) -> None:
        try:
            typed = os.read(sys.stdin.fileno(), 1024)
        except OSError:
            typed = b""
        if not typed:
            # The terminal has gone; it would be "readable" for ever.
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            return
        for key in typed.decode("utf-8", "ignore"):
            self._press(key)


def in_foreground() -> bool:
    """Whether the terminal is ours now: whoever takes it in the background is stopped."""
    try:
        return os.tcgetpgrp(sys.stdout.fileno()) == os.getpgrp()
    except OSError:
        # A terminal that belongs to no session has no background.
        return True
