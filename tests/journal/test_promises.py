"""The journal's promises under any order of writing, reading, sealing, pruning, crashing and restarting."""

import asyncio
import secrets
import shutil
import tempfile
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

import uvloop
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from runwire.clock import SystemClock
from runwire.ids import Ids
from runwire.journal.frames import split
from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth, Stored
from runwire.journal.retention import Retention
from runwire.protocol.envelope import event_id_of, type_of
from runwire.protocol.events.run import RunCancelled
from runwire.protocol.verify import verify
from tests.journal.conftest import opened
from tests.journal.reading import note, whole_feed, whole_log
from tests.journal.test_streams import text
from tests.patience import PATIENCE_S
from tests.spec import spec

_T = TypeVar("_T")


class Reader:
    """Somebody on one connection: a cursor, and nothing seen twice or out of order."""

    def __init__(self, run_id: str, cursor: int) -> None:
        self.run_id = run_id
        self.cursor = cursor


class Promises(RuleBasedStateMachine):
    """Knows what was acknowledged and what anybody has read; the journal must never contradict either."""

    runs = Bundle("runs")
    readers = Bundle("readers")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self.folder = Path(tempfile.mkdtemp(prefix="runwire-promises-"))
        self.generation = 0
        self.acknowledged: dict[str, dict[int, str]] = {}
        self.seen: dict[str, dict[int, bytes]] = {}
        self.pruned: dict[str, int] = {}
        self.open()

    # ── the world ──

    def do(self, work: Awaitable[_T]) -> _T:
        async def within() -> _T:
            async with asyncio.timeout(PATIENCE_S):
                return await work

        return self.runner.run(within())

    @property
    def path(self) -> Path:
        return self.folder / str(self.generation) / "journal.db"

    def open(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.stack = AsyncExitStack()
        # A tail of a few hundred bytes: some reads come from memory and some from the disk.
        self.journal: Journal = self.do(
            self.stack.enter_async_context(opened(self.path, tail_bytes=2_000, settle_s=3600))
        )

    def close(self) -> None:
        self.do(self.stack.aclose())

    def remember(self, stored: Stored) -> None:
        known = self.acknowledged.setdefault(stored.run_id, {})
        assert stored.sequence not in known, "a number was given twice"
        known[stored.sequence] = stored.event_id

    # ── what can happen ──

    @rule(target=runs, count=st.integers(1, 4))
    def a_run_begins(self, count: int) -> str:
        run_id = f"run_{len(self.acknowledged)}"
        self.remember(self.do(self.journal.create_run(RunBirth(run_id), [note() for _ in range(count)])))
        return run_id

    @rule(run_id=runs, writers=st.integers(1, 6))
    def writers_append_at_once(self, run_id: str, writers: int) -> None:
        async def append() -> list[Stored | BaseException]:
            waiting = (self.journal.append(run_id, note(secrets.token_hex(8))) for _ in range(writers))
            return await asyncio.gather(*waiting, return_exceptions=True)

        for answer in self.do(append()):
            if isinstance(answer, Stored):
                self.remember(answer)

    @rule(run_id=runs, words=st.lists(st.text("abc ", min_size=1, max_size=6), min_size=1, max_size=4))
    def text_streams_in(self, run_id: str, words: list[str]) -> None:
        async def stream() -> None:
            for word in words:
                await self.journal.offer(run_id, text(word))
            await self.journal.flush(run_id)

        if not self.do(self.journal.reader.run(run_id)).story.finished:
            self.do(stream())

    @rule(run_id=runs)
    def a_run_ends(self, run_id: str) -> None:
        if not self.do(self.journal.reader.run(run_id)).story.finished:
            self.remember(self.do(self.journal.append(run_id, RunCancelled(by="operator", reason=""))))

    @rule(target=readers, run_id=runs, cursor=st.integers(-1, 12))
    def a_reader_connects(self, run_id: str, cursor: int) -> Reader:
        head = self.do(self.journal.reader.run(run_id)).head_sequence
        return Reader(run_id, min(cursor, head))

    @rule(reader=readers, max_bytes=st.sampled_from([1, 700, 32_768]))
    def a_reader_reads_on(self, reader: Reader, max_bytes: int) -> None:
        batch = self.do(self.journal.reader.read(reader.run_id, reader.cursor, max_bytes))
        if batch is None:
            assert self.do(self.journal.reader.run(reader.run_id)).head_sequence == reader.cursor
            return
        for sequence, envelope in split(batch.frames):
            assert sequence > reader.cursor, "an event was served twice, or out of order"
            if sequence != reader.cursor + 1:
                assert reader.cursor < self.pruned.get(reader.run_id, -1), "an event was skipped"
            reader.cursor = sequence
            self.saw(reader.run_id, sequence, envelope)
        assert reader.cursor == batch.last

    @rule(reader=consumes(readers))
    def a_reader_leaves(self, reader: Reader) -> None:
        pass

    @rule()
    def the_log_is_sealed(self) -> None:
        self.do(self.journal.keeper.seal_all())

    @rule(run_id=runs, through=st.integers(0, 8))
    def an_operator_prunes(self, run_id: str, through: int) -> None:
        clock = SystemClock()
        ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
        retention = Retention(journal=self.journal, clock=clock, ids=ids)
        for pruned in self.do(retention.prune(run_id, through)):
            last = self.pruned[run_id] = max(self.pruned.get(run_id, -1), pruned.through)
            self.seen[run_id] = {at: it for at, it in self.seen.get(run_id, {}).items() if at > last}

    @rule()
    def the_process_restarts(self) -> None:
        self.close()
        self.open()

    @rule()
    def the_process_is_killed(self) -> None:
        """What a kill leaves is what the files hold at that moment."""
        before = self.path.parent
        self.generation += 1
        shutil.copytree(before, self.path.parent, ignore=shutil.ignore_patterns("bells"))
        self.do(self.stack.aclose())
        shutil.rmtree(before)
        self.open()

    # ── what must hold ──

    def saw(self, run_id: str, sequence: int, envelope: bytes) -> None:
        known = self.acknowledged[run_id].get(sequence)
        if known is not None and sequence > self.pruned.get(run_id, -1):
            assert event_id_of(envelope) == known, "not the event that was acknowledged at this place"
        first = self.seen.setdefault(run_id, {}).setdefault(sequence, envelope)
        assert envelope == first, "the bytes changed since they were first read"

    @precondition(lambda self: self.acknowledged)
    @invariant()
    def every_log_is_whole(self) -> None:
        total = 0
        for run_id, known in self.acknowledged.items():
            log = self.do(whole_log(self.journal, run_id))
            total += len(log)
            info = self.do(self.journal.reader.run(run_id))
            assert list(verify(log, head=info.head_hash, live=not info.story.finished)) == []
            found = {event_id_of(envelope) for envelope in log}
            lost = {at for at, event_id in known.items() if event_id not in found and at > self.pruned.get(run_id, -1)}
            assert not lost, f"acknowledged and lost: {lost}"
            for at, envelope in self.seen.get(run_id, {}).items():
                assert envelope in log or type_of(envelope) == "gap.events_pruned", f"read and lost: {at}"
        assert len(self.do(whole_feed(self.journal, limit=5))) == total, "the feed is not the sum of the runs"

    def teardown(self) -> None:
        self.close()
        self.runner.close()
        shutil.rmtree(self.folder)


Promises.TestCase.settings = settings(
    max_examples=25, stateful_step_count=25, suppress_health_check=list(HealthCheck), deadline=None
)


test_the_promises_hold = spec("SEQ-1", "SEQ-2", "SEQ-5", "SEQ-6", "SEQ-7", "FEED-1")(Promises.TestCase)
