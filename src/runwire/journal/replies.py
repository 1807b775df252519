"""Replies: what was answered to a request that carried an idempotency key, so that a repeat gets the same answer."""

import asyncio
from dataclasses import dataclass
from hashlib import sha256

import apsw

from runwire.clock import Clock
from runwire.errors import Conflict, IdempotencyConflict
from runwire.journal.journal import Journal
from runwire.journal.records import Effect

KEPT_NS = 24 * 3_600 * 1_000_000_000
# Done with every reply that is kept, so that old ones never pile up and no single request pays for many.
_PRUNED_AT_ONCE = 32
_SLICE = 1_000
# The status of a request that was carried out but whose answer has not been kept.
_UNANSWERED = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and its key. `request` says who asked what, for keys of different callers may collide."""

    key: str
    request: str
    digest: bytes
    """sha256 of the body that came with it."""
    again: bool = False
    """Whether it was begun before, by a process that never answered, and is now taken up."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it was sent."""

    status: int
    body: bytes

    @property
    def lost(self) -> bool:
        """Whether the request was begun and its answer is not there."""
        return self.status == _UNANSWERED


class Replies:
    """Remembers replies for a day. Repeats that arrive while the first is under way wait for its answer."""

    def __init__(self, *, journal: Journal, clock: Clock) -> None:
        """Keep replies in the journal's database."""
        self._journal = journal
        self._clock = clock
        self._under_way: dict[tuple[str, str], asyncio.Future[None]] = {}

    async def begin(self, asked: Asked, *, takes_up: bool = False) -> Reply | None:
        """The reply that this request has had before, or None: then it is yours to carry out.

        Whoever gets None must call `keep` or `release`. A key that came with another body is an IdempotencyConflict. One
        whose answer was lost is a Conflict, unless the caller takes it up: then the reply says so and counts like None.
        """
        name = (asked.key, asked.request)
        while (first := self._under_way.get(name)) is not None:
            await asyncio.wait([first])
        self._under_way[name] = asyncio.get_running_loop().create_future()
        try:
            reply = await self._journal.reader.query(lambda db: _find(db, asked, self._oldest()))
        except BaseException:
            self.release(asked)
            raise
        if reply is not None and reply.lost and not takes_up:
            self.release(asked)
            raise answer_lost()
        if reply is not None and not reply.lost:
            self.release(asked)
        return reply

    def claim(self, asked: Asked) -> Effect:
        """Mark the request as carried out, in the transaction that does it.

        A repeat after a crash then finds that it was done and is refused, rather than done twice.
        """
        now_ns, oldest = self._clock.now_ns(), self._oldest()

        def effect(db: apsw.Connection) -> None:
            # Another process may have been faster; its answer, or its claim, stands.
            before = _find(db, asked, oldest)
            if before is not None and not (before.lost and asked.again):
                raise answer_lost() if before.lost else IdempotencyConflict(asked.key)
            _save(db, asked, Reply(_UNANSWERED, b""), now_ns)

        return effect

    async def keep(self, asked: Asked, reply: Reply) -> None:
        """Store the reply, without secrets, and let those who wait for it have it."""
        try:
            body, _ = self._journal.redactor.redact_body(reply.body, is_text=True)
            kept = Reply(reply.status, body)
            now_ns, oldest = self._clock.now_ns(), self._oldest()

            def effect(db: apsw.Connection) -> None:
                _save(db, asked, kept, now_ns)
                _prune(db, oldest, _PRUNED_AT_ONCE)

            await self._journal.write(effect)
        finally:
            self.release(asked)

    def release(self, asked: Asked) -> None:
        """Give the request up without a reply; the next repeat may carry it out."""
        under_way = self._under_way.pop((asked.key, asked.request), None)
        if under_way is not None:
            under_way.set_result(None)

    async def prune(self) -> int:
        """Forget the replies that are older than a day; say how many."""
        gone = [0]

        def effect(db: apsw.Connection) -> None:
            gone.append(_prune(db, self._oldest(), _SLICE))

        await self._journal.write(effect)
        while gone[-1] == _SLICE:
            await self._journal.write(effect)
        return sum(gone)

    def _oldest(self) -> int:
        return self._clock.now_ns() - KEPT_NS


def answer_lost() -> Conflict:
    """What a repeat is told when nobody knows the answer to the first any more."""
    return Conflict(
        "the first request with this key was carried out, but its answer is not there",
        hint="look at what it did; it may still be under way elsewhere, or its process died before it could answer",
    )


def _find(db: apsw.Connection, asked: Asked, oldest_ns: int) -> Reply | None:
    row = db.execute(
        "SELECT digest, status, body FROM replies WHERE idempotency_key = ? AND request = ? AND created_ns >= ?",
        (_kept(asked.key), asked.request, oldest_ns),
    ).fetchone()
    if row is None:
        return None
    digest, status, body = row
    if digest != asked.digest:
        raise IdempotencyConflict(asked.key)
    return Reply(status, body)


def _save(db: apsw.Connection, asked: Asked, reply: Reply, now_ns: int) -> None:
    db.execute(
        "INSERT INTO replies (idempotency_key, request, digest, status, body, created_ns) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (idempotency_key, request) DO UPDATE SET digest = excluded.digest, status = excluded.status, "
        "body = excluded.body, created_ns = excluded.created_ns",
        (_kept(asked.key), asked.request, asked.digest, reply.status, reply.body, now_ns),
    )


def _kept(key: str) -> str:
    """What the store remembers a key by: a caller may have made it of anything."""
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _prune(db: apsw.Connection, oldest_ns: int, most: int) -> int:
    """Delete some of the replies that are older; say how many."""
    old = db.execute(
        "SELECT idempotency_key, request FROM replies WHERE created_ns < ? ORDER BY created_ns LIMIT ?",
        (oldest_ns, most),
    ).fetchall()
    db.executemany("DELETE FROM replies WHERE idempotency_key = ? AND request = ?", old)
    return len(old)
