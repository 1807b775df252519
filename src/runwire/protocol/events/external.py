"""Events that outside callers append: any type under `external.`, any object as data. Runwire never acts on them."""

from runwire.protocol.payload import Opaque

PREFIX = "external."


def external(event_type: str, data: bytes) -> Opaque:
    """Return the payload of an outside caller's event; a type outside `external.` or data that is no object is refused."""
    if not event_type.startswith(PREFIX):
        raise ValueError(f"{event_type!r} is not an external type: outside callers append {PREFIX}* only")
    return Opaque.of(event_type, data)
