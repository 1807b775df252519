"""One event on one line, for people. What an agent wrote cannot take over the terminal that shows it."""

from runwire.client.render import harmless
from runwire.protocol.envelope import data_of, occurred_at_of, run_id_of, sequence_of, type_of

_DATA_WIDTH = 160


def event_line(envelope: bytes, *, with_run: bool) -> str:
    """The run if asked for, the sequence, the time to the millisecond, the type and the beginning of the data."""
    run = f"{run_id_of(envelope)} " if with_run else ""
    head = f"{run}{sequence_of(envelope):>6}  {occurred_at_of(envelope)[:23]}Z  {type_of(envelope):<28} "
    return plain(head) + plain(_beginning(data_of(envelope)))


def plain(text: str) -> str:
    """The text with every character that could change how others are shown written as its number."""
    return harmless.plain(text)


def _beginning(data: bytes) -> str:
    # Cutting bytes first keeps a frame of megabytes cheap; a character cut in two is dropped.
    text = data[: _DATA_WIDTH * 4].decode("utf-8", "ignore")
    return text if len(data) <= _DATA_WIDTH * 4 and len(text) <= _DATA_WIDTH else f"{text[: _DATA_WIDTH - 1]}…"
