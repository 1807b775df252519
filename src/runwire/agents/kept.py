"""Frames that nothing understands, or not all of: they are kept as they came, with the reason."""

from runwire.protocol.events.agent import AgentUnparsed

RAW_MAX = 64 * 1024
"""The most characters that are kept of such a frame."""

_KIND_MAX = 64


def kept(raw: bytes, error: str) -> AgentUnparsed:
    """The event that a frame is kept in."""
    text = raw[: RAW_MAX * 4].decode("utf-8", "replace")
    if len(raw) > len(text.encode()) or len(text) > RAW_MAX:
        error = f"{error}; the first {RAW_MAX} characters of {len(raw)} bytes are kept"
        text = text[:RAW_MAX]
    return AgentUnparsed(raw=text, error=error)


def no_such(what: str, kind: str) -> str:
    """Why a frame is kept that holds something of a kind which is not known."""
    return f"no {what} is called {kind[:_KIND_MAX]!r}"
