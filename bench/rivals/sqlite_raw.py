"""The limit of a durable append: SQLite alone, one thread, `executemany` of ready-made rows, one commit a batch.

Nothing else runs: no event loop, no encoding, no sequence to take. The table is filled in append order, which is the
fastest a row-per-event table can be written.
"""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from bench.corpus import envelopes, identifier_list


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that decide what a commit costs; ours are read from our own store and given to everyone."""

    page_size: int = 4096
    synchronous: str = "FULL"
    wal_autocheckpoint: int = 1000


def connect(file: Path, settings: Settings) -> apsw.Connection:
    """Open a database in WAL mode with these settings."""
    connection = apsw.Connection(str(file))
    connection.execute(f"PRAGMA page_size={settings.page_size}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute(f"PRAGMA synchronous={settings.synchronous}")
    connection.execute(f"PRAGMA wal_autocheckpoint={settings.wal_autocheckpoint}")
    return connection


def batches_per_second(file: Path, settings: Settings, batch: int, seconds: float) -> float:
    """Events a second when `batch` rows at a time are inserted and committed."""
    connection = connect(file, settings)
    connection.execute("CREATE TABLE events (run_id TEXT, sequence INTEGER, envelope BLOB)")
    rows = itertools.cycle(_batches(batch))
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        commit(connection, "INSERT INTO events VALUES (?, ?, ?)", next(rows))
        count += batch
    elapsed = time.perf_counter() - started
    connection.close()
    return count / elapsed


def commit_seconds(file: Path, settings: Settings, commits: int) -> list[float]:
    """How long each of `commits` single-row commits took."""
    connection = connect(file, settings)
    connection.execute("CREATE TABLE events (run_id TEXT, sequence INTEGER, envelope BLOB)")
    taken = []
    for rows in itertools.islice(itertools.cycle(_batches(1)), commits):
        started = time.perf_counter()
        commit(connection, "INSERT INTO events VALUES (?, ?, ?)", rows)
        taken.append(time.perf_counter() - started)
    connection.close()
    return taken


def commit(connection: apsw.Connection, statement: str, rows: Sequence[tuple[str, int, bytes]]) -> None:
    """Insert these rows in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(statement, rows)
    connection.execute("COMMIT")


def _batches(batch: int) -> list[list[tuple[str, int, bytes]]]:
    """Enough ready-made batches that preparing them is no part of the measured time."""
    runs = identifier_list("run", 64)
    bodies = itertools.cycle(envelopes(4096))
    count = max(4, 4096 // batch)
    rows = ((runs[index % 64], index // 64, next(bodies)) for index in itertools.count())
    return [list(itertools.islice(rows, batch)) for _ in range(count)]
