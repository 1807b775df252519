"""Bytes of a stream into frames: lines, or server-sent events, whichever the stream turns out to be.

Lines end at the byte `\\n` and nowhere else: what other readers take for the end of a line is text in here.
"""

from collections.abc import Iterator

from msgspec import Struct

LINE_LIMIT_BYTES = 64 * 1024 * 1024
"""A line that is longer is handed on in parts, so that memory stays bounded."""

_SSE_FIELDS = (b"event:", b"data:", b"id:", b"retry:", b":")
_BOM = b"\xef\xbb\xbf"
_IDLE = frozenset({b"", b"id", b"retry"})


class Frame(Struct, frozen=True, gc=False):
    """One thing that an agent said."""

    data: bytes
    name: str = ""
    """The event's name, where the framing has names."""


class _Cut:
    """Cuts bytes into lines, whatever pieces they come in. Carriage returns before the end belong to the ending."""

    __slots__ = ("_parts", "held")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.held = 0
        """How many bytes there are of a line that has not ended."""

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that the next bytes complete."""
        *whole, rest = piece.split(b"\n")
        if b"\r" in piece:
            whole = [line.rstrip(b"\r") for line in whole]
        if whole and self._parts:
            self._parts.append(whole[0])
            whole[0] = self.rest()
        if rest:
            self._parts.append(rest)
            self.held += len(rest)
        return whole

    def rest(self) -> bytes:
        """What there is of a line that has not ended, which is forgotten here."""
        rest = b"".join(self._parts).rstrip(b"\r")
        self._parts.clear()
        self.held = 0
        return rest


class Lines:
    """Cuts a stream into lines, whatever pieces it comes in. Empty lines are no frames."""

    def __init__(self, *, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        """Hold at most so much of a line that has not ended."""
        self._limit = limit_bytes
        self._cut = _Cut()

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Take the next bytes and give the lines that they complete."""
        for line in self._cut.feed(piece):
            if line:
                yield Frame(line)
        if self._cut.held > self._limit:
            yield from self.end()

    def end(self) -> Iterator[Frame]:
        """The stream is over: what has come of a last line is one, cut or not."""
        return self.feed(b"\n")


class Events:
    """Cuts a stream of server-sent events into frames; comments and fields that say nothing are passed over."""

    def __init__(self, *, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        """Hold at most so much of an event that has not ended."""
        self._limit = limit_bytes
        self._cut = _Cut()
        self._name = ""
        self._data: list[bytes] = []
        self._held = 0

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Take the next bytes and give the events that they complete."""
        for line in self._cut.feed(piece):
            field, _, value = line.partition(b":")
            is_over = not line
            if field == b"data":
                self._data.append(value.removeprefix(b" "))
                self._held += len(value)
                is_over = self._held > self._limit
            elif field == b"event":
                self._name = value.removeprefix(b" ").decode("utf-8", "replace")
            elif field not in _IDLE:
                # Not of this framing at all: kept, for whoever reads it to say so.
                yield Frame(line)
            if is_over:
                if self._data:
                    yield Frame(b"\n".join(self._data), self._name)
                self._name, self._data, self._held = "", [], 0
        if self._cut.held > self._limit:
            yield from self.end()

    def end(self) -> Iterator[Frame]:
        """The stream is over: an event without its empty line is taken as it is."""
        return self.feed(b"\n\n")


class Framer:
    """Finds out how a stream is framed from its first bytes, then cuts it so."""

    def __init__(self, *, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        """Cut frames of at most so many bytes."""
        self._limit = limit_bytes
        self._first = b""
        self._cutter: Lines | Events | None = None

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Take the next bytes and give the frames that they complete."""
        if self._cutter is not None:
            return self._cutter.feed(piece)
        first = (self._first + piece).removeprefix(_BOM).lstrip(b"\r\n")
        if not first or self._is_open(first):
            self._first = first
            return iter(())
        return self._begin(first).feed(first)

    def end(self) -> Iterator[Frame]:
        """The stream is over."""
        if self._cutter is None:
            cutter = self._begin(self._first)
            yield from cutter.feed(self._first)
        if self._cutter is not None:
            yield from self._cutter.end()

    def _is_open(self, first: bytes) -> bool:
        """Whether the first bytes could still become either."""
        return _BOM.startswith(first) or any(field.startswith(first) and first != field for field in _SSE_FIELDS)

    def _begin(self, first: bytes) -> Lines | Events:
        kind = Events if first.startswith(_SSE_FIELDS) else Lines
        self._first = b""
        self._cutter = kind(limit_bytes=self._limit)
        return self._cutter
