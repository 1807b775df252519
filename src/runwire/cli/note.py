"""The note that a gateway leaves in its data directory while it runs: where it is, and which process."""

import os
from pathlib import Path

import msgspec

NOTE_FILE = "gateway.json"
TOKEN_FILE = "token"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What `up` writes about itself into the data directory while it runs."""

    url: str
    pid: int


def read_note(data: Path) -> Note | None:
    """What the gateway on this data directory says of itself; None when it left without tidying up, or never was."""
    try:
        note = msgspec.json.decode((data / NOTE_FILE).read_bytes(), type=Note)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return note if _lives(note.pid) else None


def local_url(host: str, port: int) -> str:
    """Where this machine finds a gateway that listens on `host`."""
    # An address that stands for all of them is none that one could call.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # Somebody else's process is a process, too.
        return pid > 0
    return pid > 0
