"""Stores that earlier releases have written: each must open in this one, whole, and go on."""

from pathlib import Path

import pytest

from runwire.journal.store.database import migrations
from runwire.protocol.events.external import external
from runwire.protocol.verify import verify
from runwire.testing.clock import START_NS, ManualClock
from tests.fixtures.write_store import describe, unpack
from tests.journal.house import open_house

FIXTURES = Path(__file__).parents[2] / "fixtures"
STORES = sorted(FIXTURES.glob("store-v*"))


def clock() -> ManualClock:
    """A moment shortly after the stores were written."""
    return ManualClock(now_ns=START_NS + 60_000_000_000)


def test_every_layout_has_a_store_that_was_written_with_it() -> None:
    assert [store.name for store in STORES] == [f"store-v{number}" for number in range(1, len(migrations()) + 1)]


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
async def test_it_gives_back_all_that_was_put_in(store: Path, tmp_path: Path) -> None:
    expected = unpack(store, tmp_path / "data")
    async with open_house(tmp_path / "data", clock=clock()) as house:
        assert await describe(house, list(expected.tokens)) == expected
        own = await house.tokens.start()
        assert expected.tokens[own] == ["admin"]


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)
async def test_its_runs_go_on_and_still_prove(store: Path, tmp_path: Path) -> None:
    expected = unpack(store, tmp_path / "data")
    async with open_house(tmp_path / "data", clock=clock()) as house:
        for run_id in ("run_open", "run_pruned"):
            await house.journal.append(run_id, external("external.note", b"{}"))
        await house.keep(b"new" * 10_000, run_id="run_open")
        await house.journal.keeper.seal_all()
        await house.artifacts.prune()
        now = await describe(house, list(expected.tokens))
        for run_id, log in now.logs.items():
            head = (await house.journal.reader.run(run_id)).head_hash
            assert log[: len(expected.logs[run_id])] == expected.logs[run_id]
            assert list(verify([line.encode() for line in log], head=head, live=True)) == []
        assert expected.artifacts.items() <= now.artifacts.items()
