"""Stamping: payloads become envelopes with a number, an id and a place in the chain. Pure but for the ids it is given.

It runs inside the append transaction and changes nothing: what it decides takes effect when the commit has succeeded.
"""

from asyncio import Future
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from msgspec import Struct

from runwire.clock import rfc3339
from runwire.errors import RunFinished, StaleLease
from runwire.journal.records import Effect, Head, RunBirth, Stored
from runwire.journal.story import Story, tell
from runwire.protocol.catalogue import TERMINAL, may_follow_terminal
from runwire.protocol.payload import Opaque, Payload


class Item(Struct, frozen=True, gc=False):
    """One payload, redacted and encoded, waiting for its number."""

    payload: Payload | Opaque
    data: bytes
    occurred_ns: int


class Request(Struct, frozen=True):
    """Events of one run that become durable together or not at all."""

    run_id: str
    items: Sequence[Item]
    done: "Future[Stored]"
    lease: int | None = None
    birth: RunBirth | None = None
    also: Effect | None = None
    plain: bool = False
    """One event without lease, birth or further state: nothing about it needs to be checked on a living run."""


class Growth(Struct):
    """What a commit adds to one run; the head moves there when the commit has succeeded."""

    head: Head
    first: int
    sequence: int
    hash: bytes
    story: Story
    updated_ns: int
    frames: list[bytes]
    event_id: str = ""

    @property
    def changes_state(self) -> bool:
        """Whether the run's row has to be written, too."""
        return self.story.run is not self.head.story.run

    def take_effect(self) -> None:
        """Move the head: the events are durable now."""
        head = self.head
        head.sequence, head.hash, head.story, head.updated_ns = self.sequence, self.hash, self.story, self.updated_ns


def no_growth(head: Head) -> Growth:
    """Where growth begins: at the head."""
    return Growth(head, head.sequence + 1, head.sequence, head.hash, head.story, head.updated_ns, [])


def admit(growth: Growth, request: Request) -> None:
    """Refuse a request that may not be appended where the run stands now."""
    if request.lease is not None and request.lease != growth.head.lease_generation:
        raise StaleLease(request.run_id, given=request.lease, current=growth.head.lease_generation)
    finished = growth.story.run.finished
    for item in request.items:
        event_type = item.payload.type
        if finished and not may_follow_terminal(event_type):
            raise RunFinished(request.run_id)
        if event_type in TERMINAL:
            finished = True


def stamp(growth: Growth, items: Iterable[Item], new_event_id: Callable[[str], str]) -> None:
    """Give each item its number, id and link, and fold it into the run's story."""
    sequence, link, story = growth.sequence, growth.hash, growth.story
    event_id, occurred_ns = growth.event_id, growth.updated_ns
    write, frames = growth.head.writer.write, growth.frames
    for item in items:
        sequence += 1
        event_id = new_event_id("evt")
        payload, occurred_ns = item.payload, item.occurred_ns
        envelope = write(event_id, sequence, rfc3339(occurred_ns), payload.type, item.data)
        link = sha256(link + envelope).digest()
        story = tell(story, payload, occurred_ns)
        frames.append(b"id: %d\ndata: %b\n\n" % (sequence, envelope))
    growth.sequence, growth.hash, growth.story = sequence, link, story
    growth.event_id, growth.updated_ns = event_id, occurred_ns
