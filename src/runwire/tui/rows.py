"""A list of rows of which only those on the screen are ever drawn. What the rows are is its subclasses' business."""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

Piece = tuple[str, str]
"""A text that is safe to show, and the name of its style."""

# Colours that every terminal has, by their names, so that its owner's own choice of them counts.
_STYLES = {
    "": Style.null(),
    "bold": Style(bold=True),
    "dim": Style(dim=True),
    "good": Style(color="green"),
    "bad": Style(color="red"),
    "warn": Style(color="yellow"),
    "tool": Style(color="cyan"),
    "person": Style(color="magenta"),
    # What `client.render.text` calls them.
    "thinking": Style(dim=True, italic=True),
    "user": Style(color="magenta"),
    "title": Style(bold=True),
    "running": Style(color="cyan"),
    "ok": Style(color="green"),
    "info": Style(color="cyan"),
    "added": Style(color="green"),
    "removed": Style(color="red"),
    "hunk": Style(color="cyan"),
    "output": Style(dim=True),
    "question": Style(color="yellow", bold=True),
    "done": Style(color="green"),
    "doing": Style(color="cyan"),
    "due": Style(dim=True),
    "opaque": Style(dim=True),
}
_SELECTED = Style(reverse=True)
_FAINT = Style(dim=True)
_WHEEL = 3


def style_of(name: str) -> Style:
    """The style of a name; one that is not known changes nothing."""
    return _STYLES.get(name, _STYLES[""])


def fitted(text: str, width: int) -> str:
    """The text in exactly so many cells: filled up, or cut with a sign that it was."""
    if width <= 0:
        return ""
    if text.isascii():
        return text.ljust(width) if len(text) <= width else f"{text[: width - 1]}…"
    # More characters than cells are of no use, and measuring them takes time.
    text = text[: 4 * width]
    return set_cell_size(text, width) if cell_len(text) <= width else f"{set_cell_size(text, width - 1)}…"


def folded(text: str, width: int) -> Sequence[str]:
    """The text in lines of at most so many cells."""
    if len(text) <= width and text.isascii():
        return [text]
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)]
    return chop_cells(text, width) or [""]


class Rows(ScrollView, can_focus=True):
    """Rows under a cursor. `end` keeps the cursor at the last one while the list grows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "first", "First", show=False),
        Binding("end,G", "last", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]
    DEFAULT_CSS = """
    Rows { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; height: 1fr; }
    """

    marked = True
    """Whether the row at the cursor is marked."""

    class Moved(Message):
        """The cursor stands elsewhere."""

    class Chosen(Message):
        """Somebody wants to see more of the row at the cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        """No rows yet."""
        super().__init__(id=id)
        self.count = 0
        self.cursor = 0
        self.following = False
        """Whether the cursor stays at the end as rows come."""

    def pieces(self, row: int, width: int) -> Sequence[Piece]:
        """What to show of a row; called for rows on the screen only."""
        raise NotImplementedError

    def faint(self, row: int) -> bool:  # noqa: ARG002 - what a subclass decides by
        """Whether a row stands back."""
        return False

    def resize(self, count: int) -> None:
        """There are so many rows now."""
        self.count = count
        self.virtual_size = Size(self.size.width, count)
        self.place(count - 1 if self.following else self.cursor)
        self.refresh()

    def place(self, row: int) -> None:
        """Put the cursor at a row, or at the nearest there is, and see that it is on the screen."""
        row = max(0, min(row, self.count - 1))
        moved, self.cursor = row != self.cursor, row
        height, top = max(1, self.size.height), round(self.scroll_offset.y)
        if row < top:
            self.scroll_to(y=row, animate=False, force=True)
        elif row >= top + height:
            self.scroll_to(y=row - height + 1, animate=False, force=True)
        if moved:
            self.refresh()
            self.post_message(self.Moved())

    @property
    def seen(self) -> range:
        """The rows on the screen."""
        top = round(self.scroll_offset.y)
        return range(top, min(self.count, top + self.size.height))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        row, width = round(self.scroll_offset.y) + y, self.scrollable_content_region.width
        if row >= self.count:
            return Strip.blank(width, self.rich_style)
        strip = strip_of(self.pieces(row, width), width, self.rich_style)
        if self.marked and row == self.cursor:
            strip = strip.apply_style(_SELECTED)
        elif self.faint(row):
            strip = strip.apply_style(_FAINT)
        return strip

    def action_move(self, by: int) -> None:
        """Go some rows up or down."""
        self.go(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Go a screen up or down."""
        self.go(self.cursor + by * max(1, self.size.height - 1))

    def action_first(self) -> None:
        """Go to the first row."""
        self.go(0)

    def action_last(self) -> None:
        """Go to the last row and stay there."""
        self.go(self.count - 1)

    def go(self, row: int) -> None:
        """Move as somebody asked: who goes to the end follows, who leaves it does not."""
        self.following = row >= self.count - 1
        self.place(row)

    def action_choose(self) -> None:
        """Ask for more of this row."""
        if self.count:
            self.post_message(self.Chosen())

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor; a second one at the same place asks for more."""
        row = round(self.scroll_offset.y) + event.y
        if row < self.count:
            self.go(row)
            if event.chain > 1:
                self.action_choose()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor, so that what is followed is let go."""
        event.stop().prevent_default()
        self.action_move(-_WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor."""
        event.stop().prevent_default()
        self.action_move(_WHEEL)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Who pulls the scrollbar takes the cursor along."""
        super().watch_scroll_y(old_value, new_value)
        if self.is_vertical_scrollbar_grabbed and self.seen:
            self.go(max(self.seen.start, min(self.cursor, self.seen.stop - 1)))

    def on_resize(self) -> None:
        """The screen has another size."""
        self.virtual_size = Size(self.size.width, self.count)
        self.place(self.cursor)


class Reading(Rows):
    """Rows that are read and not chosen from: the cursor is the first line on the screen."""

    marked = False

    @property
    def fold_width(self) -> int:
        """How wide a line may be; the place of the scrollbar stays free, so that it can come and go."""
        return self.size.width - 1

    def place(self, row: int) -> None:
        """Let the screen begin with a row, as far as there are enough behind it."""
        self.cursor = max(0, min(row, self.count - max(1, self.size.height)))
        self.scroll_to(y=self.cursor, animate=False, force=True)

    def go(self, row: int) -> None:
        """Move as somebody asked: who goes to the end follows, who leaves it does not."""
        self.following = row >= self.count - max(1, self.size.height)
        self.place(row)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """A wheel turns the page, too."""
        super().watch_scroll_y(old_value, new_value)
        self.cursor = round(new_value)


def strip_of(pieces: Sequence[Piece], width: int, base: Style) -> Strip:
    """One line of exactly `width` cells."""
    segments = [Segment(text, base + style_of(style)) for text, style in pieces]
    return Strip(segments).adjust_cell_length(width, base)
