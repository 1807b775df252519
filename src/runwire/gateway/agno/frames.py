"""Frames of Agno's streams: a name, a number and one line of JSON. Pure."""

from dataclasses import dataclass

import msgspec

Fields = dict[str, object]

KEEP_ALIVE = b": keepalive\n\n"

# Valid JSON may hold these raw, and readers that split text into lines would cut a frame in two there.
_LINE_ENDS = ((b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029"), (b"\xc2\x85", rb"\u0085"))
_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Frame:
    """One event in Agno's words."""

    index: int
    """Its place among all that is told of the run: 0, 1, 2 and so on."""
    data: Fields
    aside: bool = False
    """Whether it only tells afterwards that the run had paused and went on."""

    @property
    def event(self) -> str:
        """Its name."""
        return str(self.data["event"])


def encode_frame(frame: Frame, *, numbered: bool = False) -> bytes:
    """The frame as it is sent; `numbered` puts its place into the JSON as well, as Agno does where it can be resumed."""
    data = frame.data | {"event_index": frame.index} if numbered else frame.data
    return b"event: %b\ndata: %b\nid: %d\n\n" % (frame.event.encode(), one_line(data), frame.index)


def one_line(value: object) -> bytes:
    """Compact JSON that is one line for every reader, whatever it takes for the end of one."""
    text = _ENCODER.encode(value)
    for raw, escaped in _LINE_ENDS:
        text = text.replace(raw, escaped)
    return text
