"""Framed envelopes: `id: <sequence>` and `data: <envelope>`, as they are stored and as they are served.

An envelope is compact JSON and so holds no raw newline: the blank line ends a frame and nothing else does.
"""

from collections.abc import Iterator

END = b"\n\n"
_DATA = b"\ndata: "


def frame(sequence: int, envelope: bytes) -> bytes:
    """The SSE frame of one stored envelope."""
    return b"id: %d\ndata: %b\n\n" % (sequence, envelope)


def split(frames: bytes) -> list[tuple[int, bytes]]:
    """Every (sequence, envelope) of some frames, in order."""
    found = []
    for piece in frames.split(END)[:-1]:
        head, _, envelope = piece.partition(_DATA)
        found.append((int(head[4:]), envelope))
    return found


def envelopes(frames: bytes) -> Iterator[bytes]:
    """Every envelope of some frames, in order."""
    for piece in frames.split(END)[:-1]:
        yield piece[piece.index(_DATA) + 7 :]


def skip(frames: bytes, after: int) -> bytes:
    """The frames whose sequence lies past `after`."""
    wanted = b"id: %d\n" % (after + 1)
    if frames.startswith(wanted):
        return frames
    at = frames.find(END + wanted)
    if at >= 0:
        return frames[at + 2 :]
    # Pruned logs have holes, so the very next sequence may not exist.
    start = 0
    while start < len(frames):
        if int(frames[start + 4 : frames.index(b"\n", start)]) > after:
            return frames[start:]
        start = frames.index(END, start) + 2
    return b""


def cut(frames: bytes, max_bytes: int, start: int = 0) -> int:
    """Where to cut so that [start, cut) is whole frames of at most `max_bytes`, but never fewer than one frame."""
    if len(frames) - start <= max_bytes:
        return len(frames)
    at = frames.rfind(END, start, start + max_bytes)
    if at < 0:
        at = frames.index(END, start)
    return at + 2


def frame_end(frames: bytes, at: int) -> int:
    """Where the frame ends that has been sent up to `at`: there, if it is whole, and behind the first one at the start."""
    return frames.index(END, max(0, at - 2)) + 2


def last_sequence(frames: bytes, end: int) -> int:
    """The sequence of the frame that ends at `end`."""
    before = frames.rfind(END, 0, end - 2)
    start = before + 2 if before >= 0 else 0
    return int(frames[start + 4 : frames.index(b"\n", start)])
