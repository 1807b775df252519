"""Pruning: some events of a run's sealed past vanish, and a marker in the place of the last one says so.

What stays keeps its bytes. The chain over what stays is still provable: the marker anchors it behind every hole.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import apsw

from runwire.journal.frames import END, frame, split
from runwire.journal.store.database import writing
from runwire.journal.store.reading import deflate, inflate
from runwire.journal.store.sealing import CHUNK_BYTES, Chunk, insert_chunks
from runwire.protocol import chain
from runwire.protocol.catalogue import decode_payload, is_protected
from runwire.protocol.envelope import data_of, occurred_at_of, type_of
from runwire.protocol.events.gap import Anchor, GapEventsPruned

Doomed = Callable[[int, str, str], bool]
"""(sequence, type, occurred_at) → whether the event may go. Protected events stay whatever it says."""

MakeMarker = Callable[[int, int, list[Anchor]], bytes]
"""(first pruned, last pruned, anchors) → the envelope of the marker, which takes the last pruned one's place."""


@dataclass(slots=True)
class Plan:
    """What pruning a run would do."""

    run_key: int
    gone: list[int] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    kept: list[tuple[int, bytes]] = field(default_factory=list)
    chunks: list[int] = field(default_factory=list)

    @property
    def through(self) -> int:
        """The last sequence that goes."""
        return self.gone[-1]


def plan(db: apsw.Connection, run_key: int, through: int, doomed: Doomed) -> Plan | None:
    """Work out what goes of a run up to and including `through`; None when nothing does."""
    found = Plan(run_key)
    anchors = dict(_anchors(db, run_key))
    link = chain.GENESIS
    previous = -1
    for chunk_key, events in _chunks(db, run_key, through):
        found.chunks.append(chunk_key)
        for sequence, envelope in events:
            before = link if sequence == previous + 1 else anchors.get(sequence - 1, link)
            link = anchors[sequence] if sequence in anchors else chain.link(before, envelope)
            event_type = type_of(envelope)
            goes = (
                sequence <= through
                and not is_protected(event_type)
                and doomed(sequence, event_type, occurred_at_of(envelope))
            )
            if goes:
                if found.gone and found.gone[-1] == sequence - 1:
                    found.anchors.pop()
                elif sequence > 0:
                    # Where the chain stood before the hole proves what was kept there.
                    found.anchors.append(Anchor(sequence=sequence - 1, hash=chain.show(before)))
                found.gone.append(sequence)
                found.anchors.append(Anchor(sequence=sequence, hash=chain.show(link)))
            else:
                found.kept.append((sequence, envelope))
            previous = sequence
    return found if found.gone else None


def carry_out(db: apsw.Connection, prune: Plan, make_marker: MakeMarker) -> None:
    """Put what stays, and the marker, in the place of the chunks that held the past."""
    marker = make_marker(prune.gone[0], prune.through, prune.anchors)
    kept = sorted([*prune.kept, (prune.through, marker)])
    pages = list(_pages(prune.run_key, kept))
    with writing(db):
        db.executemany("DELETE FROM chunks WHERE chunk_key = ?", [(key,) for key in prune.chunks])
        insert_chunks(db, pages)
        db.execute("UPDATE runs SET first_sequence = ? WHERE run_key = ?", (kept[0][0], prune.run_key))


def delete_run(db: apsw.Connection, run_key: int) -> None:
    """Remove a run and all its events. Its places in the feed stay empty."""
    with writing(db):
        db.execute("DELETE FROM chunks WHERE run_key = ?", (run_key,))
        db.execute("DELETE FROM runs WHERE run_key = ?", (run_key,))


def sizes(db: apsw.Connection) -> list[tuple[int, str, str, int, int]]:
    """(run_key, run_id, status, events, bytes on disk) of every run that has sealed events, oldest first."""
    return list(
        db.execute(
            "SELECT runs.run_key, run_id, status, sum(count), sum(length(body)) FROM runs "
            "JOIN chunks ON chunks.run_key = runs.run_key GROUP BY runs.run_key ORDER BY runs.updated_ns"
        )
    )


def events_of(db: apsw.Connection, run_key: int) -> Iterator[tuple[int, str, str]]:
    """(sequence, type, occurred_at) of every sealed event of a run."""
    for _, events in _chunks(db, run_key, 2**62):
        for sequence, envelope in events:
            yield sequence, type_of(envelope), occurred_at_of(envelope)


def _chunks(db: apsw.Connection, run_key: int, through: int) -> Iterator[tuple[int, list[tuple[int, bytes]]]]:
    rows = db.execute(
        "SELECT chunk_key, first_sequence, size, body FROM chunks "
        "WHERE run_key = ? AND first_sequence <= ? ORDER BY last_sequence",
        (run_key, through),
    )
    for chunk_key, first, size, body in rows:
        yield chunk_key, split(inflate(body, size, run_key, first))


def _anchors(db: apsw.Connection, run_key: int) -> Iterator[tuple[int, bytes]]:
    """The anchors that earlier markers have left."""
    rows = db.execute("SELECT first_sequence, size, body FROM chunks WHERE run_key = ?", (run_key,))
    for first, size, body in rows:
        frames = inflate(body, size, run_key, first)
        if GapEventsPruned.type.encode() not in frames:
            continue
        for _, envelope in split(frames):
            if type_of(envelope) == GapEventsPruned.type:
                marker = decode_payload(GapEventsPruned.type, data_of(envelope))
                if isinstance(marker, GapEventsPruned):
                    yield from ((anchor.sequence, chain.read(anchor.hash)) for anchor in marker.anchors or ())


def _pages(run_key: int, events: list[tuple[int, bytes]]) -> Iterator[Chunk]:
    frames: list[bytes] = []
    size = 0
    first = events[0][0]
    for at, (sequence, envelope) in enumerate(events):
        frames.append(frame(sequence, envelope))
        size += len(frames[-1])
        if size >= CHUNK_BYTES or at == len(events) - 1:
            body = b"".join(frames)
            yield Chunk(run_key, first, sequence, body.count(END), len(body), occurred_at_of(envelope), deflate(body))
            frames, size, first = [], 0, sequence + 1
