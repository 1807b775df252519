"""The way out: batches of stored bytes, from the shared tail for those who keep up and from the store for those behind."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import local
from typing import Protocol, TypeVar

import apsw

from runwire.errors import RunNotFound
from runwire.journal.frames import cut, last_sequence
from runwire.journal.records import Batch, FeedEvent, Head, RunInfo
from runwire.journal.store.database import open_reader, snapshot
from runwire.journal.store.known import Known
from runwire.journal.store.reading import Keep, Poured, next_position, pour, read_feed, read_segment
from runwire.journal.store.rows import list_heads, load_head
from runwire.journal.store.unsealed import Unsealed
from runwire.journal.tail import Tail

_T = TypeVar("_T")
_COMMITS_A_READ = 64
_PAGES = 32
_THREADS = 4
# Whoever pours keeps a thread for milliseconds, so these have their own: neither kind waits behind the other.
_POURING_THREADS = 2


@dataclass(frozen=True, slots=True)
class _Page:
    """Frames that were read from the store, up to `last`; those before `start` have been handed out."""

    frames: bytes
    start: int
    last: int


class Outlet(Protocol):
    """Where frames are poured: used in a thread until it is closed."""

    def take(self, frames: bytes) -> int:
        """Take as many bytes as there is room for, and say how many those were."""
        ...

    def close(self) -> None:
        """Take nothing more; whoever still tries to hand something over fails."""
        ...


class Reader:
    """Reads runs and the feed. It never blocks the loop on the disk and never blocks a writer."""

    def __init__(self, *, path: Path, tail: Tail, unsealed: Unsealed, known: Callable[[str], Head | None]) -> None:
        """Read the database at `path` beside the writer that knows some runs' heads already."""
        self._path = path
        self._tail = tail
        self._unsealed = unsealed
        self._known = Known(known)
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="runwire-read")
        self._pouring_threads = ThreadPoolExecutor(max_workers=_POURING_THREADS, thread_name_prefix="runwire-pour")
        self._pouring = asyncio.Semaphore(_POURING_THREADS)
        self._loading: dict[str, asyncio.Future[Head | None]] = {}
        self._own = local()
        self._opened: list[apsw.Connection] = []
        self._keys: dict[str, int] = {}
        self._pages: OrderedDict[tuple[str, int], _Page] = OrderedDict()

    def close(self) -> None:
        """Close every connection."""
        self._threads.shutdown()
        self._pouring_threads.shutdown()
        for db in self._opened:
            db.close()

    async def run(self, run_id: str) -> RunInfo:
        """What a run is now."""
        head = self._known.head(run_id) or await self._load(run_id)
        if head is None:
            raise RunNotFound(run_id)
        self._keys[run_id] = head.run_key
        return head.info()

    async def _load(self, run_id: str) -> Head | None:
        """A run's head from the store. Its newest events have to be told for that: once, for all who ask meanwhile."""
        loading = self._loading.get(run_id)
        if loading is None:
            loading = self._in_thread(self._threads, lambda db: load_head(db, run_id, self._unsealed, self._known))
            self._loading[run_id] = loading
            loading.add_done_callback(lambda _: self._loading.pop(run_id, None))
        # One who gives up must not take it from the others.
        return await asyncio.shield(loading)

    async def runs(self, where: str, values: tuple[object, ...], limit: int) -> list[RunInfo]:
        """Runs that fit a condition, newest first."""
        heads = await self.query(
            lambda db: list(list_heads(db, self._unsealed, where, values, limit, known=self._known))
        )
        return [(self._known.head(head.birth.run_id) or head).info() for head in heads]

    def newest(self, run_id: str, after: int, max_bytes: int) -> Batch | None:
        """Frames past `after` from memory, or None when the store has to be asked or there are none."""
        return self._tail.after(run_id, after, max_bytes)

    async def read(self, run_id: str, after: int, max_bytes: int) -> Batch | None:
        """Frames past `after`, at least one whole frame and about `max_bytes` at most; None at the end of the log."""
        batch = self._tail.after(run_id, after, max_bytes)
        if batch is not None:
            return batch
        page = self._pages.get((run_id, after)) or await self._page(run_id, after)
        return None if page is None else self._slice(run_id, page, max_bytes)

    async def pour(
        self, run_id: str, after: int, open_outlet: Callable[[], Outlet], keep: Keep | None
    ) -> Poured | None:
        """Hand stored frames past `after`, or those to `keep`, to an outlet as long as it takes them; None at the end.

        They go from the store to the outlet within one thread and wait nowhere, so that a reader far behind is served at
        the speed of its connection and one who has stopped holds nothing. The outlet is open for no longer than the call,
        even when the call is given up.
        """
        run_key = await self.key(run_id)
        async with self._pouring:
            positions = self._unsealed.positions(run_key, after, _COMMITS_A_READ)
            outlet = open_outlet()
            try:
                return await self._in_thread(
                    self._pouring_threads, lambda db: pour(db, run_key, after, positions, outlet.take, keep)
                )
            finally:
                outlet.close()

    async def _page(self, run_id: str, after: int) -> _Page | None:
        run_key = await self.key(run_id)
        positions = self._unsealed.positions(run_key, after, _COMMITS_A_READ)
        segment = await self.query(lambda db: read_segment(db, run_key, after, positions))
        return None if segment is None else _Page(segment.frames, 0, segment.last)

    def _slice(self, run_id: str, page: _Page, max_bytes: int) -> Batch:
        """The page's next frames. The rest is kept for whoever asks next, not for this reader: one who has stopped
        reading holds no page."""
        end = cut(page.frames, max_bytes, page.start)
        if end == len(page.frames):
            return Batch(page.last, page.frames[page.start :])
        last = last_sequence(page.frames, end)
        self._pages[run_id, last] = _Page(page.frames, end, page.last)
        if len(self._pages) > _PAGES:
            self._pages.popitem(last=False)
        return Batch(last, page.frames[page.start : end])

    def forget(self) -> None:
        """Drop what was read: the store has changed below it."""
        self._pages.clear()
        self._keys.clear()
        self._known.forget()

    async def feed(self, position: int, limit: int) -> tuple[list[FeedEvent], int]:
        """Up to `limit` events of all runs from `position` on, and where to go on; an empty list is the end."""
        while True:
            found = self._tail.feed(position, limit)
            events, following = await self.query(_feed_page(position, limit)) if found is None else found
            if events or following == position:
                return events, following
            # A stretch of the feed that has been pruned whole.
            position = following

    async def feed_end(self) -> int:
        """The position that the next event will take, or an earlier one: never one that a committed event lies behind."""
        return await self.query(next_position)

    async def query(self, work: Callable[[apsw.Connection], _T]) -> _T:
        """Run `work` on a read-only snapshot in a thread."""
        return await self._in_thread(self._threads, work)

    def _in_thread(self, threads: ThreadPoolExecutor, work: Callable[[apsw.Connection], _T]) -> asyncio.Future[_T]:
        return asyncio.get_running_loop().run_in_executor(threads, self._on_snapshot, work)

    def _on_snapshot(self, work: Callable[[apsw.Connection], _T]) -> _T:
        db: apsw.Connection | None = getattr(self._own, "db", None)
        if db is None:
            db = self._own.db = open_reader(self._path)
            self._opened.append(db)
        with snapshot(db):
            return work(db)

    async def key(self, run_id: str) -> int:
        """The number that the store knows a run by."""
        if run_id not in self._keys:
            await self.run(run_id)
        return self._keys[run_id]


def _feed_page(position: int, limit: int) -> Callable[[apsw.Connection], tuple[list[FeedEvent], int]]:
    return lambda db: read_feed(db, position, limit)
