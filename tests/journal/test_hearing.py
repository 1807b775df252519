"""What another process commits reaches those who follow a run in this one, at once. Both are real processes here."""

import asyncio
import time
from pathlib import Path
from statistics import median

from runwire.journal.bell.local import ANY_RUN
from runwire.journal.bell.process import meeting_place
from runwire.journal.bell.topics import QUEUE, control
from runwire.journal.frames import envelopes
from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from runwire.protocol.envelope import sequence_of
from runwire.protocol.verify import verify
from tests.journal.conftest import opened
from tests.journal.other_process import OtherProcess, other_process
from tests.journal.reading import note, whole_feed, whole_log
from tests.patience import PATIENCE_S

# Far below the second after which the store would be asked anyway, far above what a busy machine makes of a millisecond.
AT_ONCE_S = 0.1


def bells_of(path: Path) -> Path:
    """Where the processes on a store meet."""
    return meeting_place(path.with_name("bells"))


async def rung(journal: Journal, other: OtherProcess, topic: str, *words: str) -> float:
    """How long after the other process was done the ring came."""
    ring = journal.bell.listen(topic, PATIENCE_S)
    arrived: list[float] = []
    ring.add_done_callback(lambda _: arrived.append(time.monotonic()))
    done = float(await other.tell(*words))
    assert await ring
    await asyncio.sleep(0)
    return arrived[0] - done


async def test_an_event_of_another_process_is_there_at_once_and_from_memory(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        await journal.create_run(RunBirth("run_a"), [note()])
        late = []
        for number in range(1, 21):
            late.append(await rung(journal, other, "run_a", "append", "run_a"))
            batch = journal.reader.newest("run_a", number - 1, 100_000)
            assert batch is not None
            assert batch.last == number
            assert (await journal.reader.run("run_a")).head_sequence == number
        assert median(late) < AT_ONCE_S
        assert len(await whole_log(journal, "run_a")) == len(await whole_feed(journal)) == 21


async def test_a_run_that_another_process_begins_is_seen_by_whoever_follows_all(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        ring = journal.bell.listen(ANY_RUN, PATIENCE_S)
        await other.tell("born", "run_new")
        assert await ring
        assert len(await whole_feed(journal)) == 1


async def test_the_tail_has_no_hole_when_both_append(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        await journal.create_run(RunBirth("run_a"), [note()])
        journal.reader.newest("run_a", -1, 1)
        for _ in range(10):
            await other.tell("append", "run_a")
            await journal.append("run_a", note())
        # Whatever came to be known by an append, not by a ring, is in memory, too.
        batch = journal.reader.newest("run_a", 0, 1_000_000)
        assert batch is not None
        assert (batch.last, batch.frames.count(b"\n\n")) == (20, 20)


async def test_a_signal_reaches_the_other_process_and_nobody_else(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        untouched = journal.bell.listen(control("run_b"), PATIENCE_S)
        assert await rung(journal, other, QUEUE, "signal", QUEUE) < AT_ONCE_S * 5
        assert await rung(journal, other, control("run_a"), "signal", control("run_a")) < AT_ONCE_S * 5
        assert not untouched.done()
        untouched.cancel()


async def test_a_signal_is_heard_at_home(journal: Journal) -> None:
    ring = journal.bell.listen(QUEUE, PATIENCE_S)
    journal.signal(QUEUE)
    assert await ring


async def test_when_rings_get_lost_the_store_itself_is_asked(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        await journal.create_run(RunBirth("run_a"), [note()])
        for socket in bells_of(path).iterdir():
            socket.unlink()
        grown, asked = journal.bell.listen("run_a", PATIENCE_S), journal.bell.listen(QUEUE, PATIENCE_S)
        await other.tell("append", "run_a")
        assert await grown
        assert await asked
        assert journal.reader.newest("run_a", 0, 100_000) is not None


async def test_state_that_no_event_tells_of_is_noticed_within_a_second_or_two(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        await journal.create_run(RunBirth("run_a"), [note()])
        asked = journal.bell.listen(QUEUE, PATIENCE_S)
        await other.tell("write", "run_a")
        assert await asked


async def test_what_the_other_has_sealed_before_we_looked_rings_too(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        await journal.create_run(RunBirth("run_a"), [note()])
        for socket in bells_of(path).iterdir():
            socket.unlink()
        await other.tell("append", "run_a")
        await other.tell("seal")
        grown = journal.bell.listen("run_a", PATIENCE_S)
        assert await journal.foreign()
        assert await grown
        assert len(await whole_log(journal, "run_a")) == len(await whole_feed(journal)) == 2
        assert (await journal.append("run_a", note())).sequence == 2


async def test_more_than_memory_shows_is_read_from_the_store(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        await other.tell("born", "run_a")
        for socket in bells_of(path).iterdir():
            socket.unlink()
        await other.tell("many", "run_a", "500")
        await journal.foreign()
        assert len(await whole_log(journal, "run_a")) == len(await whole_feed(journal)) == 501


async def test_a_run_whose_past_changed_is_forgotten_by_the_other_process(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, other_process(path) as other:
        await journal.create_run(RunBirth("run_a"), [note()])
        assert journal.reader.newest("run_a", -1, 1_000) is not None
        ring = journal.bell.listen("run_a", PATIENCE_S)
        await other.tell("forget", "run_a")
        assert await ring
        assert journal.reader.newest("run_a", -1, 1_000) is None
        assert len(await whole_log(journal, "run_a")) == 1


async def test_the_keeper_never_takes_a_status_back_that_another_process_has_written(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, opened(path, settle_s=3600) as other:
        await journal.create_run(RunBirth("run_a"), [note()])
        await journal.foreign()
        known = (await journal.reader.run("run_a")).story.run.status
        await other.write(lambda db: db.execute("UPDATE runs SET status = 'failed', state_sequence = 9"))
        await journal.keeper.seal_all()
        rows = await journal.reader.query(lambda db: db.execute("SELECT status FROM runs").fetchall())
        assert rows == [("failed",)] != [(known,)]


async def test_looks_that_are_asked_for_at_once_share_two(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal, opened(path, settle_s=3600) as other:
        await other.create_run(RunBirth("run_a"), [note()])
        looks = [journal.foreign() for _ in range(50)]
        assert len({id(look) for look in looks}) <= 2
        await asyncio.gather(*looks)
        assert len(await whole_feed(journal)) == 1


async def test_closing_leaves_no_socket_behind(path: Path) -> None:
    async with opened(path), opened(path):
        assert len(list(bells_of(path).iterdir())) == 2
    assert not bells_of(path).exists()


async def test_whoever_follows_sees_every_event_once_and_in_order_while_both_write(path: Path) -> None:
    async with opened(path, settle_s=0.05) as journal, other_process(path) as other:
        for run_id in ("run_ours", "run_theirs"):
            await journal.create_run(RunBirth(run_id), [note()])
        seen: list[bytes] = []
        cursors = {"run_ours": -1, "run_theirs": -1}
        sequences: dict[str, list[int]] = {run_id: [] for run_id in cursors}

        async def follow_all() -> None:
            position = 0
            while len(seen) < 402:
                ring = journal.bell.listen(ANY_RUN, 1.0)
                events, position = await journal.reader.feed(position, 50)
                seen.extend(event.envelope for event in events)
                if not events:
                    await ring

        async def follow(run_id: str) -> None:
            while len(sequences[run_id]) < 201:
                ring = journal.bell.listen(run_id, 1.0)
                batch = await journal.reader.read(run_id, cursors[run_id], 4_000)
                if batch is None:
                    await ring
                else:
                    cursors[run_id] = batch.last
                    sequences[run_id] += [sequence_of(stored) for stored in envelopes(batch.frames)]

        async def write() -> None:
            for _ in range(200):
                await journal.append("run_ours", note())

        async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
            for work in (follow_all(), follow("run_ours"), follow("run_theirs"), write()):
                tasks.create_task(work)
            tasks.create_task(other.tell("many", "run_theirs", "200"))
        assert sequences == {"run_ours": list(range(201)), "run_theirs": list(range(201))}
        assert seen == await whole_feed(journal)
        for run_id in cursors:
            assert list(verify(await whole_log(journal, run_id), live=True)) == []
