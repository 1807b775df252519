"""A played story as files that stay the same: what chance, the clock and the machine have put in is put in order."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from runwire.clock import rfc3339
from tests.scenarios.log import Log
from tests.scenarios.playing import Played

FIXTURES = Path(__file__).parents[2] / "spec" / "fixtures" / "v1"
_BEGAN = datetime(2026, 11, 15, 12, tzinfo=UTC)
_NS = 1_000_000_000
_STEP_NS = 10_000_000
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID = re.compile(rb"(?<=_)[0-7][0-9A-HJKMNP-TV-Z]{25}")
_MOMENT = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
_DURATION = re.compile(rb'("(?:duration_ms|after_seconds)":)[\d.]+')
_DIGEST = re.compile(rb'(?<="input_digest":"sha256:)[0-9a-f]{64}')
_ANCHOR = re.compile(rb'(?<="hash":"sha256:)[0-9a-f]{64}')
_PORT = re.compile(rb"(?<=127\.0\.0\.1:)\d+")
_KEYS = re.compile(rb'("env_keys":)\[[^\]]*\]')


def recorded(name: str, played: Played) -> Iterator[tuple[str, bytes]]:
    """The files of a story: a name and the lines, one for each run."""
    order = _Order(str(played.folder).encode())
    for number, log in enumerate(played.logs, 1):
        file = f"{name}.jsonl" if len(played.logs) == 1 else f"{name}-{number}.jsonl"
        # A run of the same story begins later than those before it.
        began_ns = (int(_BEGAN.timestamp()) + number - 1) * _NS
        yield file, b"".join(line + b"\n" for line in order.put_all(log, began_ns))


@dataclass(slots=True)
class _Order:
    """The names that stand for those of one recording; the same one always for the same."""

    folder: bytes
    ulids: dict[bytes, bytes] = field(default_factory=dict)
    hashes: dict[bytes, bytes] = field(default_factory=dict)

    def put_all(self, log: Log, began_ns: int) -> Iterator[bytes]:
        """A log with everything in its place."""
        for place, envelope in enumerate(log.envelopes):
            yield self.put(envelope, began_ns + place * _STEP_NS)

    def put(self, envelope: bytes, now_ns: int) -> bytes:
        """An envelope with everything in its place."""
        envelope = envelope.replace(self.folder, b"/demo")
        envelope = _ULID.sub(lambda found: self._ulid(found.group()), envelope)
        now, then = rfc3339(now_ns).encode(), rfc3339(now_ns + 30 * _NS).encode()
        envelope = _MOMENT.sub(now, envelope).replace(b'"lease_until":"%b"' % now, b'"lease_until":"%b"' % then)
        envelope = _DURATION.sub(rb"\g<1>1", envelope)
        for pattern in (_DIGEST, _ANCHOR):
            envelope = pattern.sub(lambda found: self._hash(found.group()), envelope)
        envelope = _PORT.sub(b"8080", envelope)
        return _KEYS.sub(rb'\g<1>["HOME","LANG","PATH"]', envelope)

    def _ulid(self, found: bytes) -> bytes:
        if found not in self.ulids:
            self.ulids[found] = _crockford(int(_BEGAN.timestamp() * 1000), 10) + _crockford(len(self.ulids), 16)
        return self.ulids[found]

    def _hash(self, found: bytes) -> bytes:
        if found not in self.hashes:
            self.hashes[found] = sha256(b"%d" % len(self.hashes)).hexdigest().encode()
        return self.hashes[found]


def _crockford(number: int, length: int) -> bytes:
    return "".join(_CROCKFORD[number >> 5 * place & 31] for place in reversed(range(length))).encode()


def outline(logs: Sequence[Log]) -> list[list[str]]:
    """What happened in each run, by name; pieces of one text count once, wherever chance has cut it."""
    return [[one for at, one in enumerate(log.types) if at == 0 or one != log.types[at - 1]] for log in logs]
