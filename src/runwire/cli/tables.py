"""Rows for people: columns that line up, and nothing in them that could disturb a terminal."""

from collections.abc import Sequence

from runwire.cli import printing
from runwire.cli.lines import plain

_GAP = "  "


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None = None) -> None:
    """Write rows under their titles, cut at `width`; without rows nothing is written."""
    if not rows:
        return
    shown = [list(titles), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in shown) for column in range(len(titles))]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        printing.write_text(_fitting(_GAP.join(cells).rstrip(), width))


def write_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Write what is known, one fact a line; facts without a value are left out."""
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        if value:
            printing.write_text(f"{name.ljust(width)}{_GAP}{plain(value)}")


def _fitting(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"


def dollars(micros_usd: int) -> str:
    """An amount of money: exact below a dollar, so that little is not shown as nothing, and else to the cent."""
    if micros_usd >= 1_000_000:
        return f"${micros_usd / 1_000_000:.2f}"
    digits = f"{micros_usd:06d}"
    return f"$0.{digits[:2]}{digits[2:].rstrip('0')}"
