"""Commits find ground in the WAL: the file grows now and then, not each time, and what is laid there is never taken for events."""

import asyncio
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from tests.journal.conftest import opened
from tests.journal.reading import note, whole_log
from tests.patience import PATIENCE_S
from tests.spec import spec

COMMITS = 120


async def grow(journal: Journal, wal: Path, run_id: str = "run_a") -> list[int]:
    """Append, commit by commit; return how large the WAL was after each."""
    await journal.create_run(RunBirth(run_id), [note()])
    sizes = []
    for number in range(COMMITS):
        await journal.append(run_id, note(str(number)))
        sizes.append(wal.stat().st_size)
    return sizes


async def test_the_wal_grows_now_and_then_and_not_with_each_commit(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db", settle_s=3600) as journal:
        sizes = await grow(journal, tmp_path / "journal.db-wal")
    assert sizes == sorted(sizes)
    assert len(set(sizes)) < COMMITS / 8


async def test_a_wal_that_was_cut_finds_ground_again(tmp_path: Path) -> None:
    wal = tmp_path / "journal.db-wal"
    async with opened(tmp_path / "journal.db", settle_s=3600) as journal:
        before = await grow(journal, wal)
        await journal.keeper.seal_all()
        assert wal.stat().st_size < before[-1]
        sizes = await grow(journal, wal, "run_b")
    assert len(set(sizes)) < COMMITS / 8


async def test_the_wal_is_asked_for_its_size_only_when_ground_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(path: str) -> os.stat_result:
        asked.append(path)
        return os.stat(path)

    async with opened(tmp_path / "journal.db", settle_s=3600) as journal:
        monkeypatch.setattr("runwire.journal.store.ground.os", SimpleNamespace(stat=counted))
        sizes = await grow(journal, tmp_path / "journal.db-wal")
    assert 0 < len(asked) <= len(set(sizes)) + 1


@spec("SEQ-4")
async def test_after_a_crash_the_ground_is_the_end_of_the_log_and_nothing_more(tmp_path: Path) -> None:
    after = tmp_path / "after"
    after.mkdir()
    async with opened(tmp_path / "journal.db", settle_s=3600) as journal:
        await grow(journal, tmp_path / "journal.db-wal")
        before = await whole_log(journal, "run_a")
        for name in ("journal.db", "journal.db-wal"):
            shutil.copy(tmp_path / name, after / name)
    async with opened(after / "journal.db", settle_s=3600) as journal:
        assert await whole_log(journal, "run_a") == before
        await journal.append("run_a", note("more"))
        assert len(await whole_log(journal, "run_a")) == len(before) + 1


async def test_the_wal_begins_anew_where_nobody_seals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runwire.journal.store.ground.BACKSTOP_PAGES", 16)
    async with opened(tmp_path / "journal.db", settle_s=3600) as journal:
        sizes = await grow(journal, tmp_path / "journal.db-wal")
        assert len(await whole_log(journal, "run_a")) == COMMITS + 1
    assert sizes[-1] - sizes[0] < COMMITS * 8192 / 2


async def test_the_wal_is_copied_back_and_begins_anew_though_the_appends_do_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runwire.journal.keeper._USED_BYTES", 256 * 1024)
    monkeypatch.setattr("runwire.journal.keeper._LOOK_S", 0.001)
    monkeypatch.setattr("runwire.journal.store.ground.BACKSTOP_PAGES", 1 << 40)
    wal = tmp_path / "journal.db-wal"
    count = 1
    async with opened(tmp_path / "journal.db", settle_s=3600) as journal:
        await journal.create_run(RunBirth("run_a"), [note()])
        rounds = {_round(wal)}
        async with asyncio.timeout(PATIENCE_S):
            while len(rounds) < 4:
                await journal.append("run_a", note(str(count)))
                rounds.add(_round(wal))
                count += 1
        assert len(await whole_log(journal, "run_a")) == count
    async with opened(tmp_path / "journal.db", settle_s=3600) as journal:
        assert len(await whole_log(journal, "run_a")) == count


def _round(wal: Path) -> bytes:
    """What the WAL's head says of its present round."""
    with wal.open("rb") as file:
        return file.read(32)[16:24]
