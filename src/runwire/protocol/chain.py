"""The hash chain over the stored bytes of a run: what was written cannot be changed without changing every later link."""

from hashlib import sha256

GENESIS = bytes(32)
"""The link before sequence 0."""

_SHOWN = "sha256:"


def link(previous: bytes, envelope: bytes) -> bytes:
    """Return the link after `envelope`, given the link before it."""
    return sha256(previous + envelope).digest()


def show(value: bytes) -> str:
    """Write a link the way it crosses the wire: `sha256:<hex>`."""
    return _SHOWN + value.hex()


def read(text: str) -> bytes:
    """Read a link written by `show`; anything else is a ValueError."""
    value = bytes.fromhex(text.removeprefix(_SHOWN)) if text.startswith(_SHOWN) else b""
    if len(value) != len(GENESIS):
        raise ValueError(f"{text!r} is not a chain value: expected sha256: and 64 hexadecimal digits")
    return value
