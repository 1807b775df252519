"""Session ids both ways: Agno's are any text, ours are `chat_` and a few safe characters. Pure, and nothing is lost."""

import re

from runwire.ids import FOREIGN_LENGTH_MAX, is_foreign_id
from runwire.runs.errors import TaskInvalid

_OURS = "chat_"
_THEIRS = "chat_agno."
_UNSAFE = re.compile(rb"[^A-Za-z0-9_.-]")
_ESCAPE = re.compile(rb":([0-9a-f]{2})")


def kept_session(given: str) -> str:
    """The id that we keep a client's session under; the empty text is no session."""
    if given.startswith(_OURS) and not given.startswith(_THEIRS) and len(given) > len(_OURS) and is_foreign_id(given):
        return given
    safe = _UNSAFE.sub(lambda found: b":%02x" % found[0][0], given.encode("utf-8", "surrogatepass"))
    kept = _THEIRS + safe.decode("ascii")
    if len(kept) > FOREIGN_LENGTH_MAX:
        raise TaskInvalid("the session's id is too long", field="session_id")
    return kept


def told_session(kept: str) -> str:
    """The id by which the client knows a session that we keep under another."""
    if not kept.startswith(_THEIRS):
        return kept
    raw = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), kept.removeprefix(_THEIRS).encode())
    return raw.decode("utf-8", "surrogatepass")
