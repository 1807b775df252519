"""A frame into a message: decoded into a dialect's own types, or a reason why it cannot be."""

import json
from dataclasses import dataclass
from typing import TypeVar

import msgspec

_Message = TypeVar("_Message")
_ANYTHING = msgspec.json.Decoder()
_FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A frame that the dialect does not understand."""

    why: str
    raw_type: str = ""
    """What the frame calls itself, when it says so."""


def read(decoder: "msgspec.json.Decoder[_Message]", data: bytes, *, tag: str = "type") -> _Message | Unreadable:
    """Decode a frame. Bytes that are no text are replaced as a terminal would, and then it is looked at again."""
    try:
        return decoder.decode(data)
    except _FAULTS as wrong:
        why: Exception = wrong
    if not isinstance(why, msgspec.ValidationError):
        mended = _mended(data)
        if mended is not None:
            data = mended
            try:
                return decoder.decode(data)
            except _FAULTS as wrong:
                why = wrong
    return Unreadable(_shown(why), _type_of(data, tag))


def _mended(data: bytes) -> bytes | None:
    """The same JSON as clean UTF-8: bytes that are no text and halves of characters replaced; None if it is no JSON."""
    text = data.decode("utf-8", "replace")
    try:
        whole = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return whole.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()


def _type_of(data: bytes, tag: str) -> str:
    try:
        value = _ANYTHING.decode(data)
    except _FAULTS:
        return ""
    found = value.get(tag) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _shown(wrong: Exception) -> str:
    if isinstance(wrong, UnicodeDecodeError):
        return "not UTF-8"
    return str(wrong) if isinstance(wrong, msgspec.ValidationError) else f"not JSON: {wrong}"
