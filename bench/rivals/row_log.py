"""The rival of the journal: one row per event, clustered by (run, sequence), as most event stores are laid out.

It gets every help but another layout: the same library, settings and encoder, a writer thread that commits whatever has
gathered, one wake-up of the loop per commit. It makes its envelopes as anybody must who learns the sequence at the end,
but it neither redacts nor chains nor folds.
"""

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import apsw
import msgspec

from bench.rivals.sqlite_raw import Settings, commit, connect
from runwire.clock import SystemClock, rfc3339
from runwire.ids import Ids
from runwire.protocol.envelope import Envelope, encode_envelope
from runwire.protocol.payload import Opaque, Payload, encode_payload

_TABLE = (
    "CREATE TABLE IF NOT EXISTS events (run_id TEXT, sequence INTEGER, envelope BLOB, "
    "PRIMARY KEY (run_id, sequence)) WITHOUT ROWID"
)
_INSERT = "INSERT INTO events VALUES (?, ?, ?)"

_Waiting = tuple[str, Sequence[Payload | Opaque], asyncio.Future[None]]


class RowLog:
    """Appends rows from asyncio producers; each append returns once its row is durable."""

    def __init__(self, file: Path, settings: Settings) -> None:
        self._loop = asyncio.get_running_loop()
        self._connection = connect(file, settings)
        self._connection.execute(_TABLE)
        self._next: dict[str, int] = dict(
            self._connection.execute("SELECT run_id, max(sequence) + 1 FROM events GROUP BY run_id")
        )
        self._waiting: list[_Waiting] = []
        self._grown = threading.Condition()
        self._closing = False
        self._clock = SystemClock()
        self._ids = Ids(now_ns=self._clock.now_ns, random_bytes=os.urandom)
        self._thread = threading.Thread(target=self._write, name="row-log-writer")
        self.commits = 0

    async def __aenter__(self) -> Self:
        self._thread.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        with self._grown:
            self._closing = True
            self._grown.notify()
        await asyncio.to_thread(self._thread.join)
        self._connection.close()

    def append(self, run_id: str, payload: Payload | Opaque) -> asyncio.Future[None]:
        """Store one event; the future is done when it is durable."""
        return self.append_all(run_id, (payload,))

    def append_all(self, run_id: str, payloads: Sequence[Payload | Opaque]) -> asyncio.Future[None]:
        """Store several events of one run in one transaction."""
        durable = self._loop.create_future()
        with self._grown:
            self._waiting.append((run_id, payloads, durable))
            self._grown.notify()
        return durable

    def _write(self) -> None:
        while True:
            with self._grown:
                while not self._waiting and not self._closing:
                    self._grown.wait()
                gathered, self._waiting = self._waiting, []
            if not gathered:
                return
            commit(self._connection, _INSERT, list(self._rows(gathered)))
            self.commits += 1
            self._loop.call_soon_threadsafe(_acknowledge, gathered)

    def _rows(self, gathered: list[_Waiting]) -> Iterator[tuple[str, int, bytes]]:
        for run_id, payloads, _ in gathered:
            first = self._next.get(run_id, 0)
            for sequence, payload in enumerate(payloads, start=first):
                envelope = Envelope(
                    schema_version="1",
                    event_id=self._ids.new("evt"),
                    run_id=run_id,
                    sequence=sequence,
                    occurred_at=rfc3339(self._clock.now_ns()),
                    type=payload.type,
                    data=msgspec.Raw(encode_payload(payload)),
                )
                yield run_id, sequence, encode_envelope(envelope)
            self._next[run_id] = first + len(payloads)


def _acknowledge(gathered: list[_Waiting]) -> None:
    for _, _, durable in gathered:
        durable.set_result(None)


def fill(file: Path, settings: Settings, rows: Iterator[tuple[str, int, bytes]]) -> None:
    """Store these rows as fast as possible, without any promise of durability on the way."""
    connection = connect(file, settings)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute(_TABLE)
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(_INSERT, rows)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def read_row_by_row(file: Path, run_id: str) -> tuple[int, int]:
    """Read a run's events in one loop, a row at a time; returns how many events and bytes were seen."""
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    statement = "SELECT sequence, envelope FROM events WHERE run_id = ? ORDER BY sequence"
    count = size = 0
    for _, envelope in connection.execute(statement, (run_id,)):
        count += 1
        size += len(envelope)
    connection.close()
    return count, size
