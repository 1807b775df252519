"""What has been told so far and not been taken yet, in order. Neighbouring pieces of one stream are joined."""

from runwire.agents.dialect import Item
from runwire.protocol.stream import Delta, text_of, with_text

PIECE_MAX = 64 * 1024
"""The most characters of stream text that one piece carries."""


class Told:
    """A queue of items."""

    __slots__ = ("_items", "_texts", "piece")

    def __init__(self) -> None:
        self._items: list[Item] = []
        self.piece: Delta | None = None
        """The piece that can still grow."""
        self._texts: list[str] = []

    def say(self, *items: Item) -> None:
        """Tell something that happened, behind all that was told before."""
        if self.piece is not None:
            self._flush()
        self._items.extend(items)

    def begin_piece(self, first: Delta) -> None:
        """Tell the first piece of some stream text; `go_on` adds to it as long as nothing else is told."""
        if self.piece is not None:
            self._flush()
        self.piece = first

    def go_on(self, text: str) -> None:
        """Add text to the piece that was begun last. Only valid while `piece` is that one."""
        self._texts.append(text)

    def take(self) -> list[Item]:
        """Everything so far, which is forgotten here."""
        if self.piece is not None:
            self._flush()
        items, self._items = self._items, []
        return items

    def _flush(self) -> None:
        piece, self.piece = self.piece, None
        if piece is None:
            return
        text = text_of(piece)
        if self._texts:
            text = "".join([text, *self._texts])
            self._texts.clear()
            piece = with_text(piece, text)
        if len(text) <= PIECE_MAX:
            self._items.append(piece)
            return
        skipped = 0
        for at in range(0, len(text), PIECE_MAX):
            part = text[at : at + PIECE_MAX]
            self._items.append(with_text(piece, part, skipped_bytes=skipped))
            skipped += size_of(part)


def size_of(text: str) -> int:
    """The length of a text in bytes."""
    # Most text is ASCII, which knows its length without being copied.
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
