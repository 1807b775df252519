"""Small windows: one that asks before something is done, and one to choose among several."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from runwire.client.render.harmless import one_line, plain
from runwire.tui.pager import Lines
from runwire.tui.rows import Piece, Rows, fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is about to be done, and what may be said with it."""

    title: str
    deed: str
    """What Enter does, as a verb."""
    about: Sequence[Piece] = ()
    """What there is to know before, as safe lines."""
    prompt: str | None = None
    """What may be typed; None when there is nothing to say."""
    needed: bool = False
    """Whether something must be typed."""
    options: Sequence[str] = ()
    """Ways of doing it; the first unless another is chosen."""


@dataclass(frozen=True, slots=True)
class Reply:
    """It is to be done, with these words and in this way."""

    text: str = ""
    option: str = ""


class Ask(ModalScreen[Reply | None]):
    """Enter does it, Escape does not."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave", priority=True),
        Binding("enter", "do", "Do it", priority=True),
        Binding("ctrl+o", "option", "Other way", priority=True),
        Binding("pageup", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(1)", show=False, priority=True),
    ]

    def __init__(self, question: Question) -> None:
        """Ask this."""
        super().__init__()
        self._question = question
        self._option = 0

    def compose(self) -> ComposeResult:
        """What it is about, room for words, and the keys."""
        question = self._question
        with Vertical(classes="dialog"):
            yield Static(Text(plain(question.title), style="bold"), classes="dialog-title")
            if question.about:
                yield Lines(question.about, id="about")
            if question.prompt is not None:
                yield Input(placeholder=question.prompt, id="words", compact=True)
            yield Static(self._keys(), id="keys", classes="dialog-keys")

    def on_mount(self) -> None:
        """Be as high as what there is to know, as far as the screen allows."""
        for lines in self.query(Lines):
            lines.styles.height = min(len(self._question.about) + 2, max(3, self.app.size.height - 10))
            if self._question.prompt is None:
                lines.focus()
        for words in self.query(Input):
            words.focus()

    def action_do(self) -> None:
        """Do it."""
        words = self.query(Input)
        text = words.first().value.strip() if words else ""
        if self._question.needed and not text:
            self.app.bell()
            return
        options = self._question.options
        self.dismiss(Reply(text, options[self._option] if options else ""))

    def action_leave(self) -> None:
        """Do not do it."""
        self.dismiss(None)

    def action_option(self) -> None:
        """Choose the next way of doing it."""
        if self._question.options:
            self._option = (self._option + 1) % len(self._question.options)
            self.query_one("#keys", Static).update(self._keys())

    def action_scroll(self, by: int) -> None:
        """Read on."""
        for lines in self.query(Lines):
            lines.action_page(by)

    def _keys(self) -> Text:
        question = self._question
        keys = f"enter: {question.deed}   esc: leave it"
        if question.options:
            keys += f"   ctrl+o: {question.options[self._option]}"
        return Text(keys, style="dim")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several: its id, and what it is in a line."""

    key: str
    text: str


class _Choices(Rows):
    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__(id="choices")
        self._choices = choices

    def pieces(self, row: int, width: int) -> Sequence[Piece]:
        return [(fitted(one_line(self._choices[row].text), width), "")]

    def on_mount(self) -> None:
        self.resize(len(self._choices))


class Choose(ModalScreen[str | None]):
    """A list to choose from."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", priority=True)]

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        """Offer these."""
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        """The list and the keys."""
        with Vertical(classes="dialog"):
            yield Static(Text(plain(self._title), style="bold"), classes="dialog-title")
            yield _Choices(self._choices)
            yield Static(Text("enter: this one   esc: leave it", style="dim"), classes="dialog-keys")

    def on_mount(self) -> None:
        """Be as high as the list, as far as the screen allows."""
        listed = self.query_one(_Choices)
        listed.styles.height = min(len(self._choices), max(3, self.app.size.height - 10))
        listed.focus()

    def on_rows_chosen(self) -> None:
        """Take the one at the cursor."""
        self.dismiss(self._choices[self.query_one(_Choices).cursor].key)

    def action_leave(self) -> None:
        """Take none."""
        self.dismiss(None)
