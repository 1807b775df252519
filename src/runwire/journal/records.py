"""The journal's vocabulary: what goes in, what comes back, what a reader holds.

What is made for every event or run is a msgspec Struct though it never leaves the process: it costs a fifth of a dataclass.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

import apsw
from msgspec import Struct, field

from runwire.journal.store.entries import unpack
from runwire.journal.story import Story
from runwire.protocol.chain import GENESIS
from runwire.protocol.envelope import EnvelopeWriter
from runwire.protocol.payload import Opaque, Payload

Effect = Callable[[apsw.Connection], object]
"""State that changes together with an event, written in the event's own transaction."""


class RunBirth(Struct, frozen=True):
    """A run that is about to have its first event."""

    run_id: str
    task_id: str | None = None
    session_id: str | None = None
    agent: str = "external"


class Stored(Struct, frozen=True, gc=False):
    """Proof that events are durable: the last one's place in its run and in the feed."""

    run_id: str
    sequence: int
    event_id: str
    position: int


class RunInfo(Struct, frozen=True):
    """A run as its row and its log tell it now."""

    birth: RunBirth
    created_ns: int
    updated_ns: int
    first_sequence: int
    head_sequence: int
    head_hash: bytes
    lease_generation: int
    story: Story


Tell = Callable[[RunInfo], Sequence[Payload | Opaque]]
"""What a claim has to say of the run as it stands, decided inside the claim's own transaction."""


class Claimed(Struct, frozen=True):
    """Proof that a run is the claimer's: events of its own are appended under `generation`."""

    stored: Stored
    generation: int
    info: RunInfo
    """The run as it stood before the claim."""


class Segment(Struct, frozen=True, gc=False):
    """Consecutive frames of one run."""

    run_id: str
    first: int
    last: int
    frames: bytes


class Batch(Struct, frozen=True, gc=False):
    """Frames for a reader: everything stored from past its cursor up to `last`."""

    last: int
    frames: bytes


class FeedEvent(Struct, frozen=True, gc=False):
    """One event at its place in the feed of all runs."""

    position: int
    run_id: str
    envelope: bytes


class Commit(Struct, frozen=True):
    """Events that became durable together: their frames, run by run."""

    position: int
    count: int
    run_ids: Sequence[str]
    """Whose events these are, in the order of the body."""
    entries: bytes
    """Where each run's begin and end, packed."""
    body: bytes

    def segments(self, wanted: Container[str] | None = None) -> Iterator[Segment]:
        """The frames of each run, or only of those that are wanted. Most commits are never asked."""
        end = 0
        for run_id, entry in zip(self.run_ids, unpack(self.entries), strict=True):
            start, end = end, end + entry.length
            if wanted is None or run_id in wanted:
                yield Segment(run_id, entry.first, entry.last, self.body[start:end])


class Foreign(Struct):
    """What other processes have committed since this one last looked."""

    run_ids: set[str] = field(default_factory=set)
    """Whose runs have grown."""
    commits: list[Commit] = field(default_factory=list)
    """The newest of it, in order and without a hole, for whoever follows live."""
    whole: bool = True
    """Whether nothing lies between what was known before and these commits."""

    def join(self, later: "Foreign") -> None:
        """Take in what came after."""
        self.run_ids |= later.run_ids
        if later.whole:
            self.commits += later.commits
        else:
            self.commits, self.whole = later.commits, False


@dataclass(slots=True)
class Head:
    """The writer's knowledge of where a run ends. Changed only when a commit has succeeded.

    No Struct, because it is made once and changed with every commit: setting an attribute of one costs four times as much.
    """

    run_key: int
    birth: RunBirth
    created_ns: int
    updated_ns: int
    writer: EnvelopeWriter
    first_sequence: int = 0
    sequence: int = -1
    hash: bytes = GENESIS
    lease_generation: int = 0
    lease_seen: int = -1
    """When the lease was last looked up, by the log's own count of moments at which it may have moved."""
    story: Story = dataclass_field(default_factory=Story)

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        return self.story.run.finished

    def info(self) -> RunInfo:
        """What a reader may know of it."""
        return RunInfo(
            birth=self.birth,
            created_ns=self.created_ns,
            updated_ns=self.updated_ns,
            first_sequence=self.first_sequence,
            head_sequence=self.sequence,
            head_hash=self.hash,
            lease_generation=self.lease_generation,
            story=self.story,
        )
