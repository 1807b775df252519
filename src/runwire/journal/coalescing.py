"""Coalescing: stream text waits a moment for more of its kind, and its last characters for proof that they are no secret."""

from collections.abc import Callable

from msgspec.structs import replace

from runwire.journal.redaction.stream import StreamRedactor
from runwire.protocol.events.shell import ShellOutputChunk
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import Delta, StreamKey, ends_block, stream_key, text_of, with_text


class _Stream:
    """One open stream: a piece of it to copy the other fields from, what has arrived, and where unreleased text begins."""

    __slots__ = ("_end", "_model", "_offset", "_pieces", "_redactor")

    def __init__(self, redactor: StreamRedactor, first: Delta) -> None:
        self._redactor = redactor
        self._model = first
        self._pieces: list[str] = []
        self._offset = self._end = first.byte_offset if isinstance(first, ShellOutputChunk) else 0

    def take_in(self, delta: Delta) -> int:
        """Keep a piece until it is asked for; say how many characters it has."""
        text = text_of(delta)
        self._pieces.append(text)
        if isinstance(delta, ShellOutputChunk):
            self._end = delta.byte_offset + _bytes_in(text)
        return len(text)

    def release(self, *, final: bool) -> Delta | None:
        """What is free to go of all that has arrived, as one piece; at the end of the stream, all of it."""
        redactor, offset = self._redactor, self._offset
        replaced = redactor.replaced
        # One look at many pieces costs little more than a look at one, and finds the same however they were cut.
        text = redactor.feed("".join(self._pieces))
        self._pieces.clear()
        if final:
            text += redactor.close()
        if isinstance(self._model, ShellOutputChunk):
            self._offset = self._end - _bytes_in(redactor.held)
        if not text:
            return None
        skipped = offset - self._model.byte_offset if isinstance(self._model, ShellOutputChunk) else 0
        piece = with_text(self._model, text, skipped_bytes=skipped)
        return _marked(piece) if redactor.replaced > replaced else piece


def _bytes_in(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class Lane:
    """The open streams of one run. It never reorders: text of another stream, or any other event, pushes out what waits."""

    def __init__(self, *, new_redactor: Callable[[], StreamRedactor]) -> None:
        """No stream is open."""
        self._new_redactor = new_redactor
        self._streams: dict[StreamKey, _Stream] = {}
        self._waiting: StreamKey | None = None
        self.size = 0
        """How many characters wait."""

    @property
    def empty(self) -> bool:
        """Whether nothing is open and nothing waits."""
        return not self._streams

    def push(self, delta: Delta) -> Delta | None:
        """Take in one piece; return what must be stored first because this piece is of another stream."""
        key = stream_key(delta)
        pushed_out = self.take() if self._waiting is not None and self._waiting != key else None
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream(self._new_redactor(), delta)
        self._waiting = key
        self.size += stream.take_in(delta)
        return pushed_out

    def take(self) -> Delta | None:
        """What waits and is free to go, as one piece."""
        key, self._waiting, self.size = self._waiting, None, 0
        return None if key is None else self._streams[key].release(final=False)

    def close(self, payload: Payload | Opaque) -> list[Delta]:
        """All that must be stored before `payload`: what waits, and the held-back ends of the streams that it ends."""
        return self._close(ends_block(payload, self._streams) if self._streams else [])

    def close_all(self) -> list[Delta]:
        """End every stream: what waits and what was held back."""
        return self._close(list(self._streams))

    def _close(self, keys: list[StreamKey]) -> list[Delta]:
        out: list[Delta | None] = []
        for key in keys:
            if self._waiting != key:
                out.append(self.take())
            self._waiting, self.size = None, 0
            out.append(self._streams.pop(key).release(final=True))
        out.append(self.take())
        return [piece for piece in out if piece is not None]


def _marked(piece: Delta) -> Delta:
    """Say where the placeholder stands."""
    return replace(piece, redacted_paths=["/data" if isinstance(piece, ShellOutputChunk) else "/delta"])
