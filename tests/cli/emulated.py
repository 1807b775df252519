"""The real program on a terminal that can be read and typed at."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import pyte

from tests.cli.program import RUNWIRE, Shell

_PATIENCE_S = 30.0
_TRIES = 5


class Terminal:
    """A terminal with one command on it."""

    def __init__(self, process: "subprocess.Popen[bytes]", ours: int, columns: int, rows: int) -> None:
        self.process = process
        self.said = b""
        """Every byte that was written to it."""
        self._ours = ours
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.001)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def title(self) -> str:
        """What its window is called."""
        return str(self._screen.title)

    def text(self) -> str:
        """What can be seen on it, and what has scrolled away."""
        above = [_row(line, self._screen.columns) for line in self._screen.history.top]
        rows = [_row(self._screen.buffer[y], self._screen.columns) for y in range(self._screen.lines)]
        return "\n".join([*above, *rows]).rstrip("\n")

    def see(self, text: str) -> str:
        """Wait until the text can be seen; all that can be seen then."""
        self.wait(lambda: text in self.text(), text)
        return self.text()

    def complete(self, text: str) -> None:
        """Press TAB until the text can be seen, and not for ever: a shell that is offered nothing in time rings the bell."""
        for tries in range(1, _TRIES + 1):
            self.type("\t")
            self.wait(partial(self._has_answered, text, tries), text)
            if text in self.text():
                return
        raise AssertionError(f"{text!r} is not to be seen in:\n{self.text()}")

    def wait(self, is_so: Callable[[], bool], wanted: str) -> None:
        """Read until something is so; what was wanted is named if it never is."""
        until_s = time.monotonic() + _PATIENCE_S
        while not is_so():
            over = self.process.poll() is not None
            if not self._read(0.1) and (over or time.monotonic() > until_s):
                raise AssertionError(f"{wanted!r} is not to be seen in:\n{self.text()}")

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._ours, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """Become another size, which the command is told."""
        _resize(self._ours, columns, rows)
        self._screen.resize(rows, columns)

    def end(self) -> int:
        """Read to the end of the command; its exit status."""
        until_s = time.monotonic() + _PATIENCE_S
        while self.process.poll() is None and time.monotonic() < until_s:
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.wait(0)

    def echoes(self) -> bool:
        """Whether what is typed is shown, as a shell expects it."""
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    def _has_answered(self, text: str, rings: int) -> bool:
        return text in self.text() or self.said.count(b"\a") >= rings

    def _read(self, wait_s: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], wait_s)
        piece = os.read(self._ours, 65536) if ready else b""
        self.said += piece
        self._stream.feed(piece)
        return bool(piece)


def _row(line: Mapping[int, pyte.screens.Char], columns: int) -> str:
    return "".join(line[x].data for x in range(columns)).rstrip()


@contextmanager
def terminal(
    shell: Shell,
    *arguments: str,
    columns: int = 100,
    rows: int = 40,
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = RUNWIRE,
) -> Generator[Terminal]:
    """`runwire`, or another program, with a terminal for its input and output, in colour unless `env` says otherwise."""
    ours, theirs = pty.openpty()
    _resize(theirs, columns, rows)
    around = shell.environment({"TERM": "xterm-256color", "NO_COLOR": "", **(env or {})})
    around.pop("COLUMNS", None)
    process = subprocess.Popen(
        [*program, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=around,
        cwd=shell.home,
        start_new_session=True,
        # Ctrl-C goes to whoever has the terminal for its own.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - the tests have one thread
    )
    # `theirs` stays open on this side, too: the settings of a terminal that nobody holds are lost.
    shown = Terminal(process, ours, columns, rows)
    try:
        yield shown
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.close(theirs)
        os.close(ours)


def _resize(descriptor: int, columns: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
