"""Markdown on a terminal. Nothing that was written is left out, and nothing in it reaches the terminal as a command."""

from collections.abc import Iterable
from typing import ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax
from rich.table import Table

from runwire.client.render.harmless import plain, plain_text

# Without HTML, references and entities: the first two would be swallowed, the last could write what was just made safe.
_PARSER = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["strikethrough", "table"])
    .disable(["html_block", "html_inline", "reference", "entity"])
)
_THEME = "ansi_dark"


class _Heading(Heading):
    """A heading that stands where text stands."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _CodeBlock(CodeBlock):
    """Code without a box around it, so that it can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it a little to the right."""
        code = str(self.text).rstrip()
        yield Padding(
            Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, background_color="default"), (0, 0, 0, 2)
        )


class _Table(TableElement):
    """A table without an empty line above and below it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it as rich does, but for its edges."""
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                table.show_edge = False
            yield table


class _Drawn(Markdown):
    """Markdown in our dialect."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "table_open": _Table,
    }


def rows_of(text: str, console: Console, width: int) -> list[list[Segment]]:
    """The text as it is drawn on a terminal of that width."""
    drawn = _Drawn("", code_theme=_THEME, hyperlinks=False)
    drawn.parsed = _PARSER.parse(plain_text(text))
    lines = console.render_lines(drawn, console.options.update(width=width, height=None), pad=False)
    rows = [_trimmed(list(_safe(line))) for line in lines]
    while rows and not _text(rows[-1]).strip():
        rows.pop()
    while rows and not _text(rows[0]).strip():
        rows.pop(0)
    return rows


def settled(text: str) -> int:
    """How much of a text that still grows is drawn the same whatever follows: all but its last paragraph, list or block."""
    whole = text.rfind("\n") + 1
    blocks = [
        token.map[0] for token in _PARSER.parse(text[:whole]) if token.level == 0 and token.map and token.nesting >= 0
    ]
    if len(blocks) < 2:
        return 0
    at = 0
    for _ in range(blocks[-1]):
        at = text.index("\n", at) + 1
    return at


def _safe(line: Iterable[Segment]) -> Iterable[Segment]:
    for segment in line:
        yield Segment(plain(segment.text.rstrip("\n")), segment.style)


def _trimmed(row: list[Segment]) -> list[Segment]:
    """The row without the spaces that rich fills it with: a terminal that becomes narrower would break them into rows."""
    while row and not row[-1].text.strip():
        row.pop()
    if row:
        row[-1] = Segment(row[-1].text.rstrip(), row[-1].style)
    return row


def _text(row: Iterable[Segment]) -> str:
    return "".join(segment.text for segment in row)
