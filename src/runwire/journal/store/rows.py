"""Run rows: what SQLite remembers of a run beside its events."""

from collections.abc import Iterable, Iterator

import apsw

from runwire.journal.frames import split
from runwire.journal.records import Head, RunBirth
from runwire.journal.stamping import Growth
from runwire.journal.store.database import writing
from runwire.journal.store.known import Known
from runwire.journal.store.reading import read_segment
from runwire.journal.store.unsealed import Unsealed
from runwire.journal.story import Story, decode_story, encode_story, retell
from runwire.protocol.chain import GENESIS
from runwire.protocol.envelope import EnvelopeWriter, occurred_at_of
from runwire.protocol.moment import nanoseconds

_COLUMNS = (
    "run_key, run_id, task_id, session_id, agent, created_ns, updated_ns, "
    "first_sequence, head_sequence, head_hash, lease_generation, state_sequence, state"
)
IMPORTING = "importing"
"""The status of a run whose import has not succeeded: nobody sees it, and the next start sweeps it away."""

_Row = tuple[int, str, str | None, str | None, str, int, int, int, int, bytes, int, int, bytes]


def insert_run(db: apsw.Connection, birth: RunBirth, now_ns: int) -> Head:
    """A new row, without events yet."""
    story = Story()
    db.execute(
        "INSERT INTO runs (run_id, task_id, session_id, agent, status, created_ns, updated_ns, first_sequence, "
        "head_sequence, head_hash, state_sequence, state) VALUES (?, ?, ?, ?, ?, ?, ?, 0, -1, ?, -1, ?)",
        (
            birth.run_id,
            birth.task_id,
            birth.session_id,
            birth.agent,
            story.run.status,
            now_ns,
            now_ns,
            GENESIS,
            encode_story(story),
        ),
    )
    return Head(
        run_key=db.last_insert_rowid(),
        birth=birth,
        created_ns=now_ns,
        updated_ns=now_ns,
        writer=EnvelopeWriter(run_id=birth.run_id, task_id=birth.task_id, session_id=birth.session_id),
        story=story,
    )


def save_growths(db: apsw.Connection, growths: Iterable[Growth]) -> None:
    """Write the state that a commit changes into the runs' rows."""
    db.executemany(
        "UPDATE runs SET status = ?, updated_ns = ?, head_sequence = ?, head_hash = ?, state_sequence = ?, state = ? "
        "WHERE run_key = ?",
        [
            (
                growth.story.run.status,
                growth.updated_ns,
                growth.sequence,
                growth.hash,
                growth.sequence,
                encode_story(growth.story),
                growth.head.run_key,
            )
            for growth in growths
        ],
    )


def save_head(db: apsw.Connection, head: Head) -> None:
    """Write all that a run's row says of its log."""
    db.execute(
        "UPDATE runs SET status = ?, created_ns = ?, updated_ns = ?, first_sequence = ?, head_sequence = ?, "
        "head_hash = ?, state_sequence = ?, state = ? WHERE run_key = ?",
        (
            head.story.run.status,
            head.created_ns,
            head.updated_ns,
            head.first_sequence,
            head.sequence,
            head.hash,
            head.sequence,
            encode_story(head.story),
            head.run_key,
        ),
    )


def save_story(db: apsw.Connection, head: Head) -> None:
    """Write the state of a run as far as this process knows it, unless the row is further already."""
    db.execute(
        "UPDATE runs SET status = ?, updated_ns = ?, head_sequence = ?, head_hash = ?, state_sequence = ?, state = ? "
        "WHERE run_key = ? AND state_sequence <= ? AND head_sequence <= ?",
        (
            head.story.run.status,
            head.updated_ns,
            head.sequence,
            head.hash,
            head.sequence,
            encode_story(head.story),
            head.run_key,
            head.sequence,
            head.sequence,
        ),
    )


def move_lease(db: apsw.Connection, run_key: int) -> int:
    """Give the run's lease a new generation and return it; every earlier one is stale from now on."""
    moved = "UPDATE runs SET lease_generation = lease_generation + 1 WHERE run_key = ? RETURNING lease_generation"
    return int(next(db.execute(moved, (run_key,)))[0])


def lease_of(db: apsw.Connection, run_key: int) -> int:
    """The generation of a run's lease."""
    return int(next(db.execute("SELECT lease_generation FROM runs WHERE run_key = ?", (run_key,)))[0])


def load_head(db: apsw.Connection, run_id: str, unsealed: Unsealed, known: Known | None = None) -> Head | None:
    """A run's end as row and log tell it together, or None."""
    row = db.execute(f"SELECT {_COLUMNS} FROM runs WHERE run_id = ? AND status != ?", (run_id, IMPORTING)).fetchone()
    return None if row is None else _head(db, row, unsealed, known)


def list_heads(
    db: apsw.Connection,
    unsealed: Unsealed,
    where: str,
    values: tuple[object, ...],
    limit: int,
    *,
    known: Known,
) -> Iterator[Head]:
    """Runs that fit a condition, newest first. No event is told again of one that is known, or that has been told before."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM runs WHERE status != ? AND ({where}) ORDER BY run_key DESC LIMIT ?",
        (IMPORTING, *values, limit),
    )
    found: list[_Row] = list(rows)
    for row in found:
        yield known.head(row[1]) or _head(db, row, unsealed, known)


def _head(db: apsw.Connection, row: _Row, unsealed: Unsealed, known: Known | None) -> Head:
    run_key, run_id, task_id, session_id, agent, created_ns, updated_ns, first, sequence, chain, lease, told, state = (
        row
    )
    tip = unsealed.tip(run_key)
    if tip is not None and tip[0] > sequence:
        sequence, chain = tip
    head = Head(
        run_key=run_key,
        birth=RunBirth(run_id, task_id, session_id, agent),
        created_ns=created_ns,
        updated_ns=updated_ns,
        writer=EnvelopeWriter(run_id=run_id, task_id=task_id, session_id=session_id),
        first_sequence=first,
        sequence=sequence,
        hash=chain,
        lease_generation=lease,
        story=decode_story(state),
    )
    if known is not None:
        told = known.go_on(head, told)
    if told < head.sequence:
        told = _catch_up(db, head, told, unsealed)
        if known is not None:
            known.keep(head, told)
    return head


def _catch_up(db: apsw.Connection, head: Head, told: int, unsealed: Unsealed) -> int:
    """Tell the events that came after the stored state: text deltas and the like, which change no row.

    Returns through which event that was: this snapshot may be older than what is known of the run's end.
    """
    while told < head.sequence:
        segment = read_segment(db, head.run_key, told, unsealed.positions(head.run_key, told, 64))
        if segment is None:
            break
        for _, stored in split(segment.frames):
            head.story = retell(head.story, stored)
        head.updated_ns = nanoseconds(occurred_at_of(stored))
        told = segment.last
    return told


def sweep(db: apsw.Connection) -> None:
    """Remove what a crash has left behind: imports that did not succeed, commits that are sealed already."""
    with writing(db):
        db.execute("DELETE FROM commits WHERE position <= (SELECT max(last_position) FROM feed)")
        db.execute("DELETE FROM chunks WHERE run_key IN (SELECT run_key FROM runs WHERE status = ?)", (IMPORTING,))
        db.execute("DELETE FROM runs WHERE status = ?", (IMPORTING,))
