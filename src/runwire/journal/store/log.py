"""The write side of the log: one transaction per group commit, one row for all the events in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from zlib import crc32

import apsw

from runwire.clock import Clock, rfc3339
from runwire.errors import Conflict, RunExists, RunNotFound, RunwireError, StoreCorrupt
from runwire.ids import Ids
from runwire.journal.records import Commit, Effect, Foreign, Head, Stored
from runwire.journal.stamping import (
    Admitted,
    Claim,
    Growth,
    Item,
    Request,
    Stamped,
    admit,
    admit_items,
    fold,
    no_growth,
    stamp,
)
from runwire.journal.store.database import Patience, roll_back, snapshot, translated, writing
from runwire.journal.store.entries import pack
from runwire.journal.store.foreign import Found, find_commits, foreign_commits, foreign_runs
from runwire.journal.store.ground import Ground
from runwire.journal.store.rows import insert_run, lease_of, load_head, move_lease, save_growths, save_head
from runwire.journal.store.unsealed import Unsealed

_WAIT_S = 5.0
_NAMES_MAX = 65_536


@dataclass(slots=True)
class Outcome:
    """What came of a group of requests, once it is durable."""

    stored: list[tuple[Request, Stored]] = field(default_factory=list)
    refused: list[tuple[Request, RunwireError]] = field(default_factory=list)
    commit: Commit | None = None


class Log:
    """Appends groups of requests. Sequence, lease and chain are decided inside the transaction."""

    def __init__(self, *, db: apsw.Connection, patience: Patience, unsealed: Unsealed, clock: Clock, ids: Ids) -> None:
        """Take over a writer's connection and learn where the log ends."""
        self._db = db
        self._ground = Ground(db)
        self._patience = patience
        self.unsealed = unsealed
        self._clock = clock
        self._ids = ids
        self._heads: dict[str, Head] = {}
        self._version = -1
        self.sync_s = 0.0
        """How long the disk took for the last commit."""
        self._moments = 0
        """How often the leases may have moved without this process: each time, a head's lease is looked up anew."""
        self._names: dict[int, str] = {}
        self._foreign: Foreign | None = None
        self._next_position = 0
        with translated():
            db.execute("BEGIN IMMEDIATE")
            try:
                require_whole_feed(db)
                # What was there before us is no news.
                self._catch_up(known=int(next(db.execute("SELECT next_position FROM feed_end"))[0]))
            finally:
                roll_back(db)

    @property
    def next_position(self) -> int:
        """The feed position that the next event will take."""
        return self._next_position

    @property
    def wal_bytes(self) -> int:
        """How much of the WAL is in use."""
        return self._ground.used

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
            self._ground.lay(0)
            effect(self._db)

    def look(self) -> bool:
        """Learn what other processes have committed; say whether anything at all has changed in the store."""
        before = self._version
        with snapshot(self._db):
            # The version is that of the snapshot, which begins with the first thing that is read in it.
            self._db.execute("SELECT next_position FROM feed_end").fetchone()
            self._catch_up()
        return self._version != before

    def take_foreign(self) -> Foreign | None:
        """What other processes have committed and nobody here has been told of yet."""
        foreign, self._foreign = self._foreign, None
        return foreign

    def adopt(self, head: Head, count: int) -> None:
        """Give a run whose events are in chunks already its place in the feed, and let it be seen."""
        self._patience.wait_s = _WAIT_S
        with writing(self._db):
            self._catch_up()
            entry = pack(head.run_key, head.first_sequence, count, 0, head.hash)
            save_head(self._db, head)
            self._insert_commit(self._next_position, count, entry, b"")
        self.unsealed.add(self._next_position, entry, 0)
        self._next_position += count

    def append(self, requests: Sequence[Request], *, wait_s: float) -> Outcome:
        """Make the requests durable in one transaction; wait at most `wait_s` for another process's lock."""
        db = self._db
        with translated():
            self._patience.wait_s = wait_s
            db.execute("BEGIN IMMEDIATE")
            try:
                self._catch_up()
                outcome, growths = self._write(requests)
                start = perf_counter()
                db.execute("COMMIT")
                self.sync_s = perf_counter() - start
                self._version = db.data_version()
            except BaseException:
                roll_back(db)
                # A lease that was looked up in there may be one that was moved in there, too.
                self._moments += 1
                raise
        self._take_effect(outcome, growths)
        return outcome

    def _take_effect(self, outcome: Outcome, growths: dict[str, Growth]) -> None:
        heads = self._heads
        for run_id, growth in growths.items():
            heads[run_id] = growth.head
            growth.take_effect()
        commit = outcome.commit
        if commit is not None:
            self.unsealed.add(commit.position, commit.entries, len(commit.body))
            self._next_position += commit.count

    def _write(self, requests: Sequence[Request]) -> tuple[Outcome, dict[str, Growth]]:
        outcome = Outcome()
        growths: dict[str, Growth] = {}
        admitted: list[Admitted] = []
        heads, moments = self._heads, self._moments
        now_ns = self._clock.now_ns()
        for request in requests:
            run_id, items, lease = request.run_id, request.items, request.lease
            growth = growths.get(run_id)
            # Nearly every request is plain, of a run that is known, alive and its holder's; the rest takes the long way.
            if growth is None and request.plain and (head := heads.get(run_id)) is not None and not head.finished:
                if lease is None or (lease == head.lease_generation and head.lease_seen == moments):
                    growth = growths[run_id] = no_growth(head)
            elif growth is not None and (
                not request.plain
                or growth.story.run.finished
                or (lease is not None and (lease != growth.generation or growth.head.lease_seen != moments))
            ):
                growth = None
            if growth is None:
                try:
                    growth, items = self._grow(growths, request, now_ns)
                except RunwireError as refusal:
                    outcome.refused.append((request, refusal))
                    continue
            fold(growth, items, now_ns)
            admitted.append((growth, items, request))
        if len(admitted) > len(growths):
            # What is of one run lies side by side.
            place = {run_id: number for number, run_id in enumerate(growths)}
            admitted.sort(key=lambda one: place[one[2].run_id])
        if admitted:
            stamped = stamp(admitted, lambda count: self._ids.many("evt", count), rfc3339(now_ns))
            outcome.stored = _stored(admitted, stamped, self._next_position)
            outcome.commit = self._lay_out(growths, stamped.frames)
        return outcome, growths

    def _lay_out(self, growths: dict[str, Growth], frames: list[bytes]) -> Commit:
        """Write the growths as one commit."""
        entries: list[bytes] = []
        end = 0
        for growth in growths.values():
            first = growth.first
            count = growth.sequence - first + 1
            start, end = end, end + count
            size = len(frames[start]) if count == 1 else sum(map(len, frames[start:end]))
            entries.append(pack(growth.head.run_key, first, count, size, growth.hash))
        # Most events change nothing of the story, and then nothing of the row either.
        changed = [
            growth
            for growth in growths.values()
            if (growth.story is not growth.head.story or not growth.first) and growth.changes_state
        ]
        if changed:
            save_growths(self._db, changed)
        commit = Commit(self._next_position, len(frames), list(growths), b"".join(entries), b"".join(frames))
        self._insert_commit(commit.position, commit.count, commit.entries, commit.body)
        self._ground.lay(len(commit.body))
        return commit

    def _grow(self, growths: dict[str, Growth], request: Request, now_ns: int) -> tuple[Growth, Sequence[Item]]:
        items = request.items
        if request.birth is None and request.also is None and request.claim is None:
            growth = self._admitted(growths, request, now_ns)
        else:
            growth, items = self._admitted_with_state(growths, request, now_ns)
        growths[request.run_id] = growth
        return growth, items

    def _admitted_with_state(
        self, growths: dict[str, Growth], request: Request, now_ns: int
    ) -> tuple[Growth, Sequence[Item]]:
        """Admit a request that writes rows of its own: refused, it leaves none of them behind."""
        items = request.items
        self._db.execute("SAVEPOINT request")
        try:
            growth = self._admitted(growths, request, now_ns)
            if request.also is not None:
                request.also(self._db)
            if request.claim is not None:
                items = self._claimed(growth, request.claim)
        except RunwireError:
            self._db.execute("ROLLBACK TO request")
            raise
        finally:
            self._db.execute("RELEASE request")
        return growth, items

    def _claimed(self, growth: Growth, claim: Claim) -> Sequence[Item]:
        """Move the run's lease and hear what there is to tell of it. Nothing of the growth changes unless all is well."""
        run_id = growth.head.birth.run_id
        info = growth.info()
        generation = move_lease(self._db, growth.head.run_key)
        claim.also(self._db, generation)
        items = claim.tell(info)
        if not items:
            raise Conflict(f"there is nothing to tell of {run_id}, so it is not claimed")
        admit_items(growth, run_id, items)
        growth.generation = claim.generation = generation
        growth.head.lease_seen = self._moments
        claim.info = info
        return items

    def _admitted(self, growths: dict[str, Growth], request: Request, now_ns: int) -> Growth:
        growth = growths.get(request.run_id)
        if growth is None:
            growth = no_growth(self._find(request, now_ns))
        elif request.birth is not None:
            raise RunExists(request.run_id)
        if request.lease is not None and growth.head.lease_seen != self._moments:
            growth.generation = growth.head.lease_generation = lease_of(self._db, growth.head.run_key)
            growth.head.lease_seen = self._moments
        admit(growth, request)
        return growth

    def _find(self, request: Request, now_ns: int) -> Head:
        head = self._heads.get(request.run_id)
        if head is None:
            head = load_head(self._db, request.run_id, self.unsealed)
            if head is not None:
                head.lease_seen = self._moments
        if request.birth is not None:
            if head is not None:
                raise RunExists(request.run_id)
            head = insert_run(self._db, request.birth, now_ns)
            head.lease_seen = self._moments
        if head is None:
            raise RunNotFound(request.run_id)
        return head

    def _catch_up(self, known: int | None = None) -> None:
        """Learn what other connections have committed since our last transaction. From position `known` on it is news."""
        version = self._db.data_version()
        if version == self._version:
            return
        self._moments += 1
        known = self._next_position if known is None else known
        sealed = int(next(self._db.execute("SELECT ifnull(max(last_position), -1) FROM feed"))[0])
        if sealed > self.unsealed.sealed_through or sealed >= self._next_position:
            # Another process has sealed, or ours has sealed what another wrote: what we know of the end is out of date.
            if sealed >= known:
                self._hear(Foreign(run_ids=foreign_runs(self._db, known, self._names), whole=False))
            self.unsealed.restart(sealed)
            self._heads.clear()
            self._next_position = sealed + 1
        news: list[Found] = []
        for commit in find_commits(self._db, self._next_position):
            self.unsealed.add(commit.position, commit.packed, commit.size)
            self._next_position = commit.position + commit.count
            if commit.position >= known:
                news.append(commit)
        if news:
            self._hear(foreign_commits(self._db, news, self._names))
            touched = {entry.run_key for commit in news for entry in commit.entries}
            self._heads = {run_id: head for run_id, head in self._heads.items() if head.run_key not in touched}
        self._version = version

    def _hear(self, foreign: Foreign) -> None:
        if self._foreign is None:
            self._foreign = foreign
        else:
            self._foreign.join(foreign)
        if len(self._names) > _NAMES_MAX:
            self._names.clear()

    def _insert_commit(self, position: int, count: int, entries: bytes, body: bytes) -> None:
        self._db.execute(
            "INSERT INTO commits (position, count, entries, checksum, body) VALUES (?, ?, ?, ?, ?)",
            (position, count, entries, crc32(body), body),
        )
        self._db.execute("UPDATE feed_end SET next_position = ?", (position + count,))


def _stored(admitted: Sequence[Admitted], stamped: Stamped, position: int) -> list[tuple[Request, Stored]]:
    """What each requester is told: its last event, and where in the feed that lies."""
    stored: list[tuple[Request, Stored]] = []
    last = -1
    for _, items, request in admitted:
        last += len(items)
        told = Stored(request.run_id, stamped.sequences[last], stamped.event_ids[last], position + last)
        stored.append((request, told))
    return stored


def require_whole_feed(db: apsw.Connection) -> None:
    """Refuse a store that has lost commits: what is sealed and what is not must reach to where the feed is known to end."""
    sealed = int(next(db.execute("SELECT ifnull(max(last_position), -1) FROM feed"))[0])
    reached = sealed + 1
    for position, count in db.execute(
        "SELECT position, count FROM commits WHERE position > ? ORDER BY position", (sealed,)
    ):
        if position != reached:
            break
        reached += count
    end = int(next(db.execute("SELECT next_position FROM feed_end"))[0])
    if reached != end:
        raise StoreCorrupt(f"the commits from position {reached} on are gone, and the feed ends at {end}")
