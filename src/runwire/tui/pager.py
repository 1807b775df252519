"""Long text on a screen of its own: the raw JSON of an event, a diff, the help. Only the lines that are seen are drawn."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Static

from runwire.client.render.harmless import plain
from runwire.tui.rows import Piece, Reading, folded

TEXT_MAX = 4 * 1024 * 1024
"""How much of a text is shown; nobody reads more on a screen."""

_DIFF_LOOKS = (("+++", "bold"), ("---", "bold"), ("diff ", "bold"), ("@@", "tool"), ("+", "good"), ("-", "bad"))


def text_lines(text: str) -> list[Piece]:
    """Any text as safe lines."""
    lines = text[:TEXT_MAX].split("\n")
    shown = [(plain(line.expandtabs(8).rstrip("\r")), "") for line in lines]
    return shown if len(text) <= TEXT_MAX else [*shown, ("… the rest is not shown", "warn")]


def diff_lines(text: str) -> list[Piece]:
    """A diff as safe lines in its colours."""
    return [(line, look or _diff_look(line)) for line, look in text_lines(text)]


def _diff_look(line: str) -> str:
    return next((look for prefix, look in _DIFF_LOOKS if line.startswith(prefix)), "")


class Lines(Reading):
    """Lines of text, folded at the width of the screen."""

    def __init__(self, lines: Sequence[Piece], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._whole = lines
        self._shown: list[Piece] = []
        self._width = 0

    def pieces(self, row: int, width: int) -> Sequence[Piece]:  # noqa: ARG002 - they are folded to it already
        """One line."""
        return [self._shown[row]]

    def show(self, lines: Sequence[Piece]) -> None:
        """Show other lines."""
        self._whole, self._width = lines, 0
        self._fold()

    def on_resize(self) -> None:
        """Fold anew where the width has changed."""
        self._fold()
        super().on_resize()

    def _fold(self) -> None:
        width = self.fold_width
        if width > 0 and width != self._width:
            self._width = width
            self._shown = [(part, look) for line, look in self._whole for part in folded(line, width)]
            self.resize(len(self._shown))


class Pager(Screen[None]):
    """A text under a title."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "Back", priority=True),
    ]

    def __init__(self, title: str, lines: Sequence[Piece]) -> None:
        """Show lines that are safe to show."""
        super().__init__()
        self._title = plain(title)
        self._lines = lines

    def compose(self) -> ComposeResult:
        """The title, the text and the keys."""
        yield Static(Text(self._title, no_wrap=True, overflow="ellipsis"), classes="bar")
        yield Lines(self._lines, id="text")
        yield Static(Text("esc back   up down pgup pgdn home end", style="dim"), classes="last")

    async def action_dismiss(self, result: None = None) -> None:
        """Go back."""
        self.dismiss(result)
