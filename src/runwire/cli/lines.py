"""One event on one line, for people. What an agent wrote cannot take over the terminal that shows it."""

import re

from runwire.protocol.envelope import data_of, occurred_at_of, run_id_of, sequence_of, type_of

_DATA_WIDTH = 160
# Everything that moves a cursor, changes a terminal or turns text around: controls, line and paragraph separators,
# direction marks and overrides, invisible joiners and tags.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def event_line(envelope: bytes, *, with_run: bool) -> str:
    """The run if asked for, the sequence, the time to the millisecond, the type and the beginning of the data."""
    run = f"{run_id_of(envelope)} " if with_run else ""
    head = f"{run}{sequence_of(envelope):>6}  {occurred_at_of(envelope)[:23]}Z  {type_of(envelope):<28} "
    return plain(head) + plain(_beginning(data_of(envelope)))


def plain(text: str) -> str:
    """The text with every character that could change how others are shown written as its number."""
    # Python's idea of printable is narrower than ours, and asking it is ten times as fast.
    return text if text.isprintable() else _UNSAFE.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def _beginning(data: bytes) -> str:
    # Cutting bytes first keeps a frame of megabytes cheap; a character cut in two is dropped.
    text = data[: _DATA_WIDTH * 4].decode("utf-8", "ignore")
    return text if len(data) <= _DATA_WIDTH * 4 and len(text) <= _DATA_WIDTH else f"{text[: _DATA_WIDTH - 1]}…"
