"""A full, failing, read-only or locked disk: a clear error, nothing acknowledged, and service again when it is over."""

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from runwire.errors import RunwireError, StoreBusy, StoreFull, StoreReadOnly, StoreUnavailable
from runwire.ids import Ids
from runwire.journal.journal import open_journal
from runwire.journal.records import RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from runwire.protocol.envelope import sequence_of
from runwire.protocol.verify import verify
from runwire.testing.clock import ManualClock
from tests.journal.conftest import opened
from tests.journal.power import FailingDisk
from tests.journal.reading import note, whole_feed, whole_log


@pytest.fixture
def disk() -> Iterator[FailingDisk]:
    disk = FailingDisk(f"failing-{secrets.token_hex(4)}")
    yield disk
    disk.unregister()


@pytest.mark.parametrize(
    ("failure", "told"),
    [(apsw.FullError, StoreFull), (apsw.IOError, StoreUnavailable), (apsw.ReadOnlyError, StoreReadOnly)],
)
async def test_a_disk_that_cannot_be_written_fails_the_append_and_nothing_else(
    path: Path, disk: FailingDisk, failure: type[apsw.Error], told: type[RunwireError]
) -> None:
    async with opened(path, settle_s=3600) as journal:
        await journal.create_run(RunBirth("run_a"), [note()])
        before = await whole_log(journal, "run_a")
        disk.failure = failure
        answers = await asyncio.gather(
            *(journal.append("run_a", note(secrets.token_hex(100))) for _ in range(4)), return_exceptions=True
        )
        assert {type(answer) for answer in answers} == {told}
        assert await whole_log(journal, "run_a") == before
        disk.failure = None
        assert (await journal.append("run_a", note())).sequence == 1
        await journal.keeper.seal_all()
        log = await whole_log(journal, "run_a")
    assert [sequence_of(envelope) for envelope in log] == [0, 1]
    assert list(verify(log, live=True)) == []


async def test_a_disk_that_fails_while_sealing_takes_nothing(path: Path, disk: FailingDisk) -> None:
    async with opened(path, settle_s=3600) as journal:
        await journal.create_run(RunBirth("run_a"), [note(str(number)) for number in range(500)])
        before = await whole_log(journal, "run_a")
        disk.failure = apsw.FullError
        with pytest.raises(StoreFull):
            await journal.keeper.seal_all()
        assert await whole_log(journal, "run_a") == before
        disk.failure = None
        await journal.keeper.seal_all()
        await journal.forget("run_a")
        assert await whole_log(journal, "run_a") == before
        assert await whole_feed(journal) == before


async def test_a_locked_database_is_waited_for_while_the_loop_goes_on(path: Path) -> None:
    async with opened(path) as journal:
        await journal.create_run(RunBirth("run_a"), [note()])
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        waiting = journal.append("run_a", note())
        # Readers are served while the writer waits.
        assert len(await whole_log(journal, "run_a")) == 1
        other.execute("COMMIT")
        other.close()
        assert (await waiting).sequence == 1


async def test_a_database_that_stays_locked_is_an_error_and_then_works_again(path: Path) -> None:
    async with opened(path, lock_wait_s=0.05, settle_s=3600) as journal:
        await journal.create_run(RunBirth("run_a"), [note()])
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            await journal.append("run_a", note())
        other.execute("ROLLBACK")
        other.close()
        assert (await journal.append("run_a", note())).sequence == 1


async def test_a_clock_that_is_set_back_changes_no_order(path: Path) -> None:
    clock = ManualClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    async with open_journal(path, redactor=Redactor(SecretSet()), clock=clock, ids=ids) as journal:
        first = await journal.create_run(RunBirth("run_a"), [note()])
        clock.advance(-3600)
        second = await journal.append("run_a", note())
        assert (second.sequence, second.position) == (1, 1)
        assert second.event_id > first.event_id
        assert list(verify(await whole_log(journal, "run_a"), live=True)) == []


async def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_bytes(b"this is not a database, and long enough to be sure of that " * 200)
    with pytest.raises(RunwireError) as refusal:
        async with opened(path):
            pass
    assert refusal.value.code == "store_corrupt"
    assert path.read_bytes().startswith(b"this is not a database")
