"""The write side of the log: one transaction per group commit, one row for all the events in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import apsw

from runwire.errors import RunExists, RunNotFound, RunwireError
from runwire.journal.records import Commit, Effect, Head, Segment, Stored
from runwire.journal.stamping import Growth, Request, admit, no_growth, stamp
from runwire.journal.store.database import Patience, roll_back, translated, writing
from runwire.journal.store.entries import Entry, pack, unpack
from runwire.journal.store.rows import insert_run, load_head, save_growth, save_head
from runwire.journal.store.unsealed import Unsealed

_WAIT_S = 5.0


@dataclass(slots=True)
class Outcome:
    """What came of a group of requests, once it is durable."""

    stored: list[tuple[Request, Stored]] = field(default_factory=list)
    refused: list[tuple[Request, RunwireError]] = field(default_factory=list)
    commit: Commit | None = None


class Log:
    """Appends groups of requests. Sequence, lease and chain are decided inside the transaction."""

    def __init__(
        self, *, db: apsw.Connection, patience: Patience, unsealed: Unsealed, new_id: Callable[[str], str]
    ) -> None:
        """Take over a writer's connection and learn where the log ends."""
        self._db = db
        self._patience = patience
        self.unsealed = unsealed
        self._new_id = new_id
        self._heads: dict[str, Head] = {}
        self._version = -1
        self._leases_may_have_moved = True
        self._next_position = 0
        with translated():
            db.execute("BEGIN IMMEDIATE")
            try:
                self._catch_up()
            finally:
                roll_back(db)

    @property
    def next_position(self) -> int:
        """The feed position that the next event will take."""
        return self._next_position

    def head(self, run_id: str) -> Head | None:
        """Where a run ends, if this process has had to know."""
        return self._heads.get(run_id)

    def forget(self, run_id: str) -> None:
        """Drop what is remembered of a run: it will be read again."""
        self._heads.pop(run_id, None)

    def run(self, effect: Effect) -> None:
        """Change state that no event tells of, in a transaction of its own."""
        self._patience.wait_s = _WAIT_S
        with writing(self._db):
            effect(self._db)

    def adopt(self, head: Head, count: int) -> Commit:
        """Give a run whose events are in chunks already its place in the feed, and let it be seen."""
        self._patience.wait_s = _WAIT_S
        with writing(self._db):
            self._catch_up()
            entry = Entry(head.run_key, head.first_sequence, count, 0, head.hash)
            save_head(self._db, head)
            insert_commit(self._db, self._next_position, count, [entry], b"")
        commit = Commit(self._next_position, count, (), 0)
        self.unsealed.add(commit.position, (entry,), 0)
        self._next_position += count
        return commit

    def append(self, requests: Sequence[Request], *, wait_s: float) -> Outcome:
        """Make the requests durable in one transaction; wait at most `wait_s` for another process's lock."""
        db = self._db
        with translated():
            self._patience.wait_s = wait_s
            db.execute("BEGIN IMMEDIATE")
            try:
                self._catch_up()
                outcome, growths = self._write(requests)
                db.execute("COMMIT")
            except BaseException:
                roll_back(db)
                raise
        self._take_effect(outcome, growths)
        return outcome

    def _take_effect(self, outcome: Outcome, growths: list[tuple[Growth, Entry]]) -> None:
        for growth, _ in growths:
            self._heads[growth.head.birth.run_id] = growth.head
            growth.take_effect()
        if outcome.commit is not None:
            self.unsealed.add(outcome.commit.position, [entry for _, entry in growths], outcome.commit.size)
            self._next_position += outcome.commit.count

    def _write(self, requests: Sequence[Request]) -> tuple[Outcome, list[tuple[Growth, Entry]]]:
        outcome = Outcome()
        growths: dict[str, Growth] = {}
        admitted: list[tuple[Request, int, str]] = []
        for request in requests:
            growth = growths.get(request.run_id)
            # Nearly every request is one plain event of a run that is known and alive; the rest takes the long way.
            if growth is None or not request.plain or growth.story.run.finished:
                try:
                    growth = self._grow(growths, request)
                except RunwireError as refusal:
                    outcome.refused.append((request, refusal))
                    continue
            stamp(growth, request.items, self._new_id)
            admitted.append((request, growth.sequence, growth.event_id))
        start = position = self._next_position
        segments: list[Segment] = []
        entries: list[Entry] = []
        bases: dict[str, int] = {}
        for run_id, growth in growths.items():
            frames, count = b"".join(growth.frames), len(growth.frames)
            segments.append(Segment(run_id, growth.first, growth.sequence, frames))
            entries.append(Entry(growth.head.run_key, growth.first, count, len(frames), growth.hash))
            bases[run_id] = position - growth.first
            position += count
            if growth.changes_state:
                save_growth(self._db, growth)
        outcome.stored = [
            (request, Stored(request.run_id, sequence, event_id, bases[request.run_id] + sequence))
            for request, sequence, event_id in admitted
        ]
        if segments:
            body = b"".join([segment.frames for segment in segments])
            insert_commit(self._db, start, position - start, entries, body)
            outcome.commit = Commit(start, position - start, segments, len(body))
        return outcome, list(zip(growths.values(), entries, strict=True))

    def _grow(self, growths: dict[str, Growth], request: Request) -> Growth:
        run_id = request.run_id
        if request.plain and run_id not in growths:
            head = self._heads.get(run_id)
            if head is not None and not head.story.run.finished:
                growth = growths[run_id] = no_growth(head)
                return growth
        if request.birth is None and request.also is None:
            growth = self._admitted(growths, request)
        else:
            growth = self._admitted_with_state(growths, request)
        growths[run_id] = growth
        return growth

    def _admitted_with_state(self, growths: dict[str, Growth], request: Request) -> Growth:
        """Admit a request that writes rows of its own: refused, it leaves none of them behind."""
        self._db.execute("SAVEPOINT request")
        try:
            growth = self._admitted(growths, request)
            if request.also is not None:
                request.also(self._db)
        except RunwireError:
            self._db.execute("ROLLBACK TO request")
            raise
        finally:
            self._db.execute("RELEASE request")
        return growth

    def _admitted(self, growths: dict[str, Growth], request: Request) -> Growth:
        growth = growths.get(request.run_id)
        if growth is None:
            growth = no_growth(self._find(request))
        elif request.birth is not None:
            raise RunExists(request.run_id)
        admit(growth, request)
        return growth

    def _find(self, request: Request) -> Head:
        head = self._heads.get(request.run_id) or load_head(self._db, request.run_id, self.unsealed)
        if request.birth is not None:
            if head is not None:
                raise RunExists(request.run_id)
            return insert_run(self._db, request.birth, request.items[0].occurred_ns)
        if head is None:
            raise RunNotFound(request.run_id)
        if request.lease is not None and self._leases_may_have_moved:
            self._refresh_lease(head)
        return head

    def _refresh_lease(self, head: Head) -> None:
        row = self._db.execute("SELECT lease_generation FROM runs WHERE run_key = ?", (head.run_key,)).fetchone()
        if row is not None:
            head.lease_generation = row[0]

    def _catch_up(self) -> None:
        """Learn what other connections have committed since our last transaction; nobody can commit while we look."""
        version = self._db.pragma("data_version")
        self._leases_may_have_moved = version != self._version
        if version == self._version:
            return
        sealed = int(next(self._db.execute("SELECT ifnull(max(last_position), -1) FROM feed"))[0])
        if sealed > self.unsealed.sealed_through or sealed >= self._next_position:
            # Another process has sealed, or ours has sealed what another wrote: what we know of the end is out of date.
            self.unsealed.restart(sealed)
            self._heads.clear()
            self._next_position = sealed + 1
        touched: set[int] = set()
        newer = "SELECT position, count, entries FROM commits WHERE position >= ? ORDER BY position"
        for position, count, packed in self._db.execute(newer, (self._next_position,)):
            entries = list(unpack(packed))
            self.unsealed.add(position, entries, sum(entry.length for entry in entries))
            touched.update(entry.run_key for entry in entries)
            self._next_position = position + count
        if touched:
            self._heads = {run_id: head for run_id, head in self._heads.items() if head.run_key not in touched}
        self._version = version


def insert_commit(db: apsw.Connection, position: int, count: int, entries: list[Entry], body: bytes) -> None:
    """Write one commit row."""
    db.execute(
        "INSERT INTO commits (position, count, entries, checksum, body) VALUES (?, ?, ?, ?, ?)",
        (position, count, b"".join(map(pack, entries)), crc32(body), body),
    )
