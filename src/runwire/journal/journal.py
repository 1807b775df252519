"""The journal: the one way in and the one way out. What an append returns for is durable; what a read returns is stored."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from runwire.clock import Clock
from runwire.ids import Ids
from runwire.journal.bell.local import LocalBell
from runwire.journal.coalescing import Lane
from runwire.journal.committer import Committer
from runwire.journal.hearing import Hearing
from runwire.journal.keeper import Keeper
from runwire.journal.reader import Reader
from runwire.journal.records import Claimed, Commit, Effect, Foreign, Head, RunBirth, RunInfo, Stored, Tell
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.stamping import Claim, Item, Request, redact, redact_items
from runwire.journal.store.database import Patience, migrate, open_writer
from runwire.journal.store.lock import ProcessLock
from runwire.journal.store.log import Log
from runwire.journal.store.rows import sweep
from runwire.journal.store.unsealed import Unsealed
from runwire.journal.tail import Tail
from runwire.protocol.catalogue import TERMINAL
from runwire.protocol.payload import Opaque, Payload, encode_payload
from runwire.protocol.stream import Delta, is_delta


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """How the journal keeps its house."""

    tail_bytes: int = 16 * 1024 * 1024
    settle_s: float = 2.0
    coalesce_s: float = 0.04
    coalesce_chars: int = 4_096
    queue_max: int = 50_000
    lock_wait_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Figures:
    """How the journal fares, since it was opened."""

    events: int
    commits: int
    commit_s: float
    waiting: int
    unsealed_bytes: int


class Journal:
    """Appends, reads and rings. Made by `open_journal`."""

    def __init__(self, *, path: Path, log: Log, redactor: Redactor, settings: JournalSettings) -> None:
        """Take over an open, migrated database."""
        self.redactor = redactor
        self.bell = LocalBell()
        self._settings = settings
        self._tail = Tail(max_bytes=settings.tail_bytes)
        self._log = log
        self._committer = Committer(
            log=log,
            prepare=lambda requests: redact(requests, redactor),
            published=self._publish,
            heard=self._hear,
            lock_wait_s=settings.lock_wait_s,
        )
        self.reader = Reader(path=path, tail=self._tail, unsealed=log.unsealed, known=self._log.head)
        self.keeper = Keeper(path=path, log=log, committer=self._committer, settle_s=settings.settle_s)
        self._hearing = Hearing(
            path=path,
            bell=self.bell,
            look=lambda: self._committer.exclusively(self._log.look),
            forget=self._forget,
        )
        self._lanes: dict[str, Lane] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._offered: dict[str, asyncio.Future[Stored]] = {}
        self._loop = asyncio.get_running_loop()

    def create_run(
        self, birth: RunBirth, payloads: Sequence[Payload | Opaque], also: Effect | None = None
    ) -> Awaitable[Stored]:
        """Begin a run with its first events, all in one transaction."""
        return self._submit(
            birth.run_id, [Item(payload, encode_payload(payload)) for payload in payloads], birth=birth, also=also
        )

    def append(
        self, run_id: str, payload: Payload | Opaque, *, lease: int | None = None, also: Effect | None = None
    ) -> Awaitable[Stored]:
        """Store one event, and the state `also` changes with it. The result comes when it would survive power loss."""
        if run_id in self._lanes or is_delta(payload):
            return self._submit(run_id, self._items(run_id, payload), lease=lease, also=also)
        done: asyncio.Future[Stored] = self._loop.create_future()
        self._committer.submit(
            Request(run_id, (Item(payload, encode_payload(payload)),), done, lease, None, also, also is None)
        )
        return done

    def append_all(
        self, run_id: str, payloads: Sequence[Payload | Opaque], *, lease: int | None = None, also: Effect | None = None
    ) -> Awaitable[Stored]:
        """Store several events in one transaction: all of them or none."""
        if run_id in self._lanes or any(map(is_delta, payloads)):
            items = [item for payload in payloads for item in self._items(run_id, payload)]
        else:
            items = [Item(payload, encode_payload(payload)) for payload in payloads]
        return self._submit(run_id, items, lease=lease, also=also)

    def claim(self, run_id: str, tell: Tell, *, also: Callable[[apsw.Connection, int], object]) -> Awaitable[Claimed]:
        """Move the run's lease to a new generation and append what `tell` says of the run as it stands, in one transaction.

        `also` writes the rows that go with it and knows the generation. Either may refuse with an error of ours, and then
        nothing has happened. Whoever held the run before is refused from here on.
        """

        def items(info: RunInfo) -> Sequence[Item]:
            return redact_items([Item(payload, encode_payload(payload)) for payload in tell(info)], self.redactor)

        claim = Claim(items, also)
        stored: asyncio.Future[Stored] = self._loop.create_future()
        claimed: asyncio.Future[Claimed] = self._loop.create_future()
        stored.add_done_callback(lambda done: _settle_claim(claim, done, claimed))
        self._committer.submit(Request(run_id, (), stored, claim=claim))
        return claimed

    async def offer(self, run_id: str, delta: Delta, *, lease: int | None = None) -> None:
        """Hand over a piece of stream text. It is stored soon, joined with its neighbours; `flush` waits for that.

        A piece that could not be stored fails the next `offer` or `flush` of its run.
        """
        lane = self._lanes.get(run_id)
        if lane is None:
            lane = self._lanes[run_id] = Lane(new_redactor=self.redactor.stream)
        pushed_out = lane.push(delta)
        if pushed_out is not None:
            self._store_offered(run_id, [pushed_out], lease)
        if lane.size >= self._settings.coalesce_chars:
            self._store_offered(run_id, [lane.take()], lease)
        elif lane.size and run_id not in self._timers:
            self._timers[run_id] = self._loop.call_later(self._settings.coalesce_s, self._due, run_id, lease)
        if self._committer.backlog > self._settings.queue_max:
            await self.flush(run_id, lease=lease)
        elif (offered := self._offered.get(run_id)) is not None and offered.done():
            await offered

    async def flush(self, run_id: str, *, lease: int | None = None) -> None:
        """Return when all text that was offered and is free to go is durable. A possible secret's start stays held back."""
        lane = self._lanes.get(run_id)
        if lane is not None:
            self._store_offered(run_id, [lane.take()], lease)
        offered = self._offered.pop(run_id, None)
        if offered is not None:
            await offered

    def signal(self, topic: str) -> None:
        """Ring for a topic, here and in every other process on this store. Call it after the write that it announces."""
        self.bell.signal(topic)
        self._hearing.ring(topic)

    def foreign(self) -> "asyncio.Future[bool]":
        """Show here what other processes have committed; the result says whether the store had changed at all.

        This happens by itself whenever they commit; whoever cannot wait for that may ask.
        """
        return self._hearing.catch_up()

    def figures(self) -> Figures:
        """How it fares now."""
        committer = self._committer
        return Figures(
            committer.events, committer.commits, committer.commit_s, committer.backlog, self._log.unsealed.bytes
        )

    async def write(self, effect: Effect) -> None:
        """Change state that no event tells of. Returns when it is durable."""
        await self._committer.exclusively(lambda: self._log.run(effect))

    async def adopt(self, head: Head, count: int) -> None:
        """Let a run be seen whose events have been put into chunks already."""
        await self._committer.exclusively(lambda: self._log.adopt(head, count))
        self._committer.events += count
        # The tail knows nothing of these positions, so it must not answer for them.
        self._tail.clear()
        self.bell.ring([head.birth.run_id])
        self._hearing.committed()
        self.keeper.notice()

    async def forget(self, run_id: str) -> None:
        """Drop what memory holds of a run whose past has changed in the store."""
        await self._committer.exclusively(lambda: self._log.forget(run_id))
        self._forgotten(run_id)
        self._hearing.forgotten(run_id)

    def start(self) -> None:
        """Begin to keep the store and to hear other processes."""
        self.keeper.start()
        self._hearing.start()

    async def close(self) -> None:
        """Store what was offered, finish what waits, stop the keeper."""
        for run_id, lane in list(self._lanes.items()):
            self._store_offered(run_id, lane.close_all(), None)
        await self._committer.drained()
        self._hearing.close()
        await self.keeper.close()
        await self._committer.close()
        self.reader.close()
        self.bell.ring_all()

    def _due(self, run_id: str, lease: int | None) -> None:
        self._timers.pop(run_id, None)
        lane = self._lanes.get(run_id)
        if lane is not None:
            self._store_offered(run_id, [lane.take()], lease)

    def _store_offered(self, run_id: str, deltas: Sequence[Delta | None], lease: int | None) -> None:
        timer = self._timers.pop(run_id, None)
        if timer is not None:
            timer.cancel()
        items = [Item(delta, encode_payload(delta), redacted=True) for delta in deltas if delta is not None]
        if not items:
            return
        done = self._offered[run_id] = self._loop.create_future()
        done.add_done_callback(_seen)
        self._committer.submit(Request(run_id, items, done, lease, plain=True))

    def _items(self, run_id: str, payload: Payload | Opaque) -> list[Item]:
        """The payload, and before it the stream text that must not come after it."""
        if is_delta(payload):
            raise ValueError(f"{payload.type} is stream text: hand it to offer(), which sees across its pieces")
        lane = self._lanes.get(run_id)
        if lane is None:
            return [Item(payload, encode_payload(payload))]
        items = [Item(delta, encode_payload(delta), redacted=True) for delta in lane.close(payload)]
        if lane.empty:
            del self._lanes[run_id]
        return [*items, Item(payload, encode_payload(payload))]

    def _submit(
        self,
        run_id: str,
        items: Sequence[Item],
        *,
        lease: int | None = None,
        birth: RunBirth | None = None,
        also: Effect | None = None,
    ) -> "asyncio.Future[Stored]":
        if not items:
            raise ValueError("there is nothing to append")
        done: asyncio.Future[Stored] = self._loop.create_future()
        plain = birth is None and also is None and TERMINAL.isdisjoint([item.payload.type for item in items[:-1]])
        self._committer.submit(Request(run_id, items, done, lease, birth, also, plain))
        return done

    def _forget(self, run_id: str) -> None:
        """Another process has changed a run's past."""
        forgot = self._committer.exclusively(lambda: self._log.forget(run_id))
        forgot.add_done_callback(lambda _: self._forgotten(run_id))

    def _forgotten(self, run_id: str) -> None:
        self._tail.clear()
        self.reader.forget()
        self.bell.ring([run_id])

    def _hear(self, foreign: Foreign) -> None:
        """Other processes have committed: show it as if it had been committed here."""
        if not foreign.whole:
            self._tail.clear()
        for commit in foreign.commits:
            self._tail.publish(commit)
        if self.bell.awaited:
            self.bell.ring(foreign.run_ids)
        self.keeper.notice()

    def _publish(self, commit: Commit) -> None:
        self._tail.publish(commit)
        if self.bell.awaited:
            self.bell.ring(commit.run_ids)
        self._hearing.committed()
        self.keeper.notice()


def _settle_claim(claim: Claim, done: "asyncio.Future[Stored]", claimed: "asyncio.Future[Claimed]") -> None:
    failure = done.exception()
    if claimed.done():
        return
    if failure is not None:
        claimed.set_exception(failure)
    elif claim.info is not None:
        claimed.set_result(Claimed(done.result(), claim.generation, claim.info))


def _seen(done: "asyncio.Future[Stored]") -> None:
    """Look at a failure so that the loop does not report it as lost: the run's next offer or flush raises it."""
    if not done.cancelled():
        done.exception()


@asynccontextmanager
async def open_journal(
    path: Path, *, redactor: Redactor, clock: Clock, ids: Ids, settings: JournalSettings | None = None
) -> AsyncGenerator[Journal]:
    """Open the journal at `path`, making or migrating it, and close it at the end."""
    patience = Patience()
    db = open_writer(path, patience)
    try:
        migrate(db)
        with ProcessLock(path.with_name(path.name + ".keeper")) as alone:
            if alone:
                sweep(db)
        log = Log(db=db, patience=patience, unsealed=Unsealed(), clock=clock, ids=ids)
        journal = Journal(path=path, log=log, redactor=redactor, settings=settings or JournalSettings())
        journal.start()
        try:
            yield journal
        finally:
            await journal.close()
    finally:
        db.close()
