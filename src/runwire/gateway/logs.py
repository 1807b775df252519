"""The gateway's log: one JSON object a line on standard error. It never holds a payload, a query's value or a secret."""

import logging
import sys
from collections.abc import Callable, Mapping
from typing import TextIO

import msgspec

from runwire.clock import rfc3339
from runwire.gateway.call import Call

_log = logging.getLogger("runwire.request")
_ENCODER = msgspec.json.Encoder()
_NS = 1_000_000_000
_READS = frozenset({"GET", "HEAD"})
_REFUSED = 400


class JsonLines(logging.Formatter):
    """Writes a record as one line, with the secrets taken out."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        """Pass every text through `scrub`."""
        super().__init__()
        self._scrub = scrub

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, object] = {
            "time": rfc3339(int(record.created * _NS)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._scrub(record.getMessage()),
        }
        fields = record.__dict__.get("fields")
        if isinstance(fields, Mapping):
            line |= {key: self._scrub(value) if isinstance(value, str) else value for key, value in fields.items()}
        if record.exc_info:
            line["trace"] = self._scrub(self.formatException(record.exc_info))
        return _ENCODER.encode(line).decode()


def set_up_logs(scrub: Callable[[str], str], *, stream: TextIO | None = None) -> None:
    """Send what this process logs to `stream`, standard error by default: our own lines, and the warnings of others.

    Others may well write down what they send and fetch, so they are heard only when something is wrong.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines(scrub))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("runwire").setLevel(logging.INFO)


def request_line(call: Call, route: str, seconds: float) -> None:
    """Tell how one request went. Reading that goes well is told only to those who look for trouble: a page reads all the time."""
    is_quiet = call.method in _READS and call.status < _REFUSED
    level = logging.DEBUG if is_quiet else logging.INFO
    if not _log.isEnabledFor(level):
        return
    fields = {
        "request_id": call.request_id,
        "method": call.method,
        "route": route,
        "status": call.status,
        "duration_ms": round(seconds * 1000, 3),
        "token_id": None if call.caller is None else call.caller.token_id,
    }
    _log.log(level, "request", extra={"fields": fields})
