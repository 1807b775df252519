"""Stamping: payloads become envelopes with a number, an id and a place in the chain. Pure but for the ids it is given.

It runs inside the append transaction and changes nothing: what it decides takes effect when the commit has succeeded.
"""

from asyncio import Future
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate

import apsw
from msgspec import Raw, Struct, structs

from runwire.errors import RunFinished, StaleLease
from runwire.journal.frames import frame
from runwire.journal.records import Effect, Head, RunBirth, RunInfo, Stored
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.story import TOLD, Story, tell
from runwire.protocol.catalogue import TERMINAL, decode_payload, may_follow_terminal
from runwire.protocol.envelope import write_envelopes
from runwire.protocol.payload import MalformedPayload, Opaque, Payload


class Item(Struct, frozen=True, gc=False):
    """One payload, encoded, waiting for its number."""

    payload: Payload | Opaque
    data: bytes
    redacted: bool = False
    """Whether it has been looked through for secrets: stream text has, piece by piece."""


class Claim(Struct, gc=False):
    """A request to move a run's lease. What it tells is known only inside the transaction that moves it."""

    tell: Callable[[RunInfo], Sequence[Item]]
    also: Callable[[apsw.Connection, int], object]
    generation: int = 0
    info: RunInfo | None = None


class Request(Struct, frozen=True, gc=False):
    """Events of one run that become durable together or not at all."""

    run_id: str
    items: Sequence[Item]
    done: "Future[Stored]"
    lease: int | None = None
    birth: RunBirth | None = None
    also: Effect | None = None
    plain: bool = False
    """Without birth or further state, and ending the run at its end if at all: a living run takes it unchecked."""
    claim: Claim | None = None


@dataclass(slots=True)
class Growth:
    """What a commit adds to one run; the head moves there when the commit has succeeded."""

    head: Head
    first: int
    sequence: int
    hash: bytes
    story: Story
    updated_ns: int
    generation: int

    def info(self) -> RunInfo:
        """The run as it will be once this much of the commit is durable."""
        head = self.head
        return RunInfo(
            birth=head.birth,
            created_ns=head.created_ns,
            updated_ns=self.updated_ns,
            first_sequence=head.first_sequence,
            head_sequence=self.sequence,
            head_hash=self.hash,
            lease_generation=self.generation,
            story=self.story,
        )

    @property
    def changes_state(self) -> bool:
        """Whether the run's row has to be written, too: for what lists are filtered and counted by.

        The rest of the state need not be: it can be told again from the events since. The first events of a run are written,
        so that whoever lists or claims it need not look for them.
        """
        old, new = self.head.story.run, self.story.run
        return self.head.sequence < 0 or (
            new is not old
            and (
                new.status != old.status
                or new.turns != old.turns
                or new.cost_micros_usd != old.cost_micros_usd
                or new.pending_approvals is not old.pending_approvals
            )
        )

    def take_effect(self) -> None:
        """Move the head: the events are durable now."""
        head = self.head
        head.sequence, head.hash, head.story, head.updated_ns = self.sequence, self.hash, self.story, self.updated_ns
        head.lease_generation = self.generation


def no_growth(head: Head) -> Growth:
    """Where growth begins: at the head."""
    return Growth(head, head.sequence + 1, head.sequence, head.hash, head.story, head.updated_ns, head.lease_generation)


def admit(growth: Growth, request: Request) -> None:
    """Refuse a request that may not be appended where the run stands now."""
    if request.lease is not None and request.lease != growth.generation:
        raise StaleLease(request.run_id, given=request.lease, current=growth.generation)
    admit_items(growth, request.run_id, request.items)


def admit_items(growth: Growth, run_id: str, items: Iterable[Item]) -> None:
    """Refuse events that may not follow what the run holds already."""
    finished = growth.story.run.finished
    for item in items:
        event_type = item.payload.type
        if finished and not may_follow_terminal(event_type):
            raise RunFinished(run_id)
        if event_type in TERMINAL:
            finished = True


def fold(growth: Growth, items: Iterable[Item], now_ns: int) -> None:
    """Tell the run's story on. Done at once, because it decides whether the run takes more."""
    for item in items:
        if type(item.payload) in TOLD:
            growth.story = tell(growth.story, item.payload, now_ns)
    growth.updated_ns = now_ns


Admitted = tuple[Growth, Sequence[Item], Request]
"""A request that will be stored, and which run grows by which items."""


class Stamped(Struct, gc=False):
    """The events of a commit in columns: a step done for all of them at once costs half of what it costs in turns."""

    sequences: list[int]
    event_ids: list[str]
    frames: list[bytes]


def stamp(admitted: Iterable[Admitted], new_ids: Callable[[int], list[str]], occurred_at: str) -> Stamped:
    """Give each item its number, id and link, in this order. A run's events must lie side by side."""
    items: list[Item] = []
    growths: list[Growth] = []
    sequences: list[int] = []
    for growth, added, _ in admitted:
        count, first = len(added), growth.sequence + 1
        if count == 1:
            sequences.append(first)
            growths.append(growth)
        else:
            sequences += range(first, first + count)
            growths += [growth] * count
        items += added
        growth.sequence += count
    event_ids = new_ids(len(items))
    lines = [
        (event_id, growth.head.writer.middle, sequence, item.payload.type, item.data)
        for event_id, growth, sequence, item in zip(event_ids, growths, sequences, items, strict=True)
    ]
    envelopes = write_envelopes(lines, occurred_at)
    for growth, envelope in zip(growths, envelopes, strict=True):
        growth.hash = sha256(growth.hash + envelope).digest()
    return Stamped(sequences, event_ids, list(map(frame, sequences, envelopes)))


def redact(requests: Sequence[Request], redactor: Redactor) -> Sequence[Request]:
    """Take the secrets out of a group of requests. All are looked at in one pass, which nearly always finds nothing."""
    found = redactor.redact_all([b"" if item.redacted else item.data for request in requests for item in request.items])
    if not found:
        return requests
    ends = list(accumulate([len(request.items) for request in requests]))
    clean = list(requests)
    for number, data in found.items():
        at = bisect_right(ends, number)
        items = list(clean[at].items)
        place = number - ends[at]
        items[place] = _clean(items[place], data)
        clean[at] = structs.replace(clean[at], items=items)
    return clean


def redact_items(items: Sequence[Item], redactor: Redactor) -> Sequence[Item]:
    """Take the secrets out of some items."""
    found = redactor.redact_all([item.data for item in items])
    return [_clean(item, found[number]) if number in found else item for number, item in enumerate(items)]


def _clean(item: Item, data: bytes) -> Item:
    if type(item.payload) not in TOLD:
        return Item(item.payload, data, redacted=True)
    # The run's story is told from the payload and is stored, too: it must not know the secret either.
    try:
        payload = decode_payload(item.payload.type, data)
    except MalformedPayload:
        payload = Opaque(type=item.payload.type, data=Raw(data))
    return Item(payload, data, redacted=True)
