"""What an agent wrote, made safe to show: it cannot move a cursor, change a terminal or turn text around."""

import re

# Everything that moves a cursor, changes a terminal or turns text around: controls, line and paragraph separators,
# direction marks and overrides, invisible joiners and tags.
_INVISIBLE = "\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_UNSAFE = re.compile(f"[\x00-\x1f\x7f-\x9f{_INVISIBLE}]")
_UNSAFE_IN_TEXT = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_INVISIBLE}]")
# Whole commands to a terminal: CSI, OSC and other strings, and two-character ones. An unfinished one stays, as text.
_COMMANDS = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]*[0-OQ-WYZ\\\\`-~]"
)
_TAB = 8


def plain(text: str) -> str:
    """The text with every character that could change how others are shown written as its number."""
    # Python's idea of printable is narrower than ours, and asking it is ten times as fast.
    return text if text.isprintable() else _UNSAFE.sub(_number, text)


def plain_text(text: str) -> str:
    """As `plain`, for text that has line ends and tabs of its own."""
    return text if text.isprintable() else _UNSAFE_IN_TEXT.sub(_number, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 400) -> str:
    """The beginning of a text on one safe line, with runs of space made one."""
    short = " ".join(text[: 4 * limit].split())
    return plain(short if len(short) <= limit else f"{short[: limit - 1]}…")


def printed(text: str) -> list[str]:
    """The safe lines that a program has printed: colours left out, and of a line written over itself the last state."""
    lines = _COMMANDS.sub("", text).replace("\r\n", "\n").split("\n")
    return [plain(_overwritten(line).expandtabs(_TAB)) for line in lines]


def _overwritten(line: str) -> str:
    return line if "\r" not in line else next((part for part in reversed(line.split("\r")) if part), "")


def _number(found: re.Match[str]) -> str:
    return f"\\u{{{ord(found[0]):x}}}"
