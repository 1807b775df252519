"""Server-sent events, read as bytes. It knows frames; what a frame means is not its business."""

from dataclasses import dataclass

FRAME_MAX_BYTES = 64 * 1024 * 1024


class MalformedStream(ValueError):
    """The bytes are not a stream of events that we could hold."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One dispatched event: its kind (`message` unless it says otherwise), its data, its id if it carries one."""

    event: str
    data: bytes
    id: str | None


class SseParser:
    """Cuts a byte stream into frames, however the bytes are chopped.

    Lines end at the byte 0x0A and nowhere else: U+2028 and the like are text, and a lone carriage return cannot occur in
    compact JSON. A carriage return before the newline is dropped, for proxies that write one.
    """

    __slots__ = ("_data", "_event", "_held", "_id", "_limit", "_size", "_started", "retry_ms")

    def __init__(self, *, limit_bytes: int = FRAME_MAX_BYTES) -> None:
        """Begin a stream; a frame longer than `limit_bytes` is a MalformedStream."""
        self.retry_ms: int | None = None
        self._limit = limit_bytes
        # The unfinished line stays in pieces, so that a frame of many megabytes is joined once and not at every chunk.
        self._held: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self._event = ""
        self._id: str | None = None
        self._started = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes and return the frames that they complete."""
        self._size += len(chunk)
        lines = chunk.split(b"\n")
        if self._held and len(lines) > 1:
            lines[0] = b"".join([*self._held, lines[0]])
            self._held.clear()
        rest = lines.pop()
        if rest:
            self._held.append(rest)
        frames: list[Frame] = []
        for line in lines:
            # Nearly every line of a busy stream is data that ends in a brace.
            if line.startswith(b"data: ") and line.endswith(b"}"):
                self._data.append(line[6:])
            elif line and line != b"\r":
                self._read(line)
            else:
                self._size = len(rest)
                if (frame := self._dispatched()) is not None:
                    frames.append(frame)
        if self._size > self._limit:
            raise MalformedStream(f"a frame passes {self._limit} bytes")
        return frames

    def _read(self, line: bytes) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        field, _, value = line.removesuffix(b"\r").partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if field == b"id":
            self._id = value.decode("utf-8", "replace")
        elif field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._event = value.decode("utf-8", "replace")
        elif field == b"retry" and value.isdigit():
            self.retry_ms = int(value)
        # Anything else is a comment, or a field from the future.

    def _dispatched(self) -> Frame | None:
        data, event, identifier = self._data, self._event, self._id
        self._started = True
        self._event, self._id = "", None
        if not data:
            return None
        self._data = []
        return Frame(event or "message", data[0] if len(data) == 1 else b"\n".join(data), identifier)
