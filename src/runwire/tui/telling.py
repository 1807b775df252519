"""One event on one line: what kind it is, what it says in a few words, and how it looks. Pure."""

from runwire.client.render.harmless import one_line, plain
from runwire.client.render.words import words_of
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, occurred_at_of, sequence_of, type_of
from runwire.protocol.events.edit import (
    EditApplied,
    EditProposed,
    EditRejected,
    EditReverted,
    MultiEditApplied,
    MultiEditProposed,
    MultiEditRejected,
    MultiEditReverted,
)
from runwire.protocol.payload import MalformedPayload, Opaque, Payload
from runwire.tui.rows import Piece, fitted

_SAID_MAX = 400
_TYPE_WIDTH = 24
_TYPE_WIDTH_WIDE = 30
_WIDE = 110
# Enough of the bytes of an unknown event to fill a line.
_OPAQUE_BYTES = 1600

# The first that fits decides.
_LOOKS: tuple[tuple[str, str], ...] = (
    ("run.finished", "good"),
    ("run.failed", "bad"),
    ("run.cancelled", "warn"),
    ("turn.failed", "bad"),
    ("tool.failed", "bad"),
    ("tool.timed_out", "bad"),
    ("tool.cancelled", "warn"),
    ("tool.completed", "good"),
    ("approval.", "warn"),
    ("policy.", "warn"),
    ("gap.", "warn"),
    ("cost.budget", "warn"),
    ("error.", "bad"),
    ("agent.unparsed", "bad"),
    ("user.", "person"),
    ("tool.", "tool"),
    ("assistant.thinking", "dim"),
    ("cost.", "dim"),
    ("turn.", "dim"),
    ("artifact.", "dim"),
)


def event_pieces(envelope: bytes, width: int) -> list[Piece]:
    """An event as a row: its number, the time of day, its type and what it says."""
    event_type = type_of(envelope)
    wide = width >= _WIDE
    at = occurred_at_of(envelope)[11 : 23 if wide else 19]
    name = fitted(plain(event_type), _TYPE_WIDTH_WIDE if wide else _TYPE_WIDTH)
    look = looks(event_type)
    said, known = said_by(event_type, data_of(envelope))
    head = f"{sequence_of(envelope):>6} "
    left = max(0, width - len(head) - len(at) - len(name) - 2)
    return [(head, "dim"), (f"{plain(at)} ", "dim"), (f"{name} ", look), (fitted(said, left), "" if known else "dim")]


def said_by(event_type: str, data: bytes) -> tuple[str, bool]:
    """What an event says on one safe line, and whether its type is one that we understand."""
    try:
        payload = decode_payload(event_type, data)
    except MalformedPayload:
        return _opaque(data), False
    said = None if isinstance(payload, Opaque) else words_of(payload)
    if said is None:
        return _opaque(data), not isinstance(payload, Opaque)
    return one_line(said, _SAID_MAX), True


def looks(event_type: str) -> str:
    """The style of a type."""
    return next((style for prefix, style in _LOOKS if event_type.startswith(prefix)), "")


def patches_of(envelope: bytes) -> tuple[str, ...]:
    """The patches that an event is about."""
    match _payload(envelope):
        case EditProposed() | EditApplied() | EditRejected() | EditReverted() as one:
            return (one.patch_artifact_id,)
        case MultiEditProposed() | MultiEditApplied() | MultiEditRejected() | MultiEditReverted() as several:
            return tuple(several.patch_artifact_ids)
        case _:
            return ()


def ago(seconds: float) -> str:
    """A time that has passed, in four characters or fewer."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def _payload(envelope: bytes) -> Payload | Opaque | None:
    try:
        return decode_payload(type_of(envelope), data_of(envelope))
    except MalformedPayload:
        return None


def _opaque(data: bytes) -> str:
    return one_line(data[:_OPAQUE_BYTES].decode("utf-8", "ignore"), _SAID_MAX)
