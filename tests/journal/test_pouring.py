"""Handing stored frames to an outlet that takes what it has room for: nothing is lost, doubled or read for nobody."""

import asyncio
import threading
import tracemalloc
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest

from runwire.errors import RunNotFound, StoreCorrupt
from runwire.journal.frames import END, envelopes, frame, frame_end, last_sequence
from runwire.journal.journal import Journal
from runwire.journal.records import Commit, RunBirth
from runwire.journal.store.entries import pack
from runwire.journal.tail import Tail
from runwire.protocol.chain import GENESIS
from tests.journal.conftest import opened
from tests.journal.reading import note, whole_log
from tests.patience import PATIENCE_S
from tests.spec import spec

EVENTS = 2_000


@dataclass(slots=True)
class Bucket:
    """An outlet with room for so many bytes."""

    room: int
    parts: list[bytes] = field(default_factory=list)
    closed: bool = False

    def take(self, frames: bytes) -> int:
        taken = min(self.room, len(frames))
        self.room -= taken
        self.parts.append(frames[:taken])
        return taken

    def close(self) -> None:
        self.closed = True

    def itself(self) -> "Bucket":
        return self


async def fill(journal: Journal) -> None:
    """One run, larger than several chunks."""
    await journal.create_run(RunBirth("run_1"), [note("first")])
    for start in range(0, EVENTS, 100):
        await journal.append_all("run_1", [note(f"{start + at} " + "x" * (at * 7 % 400)) for at in range(100)])


async def poured_log(journal: Journal, room: int, after: int = -1) -> bytes:
    """Everything past a cursor, through outlets of so much room, one after the other."""
    whole: list[bytes] = []
    while True:
        bucket = Bucket(room)
        poured = await journal.reader.pour("run_1", after, bucket.itself, None)
        assert bucket.closed
        if poured is None:
            return b"".join(whole)
        assert poured.last > after, "a cursor that does not move would be read for ever"
        assert poured.size == sum(map(len, bucket.parts)) + len(poured.rest)
        whole += [*bucket.parts, poured.rest]
        after = poured.last


@spec("SEQ-6", "SEQ-7")
@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("room", [0, 1, 5_000, 131_072, 300_001, 1 << 30])
async def test_whatever_room_there_is_every_stored_byte_arrives_once(path: Path, room: int, sealed: bool) -> None:
    async with opened(path, settle_s=3600) as journal:
        await fill(journal)
        stored = await whole_log(journal, "run_1")
        if sealed:
            await journal.keeper.seal_all()
        # A log that is given out frame by frame takes its time, so only its end is.
        after = EVENTS - 40 if room < 2 else -1
        found = await poured_log(journal, room, after)
    assert list(envelopes(found)) == stored[after + 1 :]


def test_a_frame_that_was_cut_in_two_is_ended_wherever_the_cut_was() -> None:
    frames = frame(7, b'{"a":1}') + frame(9, b"{}")
    first = len(frame(7, b'{"a":1}'))
    for at in range(len(frames) + 1):
        end = frame_end(frames, at)
        assert end == (first if at <= first else len(frames))
        assert last_sequence(frames, end) == (7 if end == first else 9)


async def test_no_more_is_read_than_there_is_room_for(path: Path) -> None:
    async with opened(path, tail_bytes=1) as journal:
        await fill(journal)
        await journal.keeper.seal_all()
        bucket = Bucket(10)
        poured = await journal.reader.pour("run_1", -1, lambda: bucket, None)
    assert poured is not None
    # The chunk that did not fit was the only one, and all that is kept of it is the rest of a frame.
    assert len(bucket.parts) == 1
    assert poured.last == 0
    assert (bucket.parts[0] + poured.rest).count(END) == 1


async def test_many_who_have_stopped_hold_next_to_nothing_together(path: Path) -> None:
    async with opened(path, tail_bytes=1) as journal:
        await fill(journal)
        await journal.keeper.seal_all()
        await poured_log(journal, 1 << 30)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            stopped = await asyncio.gather(
                *(journal.reader.pour("run_1", -1, Bucket(10).itself, None) for _ in range(500))
            )
            held, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert {poured and poured.last for poured in stopped} == {0}
    # One chunk for each thread that pours, whoever it is for; at 128 KB for each reader it would be 64 MB.
    assert peak - before < 6_000_000
    assert (held - before) / 500 < 4_000


async def test_only_what_is_kept_is_poured_and_the_cursor_goes_past_the_rest(path: Path) -> None:
    def every_tenth(frames: bytes) -> bytes:
        return b"".join(piece + END for piece in frames.split(END)[:-1] if piece.partition(b"\n")[0].endswith(b"0"))

    async with opened(path, tail_bytes=1) as journal:
        await fill(journal)
        await journal.keeper.seal_all()
        stored = await whole_log(journal, "run_1")
        after, found = -1, b""
        while True:
            bucket = Bucket(9_000)
            poured = await journal.reader.pour("run_1", after, bucket.itself, every_tenth)
            if poured is None:
                break
            found += b"".join(bucket.parts) + poured.rest
            after = poured.last
        nothing = await journal.reader.pour("run_1", -1, lambda: Bucket(9_000), lambda _: b"")
    assert list(envelopes(found)) == stored[::10]
    assert (after, nothing and nothing.last) == (EVENTS, EVENTS)


async def test_an_outlet_is_closed_when_whoever_poured_gives_up(path: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    class Slow(Bucket):
        def take(self, frames: bytes) -> int:
            reached.set()
            go_on.wait(10)
            if self.closed:
                raise OSError("closed")
            return super().take(frames)

    async with opened(path, tail_bytes=1) as journal:
        await fill(journal)
        await journal.keeper.seal_all()
        bucket = Slow(1 << 30)
        pouring = asyncio.create_task(journal.reader.pour("run_1", -1, lambda: bucket, None))
        await asyncio.to_thread(reached.wait, 10)
        pouring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pouring
        assert bucket.closed
        go_on.set()
        # Its turn is over: as many others as ever can pour.
        async with asyncio.timeout(PATIENCE_S):
            logs = await asyncio.gather(*(poured_log(journal, 1 << 30) for _ in range(6)))
    assert bucket.parts == []
    assert len(set(logs)) == 1


async def test_a_damaged_chunk_is_not_poured(path: Path) -> None:
    async with opened(path) as journal:
        await fill(journal)
        await journal.keeper.seal_all()
    db = apsw.Connection(str(path))
    db.execute(
        "UPDATE chunks SET body = CAST(substr(body, 1, 40) || x'00ff' || substr(body, 43) AS BLOB) WHERE first_sequence = 0"
    )
    db.close()
    async with opened(path) as journal:
        bucket = Bucket(1 << 30)
        with pytest.raises(StoreCorrupt):
            await journal.reader.pour("run_1", -1, lambda: bucket, None)
    assert (bucket.parts, bucket.closed) == ([], True)


async def test_pouring_waits_for_no_query_and_no_query_for_pouring(path: Path) -> None:
    go_on, taking = threading.Event(), threading.Semaphore(0)

    class Slow(Bucket):
        def take(self, frames: bytes) -> int:
            taking.release()
            go_on.wait(10)
            return super().take(frames)

    async with opened(path, tail_bytes=1) as journal, asyncio.timeout(PATIENCE_S):
        await fill(journal)
        await journal.keeper.seal_all()
        reader = journal.reader
        queries = [asyncio.create_task(reader.query(lambda _: go_on.wait(10))) for _ in range(50)]
        await asyncio.sleep(0)
        poured = await poured_log(journal, 1 << 30)
        go_on.set()
        await asyncio.gather(*queries)
        go_on.clear()
        pours = [asyncio.create_task(reader.pour("run_1", -1, Slow(1).itself, None)) for _ in range(50)]
        await asyncio.to_thread(taking.acquire)
        assert await reader.query(lambda _: 7) == 7
        go_on.set()
        await asyncio.gather(*pours)
    assert poured.count(END) == EVENTS + 1


async def test_many_who_ask_for_one_run_at_once_are_told_alike_though_the_first_gives_up(path: Path) -> None:
    async with opened(path, settle_s=3600) as journal:
        await fill(journal)
    async with opened(path, settle_s=3600) as journal:
        asking = [asyncio.create_task(journal.reader.run("run_1")) for _ in range(50)]
        await asyncio.sleep(0)
        asking[0].cancel()
        found = await asyncio.gather(*asking[1:])
        assert {info.head_sequence for info in found} == {EVENTS}
        # What is stored later is seen by whoever asks later.
        assert (await journal.append("run_1", note("one more"))).sequence == EVENTS + 1
        assert (await journal.reader.run("run_1")).head_sequence == EVENTS + 1


async def test_there_is_nothing_to_pour_of_a_run_that_does_not_exist(journal: Journal) -> None:
    with pytest.raises(RunNotFound):
        await journal.reader.pour("run_2", -1, lambda: Bucket(1), None)


def test_readers_at_one_place_share_bytes_and_readers_at_many_places_keep_none() -> None:
    tail = Tail(max_bytes=1 << 30)
    frames = [frame(sequence, b'{"text":"%b"}' % (b"x" * 400)) for sequence in range(2_000)]
    for sequence, each in enumerate(frames):
        tail.publish(Commit(sequence, 1, ["run_1"], pack(1, sequence, 1, len(each), GENESIS), each))
    assert tail.after("run_1", 5, 131_072) is tail.after("run_1", 5, 131_072)
    tracemalloc.start()
    try:
        for cursor in range(1_000):
            assert tail.after("run_1", cursor, 131_072) is not None
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 4_000_000
