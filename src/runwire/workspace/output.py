"""What a command prints, as text: bytes come in as they come, whole characters go out. Pure."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Stream = Literal["stdout", "stderr"]

PIECE_LIMIT_BYTES = 32 * 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """Some output: from which stream, the text, and where its first byte stands in that stream."""

    stream: Stream
    text: str
    byte_offset: int


class Splitter:
    """Cuts one stream into pieces, never inside a character. What is no UTF-8 becomes U+FFFD."""

    def __init__(self, stream: Stream) -> None:
        """Begin at the first byte of a stream."""
        self._stream: Stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._taken = 0

    def feed(self, data: bytes) -> Iterator[Piece]:
        """The pieces that these bytes complete; a character that is not whole yet waits for the next."""
        for start in range(0, len(data), PIECE_LIMIT_BYTES):
            yield from self._decoded(data[start : start + PIECE_LIMIT_BYTES], is_last=False)

    def end(self) -> Iterator[Piece]:
        """What was left of a character that never became whole."""
        yield from self._decoded(b"", is_last=True)

    def _decoded(self, data: bytes, *, is_last: bool) -> Iterator[Piece]:
        waiting, _ = self._decoder.getstate()
        offset = self._taken - len(waiting)
        self._taken += len(data)
        text = self._decoder.decode(data, is_last)
        if text:
            yield Piece(self._stream, text, offset)
