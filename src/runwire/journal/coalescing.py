"""Coalescing: stream text waits a moment for more of its kind, and its last characters for proof that they are no secret."""

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from runwire.journal.redaction.stream import StreamRedactor
from runwire.protocol.events.shell import ShellOutputChunk
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import Delta, StreamKey, ends_block, stream_key, text_of, with_text


@dataclass(slots=True)
class _Stream:
    """One open stream: a piece of it to copy the other fields from, and where its unreleased text begins."""

    redactor: StreamRedactor
    model: Delta
    offset: int

    def feed(self, delta: Delta) -> str:
        """The text that is free to go."""
        text = text_of(delta)
        released = self.redactor.feed(text)
        if isinstance(delta, ShellOutputChunk):
            held = len(self.redactor.held.encode("utf-8", "surrogatepass"))
            self.offset = delta.byte_offset + len(text.encode("utf-8", "surrogatepass")) - held
        return released

    def piece(self, text: str, offset: int) -> Delta:
        """A piece of this stream that begins at `offset`, as far as its kind counts bytes."""
        skipped = offset - self.model.byte_offset if isinstance(self.model, ShellOutputChunk) else 0
        return with_text(self.model, text, skipped_bytes=skipped)


@dataclass(slots=True)
class _Waiting:
    """Released text of one stream that has not been stored yet."""

    key: StreamKey
    stream: _Stream
    offset: int
    pieces: list[str]
    replaced: int
    size: int = 0


class Lane:
    """The open streams of one run. It never reorders: text of another stream, or any other event, pushes out what waits."""

    def __init__(self, *, new_redactor: Callable[[], StreamRedactor]) -> None:
        """No stream is open."""
        self._new_redactor = new_redactor
        self._streams: dict[StreamKey, _Stream] = {}
        self._waiting: _Waiting | None = None

    @property
    def size(self) -> int:
        """How many characters wait."""
        return 0 if self._waiting is None else self._waiting.size

    @property
    def empty(self) -> bool:
        """Whether nothing is open and nothing waits."""
        return not self._streams and self._waiting is None

    def push(self, delta: Delta) -> Delta | None:
        """Take in one piece; return what must be stored first because this piece is of another stream."""
        key = stream_key(delta)
        waiting = self._waiting
        pushed_out = self.take() if waiting is not None and waiting.key != key else None
        stream = self._streams.get(key)
        if stream is None:
            offset = delta.byte_offset if isinstance(delta, ShellOutputChunk) else 0
            stream = self._streams[key] = _Stream(self._new_redactor(), delta, offset)
        offset, replaced = stream.offset, stream.redactor.replaced
        released = stream.feed(delta)
        if released:
            if self._waiting is None:
                self._waiting = _Waiting(key, stream, offset, [], replaced)
            self._waiting.pieces.append(released)
            self._waiting.size += len(released)
        return pushed_out

    def take(self) -> Delta | None:
        """What waits to be stored, as one piece."""
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return None
        piece = waiting.stream.piece("".join(waiting.pieces), waiting.offset)
        return _marked(piece) if waiting.stream.redactor.replaced > waiting.replaced else piece

    def close(self, payload: Payload | Opaque) -> list[Delta]:
        """All that must be stored before `payload`: what waits, and the held-back ends of the streams that it ends."""
        return self._close(ends_block(payload, self._streams) if self._streams else [])

    def close_all(self) -> list[Delta]:
        """End every stream: what waits and what was held back."""
        return self._close(list(self._streams))

    def _close(self, keys: list[StreamKey]) -> list[Delta]:
        out: list[Delta] = []
        for key in keys:
            stream = self._streams.pop(key)
            if self._waiting is None or self._waiting.key != key:
                out += self._taken()
                self._waiting = _Waiting(key, stream, stream.offset, [], stream.redactor.replaced)
            self._waiting.pieces.append(stream.redactor.close())
        return out + self._taken()

    def _taken(self) -> list[Delta]:
        piece = self.take()
        return [] if piece is None or not text_of(piece) else [piece]


def _marked(piece: Delta) -> Delta:
    """Say where the placeholder stands."""
    return replace(piece, redacted_paths=["/data" if isinstance(piece, ShellOutputChunk) else "/delta"])
