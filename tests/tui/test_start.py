"""How `runwire top` begins and ends, in a process of its own."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.program import RUNWIRE, Shell
from tests.cli.running import Gateway, running
from tests.gateway.serving import free_port

COLOUR = re.compile(rb"\x1b\[(?:[0-9]+;)*(?:3[0-7]|4[0-7]|9[0-7]|[34]8)[;m]")
TRUECOLOUR = re.compile(rb"\x1b\[(?:[0-9]+;)*[34]8[;:][25]")


class Screen:
    """The program on a terminal of its own."""

    def __init__(self, gateway: Gateway, **env: str) -> None:
        self.seen = b""
        ours, theirs = pty.openpty()
        self._ours = ours
        surroundings = gateway.shell.environment({"TERM": "xterm", "COLORTERM": "", **env})
        if "NO_COLOR" not in env:
            del surroundings["NO_COLOR"]
        self._process = subprocess.Popen(
            [*RUNWIRE, "--data", str(gateway.data), "top"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=surroundings,
            start_new_session=True,
        )
        os.close(theirs)

    def until(self, text: bytes) -> None:
        """Read until a text has come."""
        end = time.monotonic() + 30
        while text not in self.seen:
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self._ours], [], [], 0.1)[0]:
                self.seen += os.read(self._ours, 65536)

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self._ours, keys)

    def ended(self) -> int:
        """The exit status; what is still written is read meanwhile."""
        end = time.monotonic() + 30
        while self._process.poll() is None and time.monotonic() < end:
            if select.select([self._ours], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self._ours, 65536)
                except OSError:
                    break
        status = self._process.wait(10)
        os.close(self._ours)
        return status


def test_without_a_gateway_it_says_so(shell: Shell) -> None:
    port = free_port()
    ended = shell.runwire("--url", f"http://127.0.0.1:{port}", "top", "--json")
    assert ended.status == 3
    assert ended.err.startswith("error: cannot reach the gateway")
    assert "hint:" in ended.err


def test_without_a_terminal_it_points_to_what_can_be_printed(shell: Shell) -> None:
    ended = shell.runwire("top")
    assert ended.status == 2
    assert "needs a terminal" in ended.err
    assert "top --json" in ended.err


def test_it_draws_with_the_terminals_own_colours_and_leaves_the_terminal_as_it_was(
    shell: Shell, tmp_path: Path
) -> None:
    with running(shell, tmp_path / "data") as gateway:
        screen = Screen(gateway)
        screen.until(b"need you")
        screen.press(b"q")
        assert screen.ended() == 0
        assert COLOUR.search(screen.seen)
        assert not TRUECOLOUR.search(screen.seen)
        # The alternate screen is left, and the cursor shown again.
        assert screen.seen.rindex(b"\x1b[?1049l") > screen.seen.index(b"\x1b[?1049h")
        assert b"\x1b[?25h" in screen.seen


def test_without_colour_there_is_none(shell: Shell, tmp_path: Path) -> None:
    with running(shell, tmp_path / "data") as gateway:
        screen = Screen(gateway, NO_COLOR="1")
        screen.until(b"need you")
        screen.press(b"?")
        screen.until(b"approve or deny")
        screen.press(b"\x03")
        assert screen.ended() == 0
        assert not COLOUR.search(screen.seen)


def test_a_gateway_that_is_not_there_is_said_before_the_screen_is_taken(shell: Shell, tmp_path: Path) -> None:
    with running(shell, tmp_path / "data") as gateway:
        gateway.stop()
        screen = Screen(gateway, RUNWIRE_URL=gateway.url)
        screen.until(b"error: cannot reach the gateway")
        assert screen.ended() == 3
        assert b"\x1b[?1049h" not in screen.seen


def test_nothing_else_loads_what_draws_the_screen() -> None:
    """Neither any module outside the room, nor the command's own before it is called."""
    code = """
import importlib, pkgutil, sys, runwire
for found in pkgutil.walk_packages(runwire.__path__, "runwire."):
    if not found.name.startswith("runwire.tui") and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
assert "runwire.cli.commands.top" in sys.modules
sys.exit("textual" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
