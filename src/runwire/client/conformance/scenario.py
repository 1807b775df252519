"""What a scenario is: a promise of the protocol, and how to see whether a server keeps it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

from runwire.client.conformance.asking import Answer, Asker

_OK = 200


class Broken(Exception):
    """A server does not keep a requirement."""

    def __init__(self, rule: str, message: str) -> None:
        self.rule = rule
        self.message = message
        super().__init__(f"{rule}: {message}")


class NotApplicable(Exception):
    """This server gives no occasion to look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The run that a server is asked about: one that is over, and what its log must be."""

    asker: Asker
    run_id: str
    task_id: str | None
    log: list[bytes]
    imported: bool
    feed_cursor: str | None
    """Where the feed stood before the run came; None when it was there already."""

    @property
    def head(self) -> int:
        """The sequence of its last event."""
        return len(self.log) - 1

    @property
    def events(self) -> str:
        """Where its events are."""
        return f"/runs/{self.run_id}/events"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario: its name, the requirements that it looks at, what a server must do, and how to see it."""

    name: str
    rules: tuple[str, ...]
    about: str
    look: Callable[[Subject], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Result:
    """How a scenario went."""

    scenario: Scenario
    outcome: Literal["ok", "breach", "skipped"]
    rule: str = ""
    message: str = ""


def require(kept: bool, rule: str, message: str) -> None:
    """Say that a requirement is broken unless it is kept."""
    if not kept:
        raise Broken(rule, message)


def decoded(answer: Answer, rule: str) -> dict[str, msgspec.Raw]:
    """The JSON object that a good answer holds, its values as they came."""
    require(answer.status == _OK, rule, f"the answer is {answer.status} instead of 200")
    try:
        return msgspec.json.decode(answer.body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise Broken(rule, f"the answer is no JSON object: {wrong}") from wrong


def refused(answer: Answer, status: int, code: str, rule: str) -> Mapping[str, object]:
    """See that an answer is this error in the one shape of errors; what it says, for a closer look."""
    told = f"{answer.status} {answer.body[:80].decode('utf-8', 'replace')}"
    require(answer.status == status, rule, f"expected {status} {code}, got {told}")
    try:
        error = msgspec.json.decode(answer.body, type=dict[str, dict[str, object]])["error"]
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as wrong:
        raise Broken("ERR-1", f"the body of a {status} is no error: {told}") from wrong
    for name, kind in (("code", str), ("message", str), ("hint", str), ("request_id", str), ("details", dict)):
        require(isinstance(error.get(name), kind), "ERR-1", f"the error of a {status} has no {name}: {told}")
    require(not code or error["code"] == code, rule, f"expected the code {code}, got {error['code']}")
    return error


def same(found: list[bytes], expected: list[bytes], rule: str, where: str) -> None:
    """See that envelopes are the stored ones, byte for byte, all of them and in order."""
    for place, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            raise Broken(rule, f"{where}: envelope {place} is {_shown(one)}, but stored is {_shown(other)}")
    require(len(found) == len(expected), rule, f"{where}: {len(found)} envelopes instead of {len(expected)}")


def _shown(envelope: bytes) -> str:
    return envelope[:160].decode("utf-8", "replace")
