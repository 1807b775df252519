"""Two journals on one store, as a gateway and a worker have them."""

from pathlib import Path

from runwire.journal.records import RunBirth
from runwire.protocol.verify import verify
from tests.journal.conftest import opened
from tests.journal.reading import note, whole_feed, whole_log


async def test_two_writers_take_turns_on_one_run_without_a_hole(path: Path) -> None:
    async with opened(path, settle_s=3600) as first, opened(path, settle_s=3600) as second:
        await first.create_run(RunBirth("run_a"), [note()])
        for turn in range(20):
            await (first, second)[turn % 2].append("run_a", note(str(turn)))
        log = await whole_log(second, "run_a")
        assert len(log) == 21
        assert list(verify(log, live=True)) == []
        assert (await first.append("run_a", note())).position == 21
        assert len(await whole_feed(first)) == 22


async def test_what_the_other_has_sealed_is_still_read_and_counted(path: Path) -> None:
    async with opened(path, settle_s=3600) as keeper, opened(path, settle_s=3600, tail_bytes=1) as other:
        await keeper.create_run(RunBirth("run_a"), [note()])
        await other.append("run_a", note())
        await keeper.append("run_a", note())
        await keeper.keeper.seal_all()
        assert (await other.append("run_a", note())).sequence == 3
        assert len(await whole_log(other, "run_a")) == 4
        assert len(await whole_feed(other)) == 4


async def test_sealing_what_the_other_wrote_gives_no_number_twice(path: Path) -> None:
    async with opened(path, settle_s=3600) as one, opened(path, settle_s=3600) as two:
        await one.create_run(RunBirth("run_a"), [note()])
        await two.append("run_a", note("two"))
        await one.keeper.seal_all()
        stored = await one.append("run_a", note("one"))
        assert (stored.sequence, stored.position) == (2, 2)
        assert len(await whole_log(one, "run_a")) == 3
