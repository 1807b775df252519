"""Whether a store is whole: the database's own check, the hash chain of every run, the hash of every body."""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from runwire.errors import StoreCorrupt
from runwire.journal.bodies import Bodies, damaged
from runwire.journal.frames import split
from runwire.journal.store.database import snapshot
from runwire.journal.store.log import require_whole_feed
from runwire.journal.store.reading import read_segment
from runwire.journal.store.rows import IMPORTING
from runwire.journal.store.unsealed import Unsealed
from runwire.protocol import chain
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, type_of
from runwire.protocol.events.gap import GapEventsPruned

_MARKER = GapEventsPruned.type.encode()
_COMMITS_A_READ = 64


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a whole store holds."""

    runs: int
    events: int
    artifacts: int
    bodies: int


class _Pruned(Exception):
    """Something is missing from the log, so that it cannot be linked without its anchors."""


def check_store(db: apsw.Connection, bodies: Bodies) -> Inventory:
    """Prove that nothing in a store is damaged, and say what it holds. The first damage is a StoreCorrupt."""
    with snapshot(db):
        (said,) = db.execute("PRAGMA quick_check(1)").fetchall()[0]
        if said != "ok":
            raise StoreCorrupt(str(said))
        require_whole_feed(db)
        unsealed = _unsealed(db)
        query = "SELECT run_key, run_id, head_sequence, head_hash FROM runs WHERE status != ?"
        counts = [_check_run(db, unsealed, *row) for row in list(db.execute(query, (IMPORTING,)))]
        held = db.execute("SELECT digest, size, inline FROM bodies")
        count = sum(_check_body(bodies, *row) for row in held)
        artifacts = db.execute("SELECT count(*) FROM artifacts").get
        nameless = "SELECT artifact_id FROM artifacts WHERE digest NOT IN (SELECT digest FROM bodies) LIMIT 1"
        for (artifact_id,) in db.execute(nameless):
            raise StoreCorrupt(f"the body of {artifact_id} has no row")
    return Inventory(len(counts), sum(counts), artifacts, count)


def _unsealed(db: apsw.Connection) -> Unsealed:
    unsealed = Unsealed()
    for position, packed in db.execute("SELECT position, entries FROM commits ORDER BY position"):
        unsealed.add(position, packed, 0)
    return unsealed


def _check_run(db: apsw.Connection, unsealed: Unsealed, run_key: int, run_id: str, sequence: int, head: bytes) -> int:
    """Link every event of a run anew; the result must be what was noted when they were written."""
    tip = unsealed.tip(run_key)
    if tip is not None and tip[0] > sequence:
        sequence, head = tip
    try:
        count, found = _link(_events(db, unsealed, run_key), None)
    except _Pruned:
        count, found = _link(_events(db, unsealed, run_key), dict(_anchors(db, unsealed, run_key)))
    if found != (sequence, head):
        raise StoreCorrupt(f"the events of {run_id} do not lead to the hash at its head ({sequence})")
    return count


def _link(events: Iterator[tuple[int, bytes]], anchors: dict[int, bytes] | None) -> tuple[int, tuple[int, bytes]]:
    """How many events there are, the last one's sequence and the chain's value there."""
    count, previous, value = 0, -1, chain.GENESIS
    for sequence, envelope in events:
        if anchors is None:
            if sequence != previous + 1 or _MARKER in envelope:
                raise _Pruned
            value = chain.link(value, envelope)
        else:
            # A hole that nobody has anchored counts as if it were not there, as it does wherever a log is verified.
            before = value if sequence == previous + 1 else anchors.get(sequence - 1, value)
            value = anchors.get(sequence) or chain.link(before, envelope)
        previous = sequence
        count += 1
    return count, (previous, value)


def _anchors(db: apsw.Connection, unsealed: Unsealed, run_key: int) -> Iterator[tuple[int, bytes]]:
    for _, envelope in _events(db, unsealed, run_key):
        if _MARKER in envelope and type_of(envelope) == GapEventsPruned.type:
            marker = decode_payload(GapEventsPruned.type, data_of(envelope))
            if isinstance(marker, GapEventsPruned):
                yield from ((anchor.sequence, chain.read(anchor.hash)) for anchor in marker.anchors or ())


def _events(db: apsw.Connection, unsealed: Unsealed, run_key: int) -> Iterator[tuple[int, bytes]]:
    after = -1
    while True:
        segment = read_segment(db, run_key, after, unsealed.positions(run_key, after, _COMMITS_A_READ))
        if segment is None:
            return
        yield from split(segment.frames)
        after = segment.last


def _check_body(bodies: Bodies, digest: bytes, size: int, inline: bytes | None) -> int:
    try:
        bodies.open(digest, size, inline).close()
    except FileNotFoundError as error:
        raise damaged(digest) from error
    return 1
