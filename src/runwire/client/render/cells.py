"""How wide text is on a terminal, and how it is cut and wrapped to fit."""

from unicodedata import category, east_asian_width

_WIDE = frozenset("WF")
# Marks that stand on the character before them.
_MARKS = frozenset({"Mn", "Me"})
# How many characters there may be to a column: some take none.
_AHEAD = 4
_JOINED = frozenset("\ufe0e\ufe0f\u20e3")


def cells(text: str) -> int:
    """How many columns the text takes; it has no controls in it."""
    return len(text) if text.isascii() else sum(map(_width, text))


def clip(text: str, width: int) -> str:
    """The text, or its beginning with an ellipsis where it is wider than `width`."""
    if cells(text) <= width:
        return text
    if width < 2:
        return "…" * max(width, 0)
    return f"{_fitting(text, width - 1)}…"


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, broken at spaces where there are any; its own line ends are kept."""
    width = max(width, 2)
    return [piece for line in text.split("\n") for piece in _wrapped(line, width)]


def fold(text: str, width: int) -> list[str]:
    """One line of output in pieces of at most `width`, broken wherever the width ends."""
    # One character at least fits, however wide, so that cutting comes to an end.
    width = max(width, 2)
    if text.isascii():
        return [text[start : start + width] for start in range(0, len(text), width)] or [""]
    pieces, start, taken = [], 0, 0
    for place, character in enumerate(text):
        wide = _width(character)
        if taken + wide > width:
            pieces.append(text[start:place])
            start, taken = place, 0
        taken += wide
    return [*pieces, text[start:]]


def _wrapped(line: str, width: int) -> list[str]:
    lines: list[str] = []
    line = line.rstrip()
    indent = line[: len(line) - len(line.lstrip())]
    if cells(indent) >= width // 2:
        indent = ""
    at, lead = 0, ""
    while True:
        # A line may be very long, so only what may fit is looked at.
        window = lead + line[at : at + _AHEAD * width]
        piece = _fitting(window, width)
        if len(piece) == len(window) and at + _AHEAD * width >= len(line):
            return [*lines, window]
        # The break belongs at the last space that fits; a word longer than the line is broken where the line ends.
        cut = len(piece) if window[len(piece) : len(piece) + 1] == " " else piece.rfind(" ")
        if cut <= len(indent):
            cut = len(piece)
        lines.append(window[:cut].rstrip())
        at += cut - len(lead)
        while at < len(line) and line[at].isspace():
            at += 1
        lead = indent


def _fitting(text: str, width: int) -> str:
    if text.isascii():
        return text[:width]
    taken = 0
    for place, character in enumerate(text):
        taken += _width(character)
        if taken > width:
            return text[:place]
    return text


def _width(character: str) -> int:
    if character < "\u0300":
        return 1
    if category(character) in _MARKS or character in _JOINED:
        return 0
    return 2 if east_asian_width(character) in _WIDE else 1
