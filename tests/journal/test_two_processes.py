"""Two journals on one store, as a gateway and a worker have them."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from runwire.errors import StoreCorrupt
from runwire.journal.records import RunBirth
from runwire.protocol.events.assistant import AssistantTextComplete
from runwire.protocol.events.run import RunStarted
from runwire.protocol.events.user import UserMessage
from runwire.protocol.verify import verify
from tests.journal.conftest import opened
from tests.journal.reading import note, whole_feed, whole_log

STARTED = RunStarted(worker_id="worker_1")


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


async def test_of_a_run_that_the_other_writes_only_the_newest_events_are_read_for_a_list(path: Path) -> None:
    async with opened(path, settle_s=3600) as worker, opened(path, settle_s=3600) as gateway:
        await worker.create_run(RunBirth("run_a"), [STARTED])
        for place in range(20):
            await worker.append("run_a", _written(f"piece {place}"))
        await gateway.foreign()
        (before,) = await gateway.reader.runs("1", (), 10)
        # Whoever reads these again is refused.
        with closing(apsw.Connection(str(path))) as db:
            db.execute("UPDATE commits SET body = zeroblob(9)")
        assert await gateway.reader.runs("1", (), 10) == [before]
        assert await gateway.reader.run("run_a") == before
        await worker.append("run_a", UserMessage(turn_index=1, text="And now?"))
        await gateway.foreign()
        (after,) = await gateway.reader.runs("1", (), 10)
        assert (before.story.pane.doing, after.story.pane.doing) == ("writing", "reading a message")
        assert after.head_sequence == before.head_sequence + 1


async def test_a_run_that_came_back_under_its_name_is_told_from_its_beginning(path: Path) -> None:
    async with opened(path, settle_s=3600) as worker, opened(path, settle_s=3600) as gateway:
        await worker.create_run(RunBirth("run_a"), [STARTED])
        await worker.append("run_a", _written("first"))
        await gateway.foreign()
        await gateway.reader.runs("1", (), 10)
        with closing(apsw.Connection(str(path))) as db:
            db.execute("UPDATE runs SET created_ns = created_ns + 1")
            db.execute("UPDATE commits SET body = zeroblob(9)")
        with pytest.raises(StoreCorrupt):
            await gateway.reader.runs("1", (), 10)


def _written(text: str) -> AssistantTextComplete:
    return AssistantTextComplete(turn_index=0, block_index=0, text=text)


async def test_sealing_what_the_other_wrote_gives_no_number_twice(path: Path) -> None:
    async with opened(path, settle_s=3600) as one, opened(path, settle_s=3600) as two:
        await one.create_run(RunBirth("run_a"), [note()])
        await two.append("run_a", note("two"))
        await one.keeper.seal_all()
        stored = await one.append("run_a", note("one"))
        assert (stored.sequence, stored.position) == (2, 2)
        assert len(await whole_log(one, "run_a")) == 3
