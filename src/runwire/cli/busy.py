"""Something that takes a while, told on one line of the terminal for as long as it lasts."""

import io
import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr
from typing import TextIO

# What is over sooner needs no word.
_SOON_S = 0.5
_FRAME_S = 0.1
_ERASE = "\r\x1b[2K"


@contextmanager
def busy(doing: str, told: Callable[[], str] = str, *, aside: bool = True) -> Generator[None]:
    """While the body runs, somebody at a terminal sees that it does: what is done, how far it is, and for how long.

    `told` says how far, from another thread. Only where `aside` is true; it is not where the body writes to the same terminal.
    Nothing is left of the line afterwards, and nothing is written where stderr is no terminal.
    """
    stream = sys.stderr
    if not aside or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    line = _Line(stream, doing, told)
    ticking = threading.Thread(target=line.tick, daemon=True)
    ticking.start()
    try:
        with redirect_stderr(line):
            yield
    finally:
        line.over.set()
        ticking.join()
        line.erase()


class _Line(io.TextIOBase):
    """The line; whatever else is written to stderr takes its place until it is drawn again."""

    def __init__(self, stream: TextIO, doing: str, told: Callable[[], str]) -> None:
        self.over = threading.Event()
        self._stream = stream
        self._doing = doing
        self._told = told
        self._began_ns = time.monotonic_ns()
        # Both threads write, and half a line of each would be none.
        self._lock = threading.Lock()
        self._drawn = False

    def tick(self) -> None:
        """Draw it again and again, from a thread of its own: what keeps the program busy keeps its event loop busy, too."""
        # Not at the top: most commands are over before it is needed.
        from runwire.client.render.cells import clip
        from runwire.client.render.text import duration, spinner

        wait_s = _SOON_S
        while not self.over.wait(wait_s):
            wait_s, now_ns = _FRAME_S, time.monotonic_ns()
            facts = " · ".join(fact for fact in (self._told(), duration(now_ns - self._began_ns)) if fact)
            text = clip(
                f"{spinner(now_ns)} {self._doing}  {facts}", os.get_terminal_size(self._stream.fileno()).columns - 1
            )
            with self._lock:
                self._stream.write(f"{_ERASE}{text}")
                self._stream.flush()
                self._drawn = True

    def erase(self) -> None:
        """Take it away."""
        self.write("")
        self._stream.flush()

    def isatty(self) -> bool:
        """It stands for a terminal."""
        return True

    def writable(self) -> bool:
        """It takes text."""
        return True

    def write(self, text: str) -> int:
        """Write something else in its place."""
        with self._lock:
            self._stream.write(f"{_ERASE}{text}" if self._drawn else text)
            self._drawn = False
        return len(text)

    def flush(self) -> None:
        """See that what was written is seen."""
        with self._lock:
            self._stream.flush()
