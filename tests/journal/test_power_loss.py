"""An append returns only when it would survive power loss."""

import asyncio
import secrets
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from runwire.journal.records import RunBirth
from runwire.protocol.envelope import event_id_of
from runwire.protocol.verify import verify
from tests.journal.conftest import opened
from tests.journal.power import ForgetfulDisk
from tests.journal.reading import note, whole_log
from tests.spec import spec


@pytest.fixture
def disk() -> Iterator[ForgetfulDisk]:
    before = apsw.vfs_names()[0]
    disk = ForgetfulDisk(f"forgetful-{secrets.token_hex(4)}")
    yield disk
    disk.unregister()
    assert apsw.vfs_names()[0] == before


async def survivors(folder: Path) -> tuple[set[str], list[str]]:
    """The ids that a store still holds, and what is wrong with it."""
    async with opened(folder / "journal.db", settle_s=3600) as journal:
        log = await whole_log(journal, "run_a")
        info = await journal.reader.run("run_a")
        breaches = [breach.message for breach in verify(log, head=info.head_hash, live=True)]
        return {event_id_of(envelope) for envelope in log}, breaches


@spec("SEQ-4")
async def test_whatever_was_acknowledged_is_there_after_the_power_has_gone(tmp_path: Path, disk: ForgetfulDisk) -> None:
    home = tmp_path / "home"
    home.mkdir()
    moments: list[tuple[Path, set[str]]] = []
    async with opened(home / "journal.db", settle_s=3600) as journal:
        acknowledged = {(await journal.create_run(RunBirth("run_a"), [note()])).event_id}
        for moment in range(12):
            stored = await asyncio.gather(*(journal.append("run_a", note(secrets.token_hex(200))) for _ in range(5)))
            acknowledged |= {each.event_id for each in stored}
            if moment % 4 == 2:
                await journal.keeper.seal_all()
            folder = tmp_path / str(moment)
            folder.mkdir()
            disk.lose_power(folder)
            moments.append((folder, set(acknowledged)))
    for folder, expected in moments:
        found, breaches = await survivors(folder)
        assert expected <= found
        assert breaches == []


@spec("SEQ-4")
async def test_the_disk_really_forgets(tmp_path: Path, disk: ForgetfulDisk) -> None:
    """Without the sync at every commit, the same loss of power takes events: the test above can fail."""
    path = tmp_path / "careless.db"
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "full")
    db.execute("CREATE TABLE kept (number)")
    db.pragma("synchronous", "normal")
    db.execute("INSERT INTO kept VALUES (1)")
    folder = tmp_path / "after"
    folder.mkdir()
    disk.lose_power(folder)
    db.close()
    left = apsw.Connection(str(folder / "careless.db"))
    assert left.execute("SELECT count(*) FROM kept").fetchall() == [(0,)]
    left.close()
