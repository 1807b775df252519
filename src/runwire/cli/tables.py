"""Rows for people: columns that line up and fit the width, and nothing in them that could disturb a terminal."""

from collections.abc import Sequence

from runwire.cli import printing
from runwire.cli.lines import plain
from runwire.cli.look import PLAIN, Id, Look, Moment, State, shortened, style_of
from runwire.client.render.cells import cells, clip

_GAP = "  "
# Narrower than this, a text says nothing.
_NARROWEST = 8


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, look: Look = PLAIN) -> None:
    """Write rows under their titles; without rows nothing is written.

    To somebody at a terminal ids are short, times are relative and long texts are cut so that a row fits its line.
    """
    if not rows:
        return
    columns = [_shown([row[column] for row in rows], look) for column in range(len(titles))]
    widths = [max(map(cells, (title, *texts))) for title, texts in zip(titles, columns, strict=True)]
    if look.width is not None:
        fixed = [any(isinstance(row[column], Id | Moment | State) for row in rows) for column in range(len(titles))]
        widths = _narrowed(widths, fixed, look.width)
    # A painted text is longer than it looks, so each is padded before it is painted.
    heading = _joined(titles, widths, look)
    printing.write_text(look.painted(heading, "title"))
    for number, row in enumerate(rows):
        texts = [column[number] for column in columns]
        line = _joined(texts, widths, look)
        printing.write_text(_painted(line, texts, row, look))


def write_facts(facts: Sequence[tuple[str, str]], *, look: Look = PLAIN) -> None:
    """Write what is known, one fact a line; facts without a value are left out."""
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        if value:
            shown = plain(value)
            if isinstance(value, Moment) and look.terminal:
                shown = f"{value[:19]}Z, {look.when(value)}"
            head = look.painted(name.ljust(width), "quiet")
            printing.write_text(f"{head}{_GAP}{look.painted(shown, style_of(value))}")


def _shown(column: Sequence[str], look: Look) -> list[str]:
    if look.terminal and any(isinstance(cell, Id) for cell in column):
        column = shortened(column)
    return [plain(look.shown(cell)) for cell in column]


def _narrowed(widths: list[int], fixed: Sequence[bool], width: int) -> list[int]:
    """Take from the widest text, as long as there is one to take from, until the row fits."""
    narrowed = list(widths)
    spare = width - len(_GAP) * (len(widths) - 1)
    while sum(narrowed) > spare:
        loose = [at for at, wide in enumerate(narrowed) if not fixed[at] and wide > _NARROWEST]
        if not loose:
            break
        widest = max(loose, key=lambda at: narrowed[at])
        narrowed[widest] -= 1
    return narrowed


def _joined(texts: Sequence[str], widths: Sequence[int], look: Look) -> str:
    fitted = [clip(text, width) for text, width in zip(texts, widths, strict=True)]
    padded = [text + " " * (width - cells(text)) for text, width in zip(fitted, widths, strict=True)]
    return look.fitting(_GAP.join(padded).rstrip())


def _painted(line: str, texts: Sequence[str], row: Sequence[str], look: Look) -> str:
    """The line with its states in their colours."""
    if not look.coloured:
        return line
    for text, cell in zip(texts, row, strict=True):
        if style := style_of(cell):
            head, found, rest = line.partition(f"{_GAP}{text}{_GAP}")
            if found:
                line = f"{head}{_GAP}{look.painted(text, style)}{_GAP}{rest}"
    return line
