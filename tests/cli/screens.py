"""What a log looks like on a terminal when it has been shown to its end. `python -m tests.cli.screens` draws all anew."""

from pathlib import Path

import pyte
from rich.console import Console

from runwire.cli.live_view import LiveView
from runwire.cli.screen import Screen
from tests.client.render.logs import CAPTURES, FIXTURES, envelopes

GOLDEN = Path(__file__).parent / "screens"
WIDTHS = (80, 140)
_CHOSEN = (
    "claude-code-2.1.325/parallel_tools",
    "codex-0.166.0/parallel_tools",
    "gemini-cli-0.61.0/text_then_tool",
    "opencode-1.18.33/tool_read_edit",
    "opencode-1.18.33/tool_ansi_output",
    "opencode-1.18.33/tool_fail",
    "pi-0.87.1/rpc_approval_allow",
    "pi-0.87.1/rpc_steer_and_follow_up",
    "pi-0.87.1/rpc_tool_read_edit",
    "zot/duplicate_tool_ids",
    "zot/error_500",
    "zot/long_unicode",
    "zot/tool_invalid_utf8",
    "zot/tool_progress",
    "zot/tool_write",
)
_ROWS = 600
_MANY = 100


def name_of(path: Path) -> str:
    """What its screens are called."""
    stem = path.name.removesuffix(".jsonl").removesuffix(".expected")
    return stem if path in FIXTURES else f"{path.parent.name}.{stem}"


LOGS = [
    *FIXTURES,
    *(path for path in CAPTURES if f"{path.parent.name}/{path.name.removesuffix('.expected.jsonl')}" in _CHOSEN),
]


def terminal(width: int, rows: int = _ROWS) -> tuple[pyte.Screen, Screen]:
    """A terminal that can be read, and the screen that draws on it."""
    shown = pyte.Screen(width, rows)
    stream = pyte.Stream(shown)
    console = Console(force_terminal=True, color_system="256", width=width, legacy_windows=False)

    def write(text: str) -> None:
        # The driver of a real terminal begins every line at its beginning; pyte loses what follows a variation selector.
        stream.feed(text.replace("\n", "\r\n").replace("\ufe0f", ""))

    return shown, Screen(console=console, write=write, size=lambda: (width, 24))


def drawn(lines: list[bytes], width: int, *, each: bool = True) -> list[str]:
    """The rows of a terminal on which a log was shown, painted after `each` event (of many, some) or only in the end."""
    shown, screen = terminal(width)
    now_ns = 0
    view = LiveView(screen, now_ns=lambda: now_ns)
    for number, line in enumerate(lines):
        view.take(line)
        now_ns = view.drawing.head_ns
        if each and (len(lines) < _MANY or number % 9 == 0):
            view.paint()
    view.close()
    # Not `display`, which measures every character of every row.
    rows = ["".join(shown.buffer[y][x].data for x in range(width)).rstrip() for y in range(shown.cursor.y + 1)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def golden(path: Path) -> str:
    """The screens of a log, as they are kept."""
    lines = envelopes(path)
    return "".join(f"== {width} columns\n" + "\n".join(drawn(lines, width)) + "\n" for width in WIDTHS)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for log in LOGS:
        (GOLDEN / f"{name_of(log)}.txt").write_text(golden(log))
