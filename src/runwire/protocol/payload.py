"""What an event says, apart from who said it and when: the base of every payload, and the payload of an unknown type."""

import re
from typing import Annotated, ClassVar, Self, dataclass_transform

import msgspec
from msgspec import UNSET, Meta, UnsetType

TYPE_NAME = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$"
TYPE_NAME_MAX = 128

Count = Annotated[int, Meta(ge=0)]
"""A whole number that is never negative."""


class MalformedPayload(ValueError):
    """The payload is not what its type says it is."""


class _Settled(msgspec.StructMeta):
    """Makes every struct below frozen and keyword-only, which msgspec itself does not hand on to subclasses."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, object], **_: bool) -> "_Settled":
        # JSON trees hold no cycles, so the collector need not visit the millions of small structs we make.
        return super().__new__(mcls, name, bases, namespace, frozen=True, kw_only=True, gc=False)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, metaclass=_Settled, frozen=True, kw_only=True):
    """A frozen, keyword-only value that crosses the wire."""


class Payload(Record):
    """The data of one event. An optional field that is absent is UNSET and is left out; a nullable one stays null."""

    type: ClassVar[str] = ""

    redacted_paths: Annotated[
        list[str] | UnsetType, Meta(description="JSON Pointers, within data, of the values that were redacted.")
    ] = UNSET


class Opaque(Record):
    """The data of an event whose type this release does not know, carried byte for byte."""

    type: str
    data: msgspec.Raw

    @classmethod
    def of(cls, event_type: str, data: bytes) -> Self:
        """Wrap a JSON object as the payload of `event_type`, without its insignificant whitespace."""
        require_type_name(event_type)
        try:
            _OBJECT.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
            raise MalformedPayload(f"data of {event_type}: {wrong}") from wrong
        return cls(type=event_type, data=msgspec.Raw(msgspec.json.format(data, indent=-1)))


_ENCODER = msgspec.json.Encoder()
_OBJECT = msgspec.json.Decoder(dict[str, object])
_TYPE_NAME = re.compile(TYPE_NAME)


def encode_payload(payload: Payload | Opaque) -> bytes:
    """Encode a payload as compact JSON. Text that is not valid Unicode (a lone surrogate) is a ValueError."""
    if type(payload) is Opaque:
        return bytes(payload.data)
    return _ENCODER.encode(payload)


def is_type_name(name: str) -> bool:
    """Say whether `name` is a dotted, lowercase, snake_case event type."""
    return len(name) <= TYPE_NAME_MAX and _TYPE_NAME.match(name) is not None and not name.endswith("\n")


def require_type_name(name: str) -> None:
    """Refuse a string that could never be the type of an event."""
    if not is_type_name(name):
        raise ValueError(
            f"{name!r} is not an event type: use dotted, lowercase, snake_case segments such as tool.invoked"
        )
