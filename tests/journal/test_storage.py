"""What stays true however the bytes lie: in memory, in commits, in chunks, after a restart."""

import asyncio
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from runwire.errors import StoreCorrupt, StoreTooNew
from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from runwire.protocol.verify import verify
from tests.journal.conftest import SECRET, opened
from tests.journal.reading import note, whole_feed, whole_log
from tests.patience import PATIENCE_S
from tests.spec import spec


async def fill(journal: Journal, runs: int, events: int) -> list[str]:
    """Some runs whose events lie interleaved."""
    names = [f"run_{number}" for number in range(runs)]
    await asyncio.gather(*(journal.create_run(RunBirth(name), [note(name)]) for name in names))
    for at in range(events):
        await asyncio.gather(*(journal.append(name, note(f"{name} {at} " + "x" * 200)) for name in names))
    return names


@spec("SEQ-6")
async def test_a_log_reads_the_same_from_memory_from_commits_from_chunks_and_after_a_restart(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal:
        names = await fill(journal, 5, 300)
        first = {name: await whole_log(journal, name) for name in names}
        feed = await whole_feed(journal)
    async with opened(path, settle_s=3600, tail_bytes=1) as journal:
        assert {name: await whole_log(journal, name) for name in names} == first
        assert await whole_feed(journal) == feed
        await journal.keeper.seal_all()
        assert {name: await whole_log(journal, name) for name in names} == first
        assert await whole_feed(journal) == feed
        heads = {name: (await journal.reader.run(name)).head_hash for name in names}
    async with opened(path, tail_bytes=1) as journal:
        assert {name: await whole_log(journal, name) for name in names} == first
        assert await whole_feed(journal, limit=7) == feed
        for name in names:
            assert list(verify(first[name], head=heads[name], live=True)) == []


async def test_numbers_go_on_after_a_restart_where_they_ended(path: Path) -> None:
    async with opened(path) as journal:
        await fill(journal, 2, 3)
    async with opened(path) as journal:
        assert (await journal.append("run_0", note())).sequence == 4
        await journal.keeper.seal_all()
    async with opened(path) as journal:
        stored = await journal.append("run_0", note())
        assert (stored.sequence, stored.position) == (5, 9)


async def test_sealing_goes_on_beside_appends_and_readers_notice_nothing(path: Path) -> None:
    async with opened(path, settle_s=0.0, tail_bytes=4_096) as journal:
        names = await fill(journal, 3, 400)
        for name in names:
            log = await whole_log(journal, name)
            assert len(log) == 401
            assert list(verify(log, live=True)) == []


async def test_a_settled_log_is_sealed_without_being_asked(path: Path) -> None:
    async with opened(path, settle_s=0.01) as journal:
        await fill(journal, 2, 50)
        async with asyncio.timeout(PATIENCE_S):
            while await journal.reader.query(lambda db: db.execute("SELECT count(*) FROM commits").fetchall()) != [
                (0,)
            ]:
                await asyncio.sleep(0.01)


async def test_runs_whose_end_is_known_are_listed_without_their_events_being_read(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal:
        names = await fill(journal, 2, 50)
        # Whoever read them would be refused.
        with closing(apsw.Connection(str(path))) as db:
            db.execute("UPDATE commits SET body = zeroblob(9)")
        heads = {info.birth.run_id: info.head_sequence for info in await journal.reader.runs("1", (), 10)}
        assert heads == dict.fromkeys(names, 50)


@pytest.mark.parametrize(("table", "sealed"), [("commits", False), ("chunks", True)])
async def test_a_damaged_row_is_refused_not_served(path: Path, table: str, sealed: bool) -> None:
    async with opened(path, settle_s=3600) as journal:
        await fill(journal, 1, 50)
        if sealed:
            await journal.keeper.seal_all()
    db = apsw.Connection(str(path))
    rows: list[tuple[int, bytes]] = list(db.execute(f"SELECT rowid, body FROM {table}"))
    for key, body in rows:
        broken = body[:-9] + bytes([body[-9] ^ 1]) + body[-8:]
        db.execute(f"UPDATE {table} SET body = ? WHERE rowid = ?", (broken, key))
    db.close()
    async with opened(path, settle_s=3600) as journal:
        with pytest.raises(StoreCorrupt):
            await whole_log(journal, "run_0")


async def test_a_store_of_a_later_release_is_refused_and_left_alone(path: Path) -> None:
    async with opened(path):
        pass
    db = apsw.Connection(str(path))
    db.pragma("user_version", 9_999)
    db.close()
    with pytest.raises(StoreTooNew):
        async with opened(path):
            pass


@spec("RED-1")
async def test_no_file_of_the_store_ever_holds_a_known_secret(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal:
        await journal.create_run(RunBirth("run_a"), [note(f"the key is {SECRET}")])
        await journal.append("run_a", note(SECRET))
        for file in (each for each in path.parent.iterdir() if each.is_file()):
            assert SECRET.encode() not in file.read_bytes()
    for file in (each for each in path.parent.iterdir() if each.is_file()):
        assert SECRET.encode() not in file.read_bytes()


async def test_space_is_given_back_once_commits_are_sealed(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal:
        await fill(journal, 1, 3_000)
        await journal.keeper.seal_all()
    # 3,000 envelopes of some 450 bytes that are much alike.
    assert path.stat().st_size < 3_000 * 200


async def test_sealing_ends_though_the_appends_do_not(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal:
        await journal.create_run(RunBirth("run_a"), [note()])
        stop = asyncio.Event()

        async def produce() -> None:
            while not stop.is_set():
                await journal.append("run_a", note("more"))

        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(produce())
            async with asyncio.timeout(PATIENCE_S):
                await journal.keeper.seal_all()
            stop.set()


async def test_nobody_else_may_read_the_files_of_the_store(path: Path) -> None:
    path.parent.chmod(0o755)
    async with opened(path) as journal:
        await fill(journal, 1, 1)
        assert {file.name: oct(file.stat().st_mode & 0o077) for file in path.parent.iterdir()} == {
            file.name: "0o0" for file in path.parent.iterdir()
        }
