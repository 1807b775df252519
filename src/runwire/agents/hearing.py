"""The way of one frame through a dialect whose frames are told apart by a tag: read, understood, and kept where it is not."""

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from runwire.agents.codec.reading import Unreadable, read
from runwire.agents.dialect import Dialect, Seen

_Dialect = TypeVar("_Dialect", bound=Dialect)
Heard = Mapping[type, Callable[..., Seen]]
"""What a dialect makes of each kind of message."""


def hear(dialect: _Dialect, decoder: "msgspec.json.Decoder[object]", heard: Heard, data: bytes, at_ns: int) -> Seen:
    """Hand a frame to the part of a dialect that knows its kind. What nothing understands, or came late, is kept as it came."""
    teller = dialect.teller
    teller.begin_frame(at_ns)
    message = read(decoder, data)
    if isinstance(message, Unreadable):
        teller.unparsed(data, message.why)
        return Seen(message.raw_type)
    seen = heard[type(message)](dialect, message)
    return Seen(seen.raw_type) if teller.keep(data) else seen
