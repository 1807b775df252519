"""The first screen: every run at a glance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from runwire.tui.keys import DECIDE, SETTLE, STEER, Keyed, KeyLine
from runwire.tui.rows import Piece, Rows

if TYPE_CHECKING:
    from runwire.tui.app import Top

_TICK_S = 1.0


class PaneRows(Rows):
    """One row for each run. The cursor stays with its run, wherever that goes."""

    def __init__(self, top: "Top") -> None:
        super().__init__(id="panes")
        self._top = top
        self._run_id = ""

    @property
    def run_id(self) -> str | None:
        """The run at the cursor."""
        shown = self._top.board.shown
        return shown[self.cursor] if self.cursor < len(shown) else None

    def pieces(self, row: int, width: int) -> Sequence[Piece]:
        """A pane."""
        board = self._top.board
        return board.pieces(board.shown[row], width, self._top.clock.now_ns())

    def update_rows(self) -> None:
        """Show the board as it is now."""
        board = self._top.board
        board.sort()
        self.count = len(board.shown)
        # Who stands on the first row wants to see what comes first; who has gone to a run stays with it.
        if self.cursor and self._run_id in board.panes and self._run_id in board.shown:
            self.place(board.shown.index(self._run_id))
        self.resize(len(board.shown))

    def place(self, row: int) -> None:
        """Remember whose row it is."""
        super().place(row)
        self._run_id = self.run_id or ""


class Panes(Keyed):
    """All runs, those that need somebody first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open"),
        Binding("q", "app.quit", "Quit"),
        Binding("escape", "clear", "Clear filter", show=False),
    ]

    def __init__(self, top: "Top") -> None:
        super().__init__()
        self._top = top
        self._rows = PaneRows(top)

    def compose(self) -> ComposeResult:
        """How it stands, the list, the filter and the keys."""
        yield Static(id="status", classes="bar")
        yield Static(id="heading")
        yield self._rows
        yield Input(placeholder="words that a run must have", id="filter", compact=True)
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Begin with the list; ages are brought up to date every second."""
        self._rows.focus()
        self.query_one("#filter").display = False
        self.set_interval(_TICK_S, self._rows.refresh)
        self.show_board()

    def show_board(self) -> None:
        """The board has changed."""
        board, link = self._top.board, self._top.link
        self._rows.update_rows()
        status = Text(no_wrap=True, overflow="ellipsis")
        status.append("runwire top  ", style="bold")
        if link.trouble:
            status.append(link.trouble, style="bold yellow")
        else:
            status.append(board.counts())
            if board.sought:
                status.append(f"  filter: {board.sought} ({len(board.shown)})", style="yellow")
        self.query_one("#status", Static).update(status)
        self.query_one("#heading", Static).update(Text(board.heading(self.size.width), style="dim", no_wrap=True))
        self._offer()
        self.call_after_refresh(self._top.want_titles, [board.shown[row] for row in self._rows.seen])

    def on_resize(self) -> None:
        """Columns have other widths now."""
        self.show_board()

    def _offer(self) -> None:
        pane = self._top.board.panes.get(self._rows.run_id or "")
        asks = pane is not None and pane.state == "blocked"
        first = [*DECIDE, ("enter", "Open")] if asks else [("enter", "Open")]
        more = () if asks else DECIDE
        keys = [*first, ("f", "Diff"), *STEER, ("/", "Filter"), ("q", "Quit"), *SETTLE, *more]
        self.query_one(KeyLine).offer(keys, self.size.width)

    @on(Rows.Moved)
    def _moved(self) -> None:
        self._offer()
        board = self._top.board
        self._top.want_titles([board.shown[row] for row in self._rows.seen])

    @on(Rows.Chosen)
    def action_open(self) -> None:
        """Open the run at the cursor."""
        if self._rows.run_id is not None:
            self._top.open_run(self._rows.run_id)

    def action_deed(self, name: str) -> None:
        """Do something to the run at the cursor."""
        if self._rows.run_id is not None:
            self._top.do(name, self._rows.run_id)

    def action_filter(self) -> None:
        """Type a filter."""
        field = self.query_one("#filter", Input)
        field.display = True
        field.value = self._top.board.sought
        field.focus()

    @on(Input.Submitted, "#filter")
    def _filtered(self, event: Input.Submitted) -> None:
        self._seek(event.value)

    def action_clear(self) -> None:
        """Show everything again."""
        self._seek("")

    def _seek(self, text: str) -> None:
        self.query_one("#filter").display = False
        self._rows.focus()
        self._top.board.seek(text.strip())
        self._rows.place(0)
        self.show_board()
