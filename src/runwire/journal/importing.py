"""Importing: a file of envelopes becomes a run, byte for byte, or nothing of it stays.

The file is proven first. Its events then go straight into chunks of a run that nobody can see yet; one last transaction
gives the run its place in the feed and lets it be seen.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw
from msgspec import UNSET

from runwire.errors import ImportConflict, ImportInvalid, RunNotFound, SecretInImport, StoreError
from runwire.journal.frames import END, envelopes, frame
from runwire.journal.journal import Journal
from runwire.journal.records import Head, RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.store.database import writing
from runwire.journal.store.reading import deflate
from runwire.journal.store.rows import IMPORTING, insert_run, sweep
from runwire.journal.store.sealing import CHUNK_BYTES, Chunk, insert_chunks
from runwire.journal.story import retell
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import Envelope, data_of, decode_envelope, occurred_at_of, sequence_of, type_of
from runwire.protocol.lifecycle import Breach
from runwire.protocol.moment import nanoseconds
from runwire.protocol.stream import COMPACTABLE, Delta, StreamKey, stream_key, text_of
from runwire.protocol.verify import Verifier

_READ_BYTES = 1024 * 1024
# How far back a secret may begin, and in how many streams at once it is looked for.
_REACH_CHARS = 4_096
_STREAMS_MAX = 64


@dataclass(frozen=True, slots=True)
class Proven:
    """What a file was found to hold."""

    birth: RunBirth
    first: int
    last: int
    hash: bytes


class Importer:
    """Takes in files of envelopes, one at a time."""

    def __init__(self, *, journal: Journal) -> None:
        """Import into this journal."""
        self._journal = journal
        self._alone = asyncio.Lock()

    async def take(self, file: Path, *, agent: str = "external") -> str:
        """Take in a file, one envelope a line, and return its run's id. A run that is here with other bytes is refused."""
        journal = self._journal
        # Held from end to end: a process that starts meanwhile would sweep away what is not whole yet.
        async with self._alone, journal.keeper.held():
            proven = await journal.keeper.exclusively(lambda _: prove(file, journal.redactor, agent))
            if not await _is_here(journal, file, proven):
                try:
                    head = await journal.keeper.exclusively(lambda db: _fill(db, file, proven))
                    await journal.adopt(head, proven.last - proven.first + 1)
                except StoreError:
                    await journal.keeper.exclusively(sweep)
                    raise
        return proven.birth.run_id


def lines_of(file: Path) -> Iterator[bytes]:
    """The lines of a file, split at newlines and nowhere else."""
    with file.open("rb") as source:
        for line in source:
            yield line.removesuffix(b"\n")


def prove(file: Path, redactor: Redactor, agent: str) -> Proven:
    """Hold the file against every rule of the protocol, and against the secrets of this process."""
    verifier = Verifier(live=True)
    streams = _Streams(redactor)
    first: Envelope | None = None
    jumps: dict[int, int] = {}
    number = expected = 0
    for number, line in enumerate(lines_of(file), start=1):
        _refuse(verifier.feed(line), jumps, number)
        kind = redactor.contains_known_value(line) or streams.secret_in(line)
        if kind is not None:
            raise SecretInImport(line=number, kind=kind)
        if first is None:
            first = decode_envelope(line)
        sequence = sequence_of(line)
        if sequence != expected:
            # A marker further on may explain this hole; should none, here is where it is.
            jumps[expected] = number
        expected = sequence + 1
    _refuse(verifier.close(), jumps, max(1, number))
    if first is None:
        raise ImportInvalid("the file holds no envelope", line=1)
    task_id = None if first.task_id is UNSET else first.task_id
    session_id = None if first.session_id is UNSET else first.session_id
    birth = RunBirth(first.run_id, task_id, session_id, agent)
    return Proven(birth, first.sequence, verifier.last_sequence, verifier.head)


def _refuse(breaches: Sequence[Breach], jumps: Mapping[int, int], line: int) -> None:
    for breach in breaches:
        raise ImportInvalid(f"{breach.rule}: {breach.message}", line=jumps.get(breach.sequence, line))


class _Streams:
    """Looks for secrets that lie across the pieces of a stream, where no single line holds one."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._ends: dict[StreamKey, str] = {}

    def secret_in(self, line: bytes) -> str | None:
        """The kind of a known value that ends in this piece."""
        event_type = type_of(line)
        if event_type not in COMPACTABLE:
            return None
        piece = decode_payload(event_type, data_of(line))
        if not isinstance(piece, Delta):
            return None
        key = stream_key(piece)
        text = self._ends.pop(key, "") + text_of(piece)
        self._ends[key] = text[-_REACH_CHARS:]
        if len(self._ends) > _STREAMS_MAX:
            del self._ends[next(iter(self._ends))]
        return self._redactor.contains_known_value(text.encode("utf-8", "surrogatepass"))


async def _is_here(journal: Journal, file: Path, proven: Proven) -> bool:
    """Whether the run is here with just these bytes; with others it is a conflict."""
    run_id = proven.birth.run_id
    try:
        info = await journal.reader.run(run_id)
    except RunNotFound:
        return False
    cursor = -1
    stored: Iterator[bytes] = iter(())
    for line in lines_of(file):
        found = next(stored, None)
        if found is None:
            batch = await journal.reader.read(run_id, cursor, _READ_BYTES)
            stored = iter(()) if batch is None else envelopes(batch.frames)
            cursor = cursor if batch is None else batch.last
            found = next(stored, None)
        if found != line:
            raise ImportConflict(run_id, sequence=sequence_of(line))
    if info.head_sequence != proven.last:
        raise ImportConflict(run_id, sequence=proven.last + 1)
    return True


def _fill(db: apsw.Connection, file: Path, proven: Proven) -> Head:
    """Write the chunks of an unseen run and tell its story."""
    with writing(db):
        head = insert_run(db, proven.birth, 0)
        db.execute("UPDATE runs SET status = ? WHERE run_key = ?", (IMPORTING, head.run_key))
    head.first_sequence, head.sequence, head.hash = proven.first, proven.last, proven.hash
    frames: list[bytes] = []
    size, first = 0, proven.first
    for line in lines_of(file):
        sequence = sequence_of(line)
        head.story = retell(head.story, line)
        head.updated_ns = nanoseconds(occurred_at_of(line))
        head.created_ns = head.created_ns or head.updated_ns
        frames.append(frame(sequence, line))
        size += len(frames[-1])
        if size >= CHUNK_BYTES or sequence == proven.last:
            _write_chunk(db, head.run_key, first, b"".join(frames))
            frames, size, first = [], 0, sequence + 1
    return head


def _write_chunk(db: apsw.Connection, run_key: int, first: int, frames: bytes) -> None:
    last = frames[frames.rfind(END, 0, len(frames) - 2) + 2 :]
    chunk = Chunk(
        run_key, first, sequence_of(last), frames.count(END), len(frames), occurred_at_of(last), deflate(frames)
    )
    with writing(db):
        insert_chunks(db, [chunk])
