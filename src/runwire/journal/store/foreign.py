"""What another process has committed, read as if this one had: for those who follow a run here and must not wait."""

from collections.abc import Iterator, Sequence
from zlib import crc32

import apsw
from msgspec import Struct

from runwire.errors import StoreCorrupt
from runwire.journal.records import Commit, Foreign
from runwire.journal.store.entries import Entry, unpack, unpack_places

# A live reader wants the newest; whoever is further behind reads the store.
_SHOWN_BYTES = 4 * 1024 * 1024


class Found(Struct, frozen=True, gc=False):
    """A commit row without its body."""

    position: int
    count: int
    packed: bytes
    entries: list[Entry]

    @property
    def size(self) -> int:
        """How many bytes its body has."""
        return sum([entry.length for entry in self.entries])


def find_commits(db: apsw.Connection, start: int) -> Iterator[Found]:
    """The commits from position `start` on that no chunk holds yet, in order."""
    rows = db.execute("SELECT position, count, entries FROM commits WHERE position >= ? ORDER BY position", (start,))
    for position, count, packed in rows:
        yield Found(position, count, packed, list(unpack(packed)))


def foreign_commits(db: apsw.Connection, found: Sequence[Found], names: dict[int, str]) -> Foreign:
    """Whose commits those are, and the newest of them with their bodies; `names` remembers run key → run id."""
    foreign = Foreign(run_ids={_name(db, entry.run_key, names) for one in found for entry in one.entries})
    size = 0
    for one in reversed(found):
        size += one.size
        # An import has put its events into chunks, so its commit has nothing to show.
        if size > _SHOWN_BYTES or not all(entry.length for entry in one.entries):
            foreign.whole = False
            break
        foreign.commits.append(_commit(db, one, names))
    foreign.commits.reverse()
    return foreign


def foreign_runs(db: apsw.Connection, start: int, names: dict[int, str]) -> set[str]:
    """Whose events have been sealed from position `start` on."""
    rows = db.execute("SELECT entries FROM feed WHERE last_position >= ?", (start,))
    keys = {run_key for (packed,) in rows for run_key, _, _ in unpack_places(packed)}
    return {_name(db, run_key, names) for run_key in keys}


def _commit(db: apsw.Connection, found: Found, names: dict[int, str]) -> Commit:
    checksum, body = next(db.execute("SELECT checksum, body FROM commits WHERE position = ?", (found.position,)))
    if crc32(body) != checksum:
        raise StoreCorrupt(f"commit {found.position}: its checksum does not fit its body")
    run_ids = [_name(db, entry.run_key, names) for entry in found.entries]
    return Commit(found.position, found.count, run_ids, found.packed, body)


def _name(db: apsw.Connection, run_key: int, names: dict[int, str]) -> str:
    name = names.get(run_key)
    if name is None:
        row = db.execute("SELECT run_id FROM runs WHERE run_key = ?", (run_key,)).fetchone()
        # A run that was deleted meanwhile has no name, and nobody who follows it.
        name = names[run_key] = "" if row is None else str(row[0])
    return name
