"""What a run emits, on its way to the journal: gathered for a moment, stored in the order of the calls.

A run has one batch of requests under way at a time. What comes meanwhile waits and goes together, so that a failure is
known before anything is stored behind it.
"""

import asyncio
from collections.abc import Callable, Generator, Sequence
from typing import cast

from msgspec.structs import replace

from runwire.errors import RunFinished, RunwireError, StaleLease, StoreError
from runwire.host import Stopped
from runwire.journal.frames import split
from runwire.journal.journal import Journal
from runwire.journal.records import Effect, Stored
from runwire.protocol.envelope import event_id_of, type_of
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.stream import COMPACTABLE
from runwire.workspace.probing import Probe, unwatched

_READ_BYTES = 64 * 1024
# What nobody waits for may wait itself, for company: every commit costs the disk the same, however much is in it.
_LINGER_S = 0.004


class _Batch:
    """Events that become durable together."""

    __slots__ = ("also", "failure", "over", "payloads", "stored", "waiters")

    def __init__(self, payloads: list[Payload | Opaque], also: Effect | None) -> None:
        self.payloads = payloads
        self.also = also
        self.stored: Stored | None = None
        self.failure: BaseException | None = None
        self.over = False
        self.waiters: list[asyncio.Future[None]] = []


class Ticket:
    """A promise of the outbox: awaited, it is kept once the events are durable, or breaks with what went wrong."""

    __slots__ = ("_batch", "_outbox", "_upto")

    def __init__(self, outbox: "Outbox", batch: _Batch | None, upto: int) -> None:
        """Stand for the events of a batch up to a place in it."""
        self._outbox = outbox
        self._batch = batch
        self._upto = upto

    def __await__(self) -> Generator[object, None, Stored]:
        return self._outbox.kept(self._batch, self._upto).__await__()


class Outbox:
    """Stores what one run emits under its lease."""

    def __init__(
        self,
        *,
        journal: Journal,
        run_id: str,
        lease: int,
        broken: Callable[[BaseException], None],
        probe: Probe = unwatched,
    ) -> None:
        """Append to a run; call `broken` when something could not be stored, after which nothing more is."""
        self._journal = journal
        self._run_id = run_id
        self._lease = lease
        self._broken = broken
        self._probe = probe
        self._waiting: list[_Batch] = []
        self._under_way = 0
        self._scheduled = False
        self._newest: _Batch | None = None
        self._failure: BaseException | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def unsent(self) -> bool:
        """Whether something waits that is not on its way."""
        return bool(self._waiting)

    def put(self, payloads: Sequence[Payload | Opaque], also: Effect | None = None) -> Ticket:
        """Take events; they are sent as soon as somebody waits for them, and otherwise in a moment."""
        if self._failure is not None:
            raise Stopped("lost") from self._failure
        if not payloads:
            return Ticket(self, self._newest, 0)
        last = self._waiting[-1] if self._waiting else None
        # What may be refused for reasons of its own must not take others with it.
        if also is None and last is not None and last.also is None:
            last.payloads.extend(payloads)
        else:
            last = _Batch(list(payloads), also)
            self._waiting.append(last)
            self._newest = last
        # What is under way sends the rest when it arrives.
        if not (self._scheduled or self._under_way):
            self._scheduled = True
            self._loop.call_later(_LINGER_S, self._due)
        return Ticket(self, last, len(last.payloads))

    def flush(self) -> None:
        """Send what waits, unless something is under way; then it follows by itself."""
        if self._under_way or not self._waiting:
            return
        batches, self._waiting = self._waiting, []
        self._under_way = len(batches)
        for batch in batches:
            if self._failure is None:
                self._send(batch)
            else:
                self._arrived(batch, None, self._failure)

    async def sent(self) -> None:
        """Return when all that was put so far is on its way."""
        self.flush()
        while self._waiting:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._waiting[0].waiters.append(waiter)
            await waiter

    def abandon(self, why: BaseException) -> None:
        """Send nothing more; who waits is told."""
        self._failure = self._failure or why
        batches, self._waiting = self._waiting, []
        for batch in batches:
            self._settle(batch, None, why)

    def let_go(self) -> None:
        """Tell nobody any more when something could not be stored."""
        self._broken = _nobody

    async def kept(self, batch: _Batch | None, upto: int) -> Stored:
        """Wait until a batch is durable and say where the events up to a place in it are."""
        if batch is None:
            return Stored(self._run_id, -1, "", -1)
        self.flush()
        while not batch.over:
            waiter: asyncio.Future[None] = self._loop.create_future()
            batch.waiters.append(waiter)
            await waiter
            # Woken because it was sent, or because it is over.
        if batch.failure is not None:
            raise _shown(batch.failure)
        if batch.stored is None:
            raise Stopped("lost")
        behind = len(batch.payloads) - upto
        return batch.stored if behind == 0 or upto == 0 else await self._place(batch.stored, behind)

    def _due(self) -> None:
        self._scheduled = False
        self.flush()

    def _send(self, batch: _Batch) -> None:
        self._tell_of("before", batch)
        try:
            appended = self._journal.append_all(self._run_id, batch.payloads, lease=self._lease, also=batch.also)
        except ValueError as mistake:
            # Text that is no Unicode, or a piece of a stream: the emitter's mistake.
            self._arrived(batch, None, mistake)
            return
        # The journal promises something to await and hands out futures, which a callback spares a task for.
        done = cast("asyncio.Future[Stored]", appended)
        done.add_done_callback(lambda ran: self._arrived(batch, *_result(ran)))
        self._wake(batch)

    def _arrived(self, batch: _Batch, stored: Stored | None, failure: BaseException | None) -> None:
        self._under_way -= 1
        if failure is None:
            self._tell_of("after", batch)
        self._settle(batch, stored, failure)
        if failure is not None and not (batch.also is not None and _is_refusal(failure)):
            broke_now = self._failure is None
            self.abandon(failure)
            if broke_now:
                self._broken(failure)
        if self._waiting and not self._under_way:
            # A round later: whoever was woken by this may have more to say, and others who were end or begin with it.
            self._loop.call_soon(self.flush)

    def _settle(self, batch: _Batch, stored: Stored | None, failure: BaseException | None) -> None:
        batch.stored, batch.failure, batch.over = stored, failure, True
        self._wake(batch)

    def _tell_of(self, when: str, batch: _Batch) -> None:
        if self._probe is not unwatched:
            for payload in batch.payloads:
                self._probe(f"{when} {payload.type}")

    def _wake(self, batch: _Batch) -> None:
        waiters, batch.waiters = batch.waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _place(self, last: Stored, behind: int) -> Stored:
        """Where the event is that so many follow in its batch; stream text that was stored between them does not count."""
        after = max(-1, last.sequence - behind - 1)
        while True:
            batch = await self._journal.reader.read(self._run_id, after, _READ_BYTES)
            found = [] if batch is None else split(batch.frames)
            own = [(sequence, one) for sequence, one in found if sequence <= last.sequence]
            own = [(sequence, one) for sequence, one in own if type_of(one) not in COMPACTABLE]
            if len(own) > behind or after < 0:
                sequence, envelope = own[-1 - behind]
                moved = last.position - (last.sequence - sequence)
                return replace(last, sequence=sequence, event_id=event_id_of(envelope), position=moved)
            after = max(-1, after - behind - 1)


def _nobody(_: BaseException) -> None:
    pass


def _result(done: "asyncio.Future[Stored]") -> tuple[Stored | None, BaseException | None]:
    failure = done.exception()
    return (None, failure) if failure is not None else (done.result(), None)


def _is_refusal(failure: BaseException) -> bool:
    """Whether one request was refused for its own reasons, and the run is as it was."""
    return isinstance(failure, RunwireError) and not isinstance(failure, (StaleLease, RunFinished, StoreError))


def _shown(failure: BaseException) -> BaseException:
    """What an emitter is told: its own mistake as it is, everything else as the end of its stay."""
    if isinstance(failure, ValueError) or _is_refusal(failure) or isinstance(failure, Stopped):
        return failure
    stopped = Stopped("lost")
    stopped.__cause__ = failure
    return stopped
