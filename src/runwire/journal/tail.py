"""The shared tail: the newest commits in memory, for every live reader at once. Readers bring cursors; it keeps no queues.

A run is indexed when somebody first reads it, so that the many runs nobody watches cost next to nothing.
"""

from bisect import bisect_right
from collections import deque

from runwire.journal.frames import cut, last_sequence, skip, split
from runwire.journal.records import Batch, Commit, FeedEvent, Segment

_GONE = Segment("", -1, -1, b"")
_INDEXED_MAX = 4_096
# Readers who wait share one or two. Many who stopped at places of their own must not keep one each.
_SHARED_MAX = 16


class _RunTail:
    """The newest segments of one run. Dropped ones are cut off in bulk, so that dropping stays cheap."""

    __slots__ = ("batches", "firsts", "segments", "start")

    def __init__(self) -> None:
        self.firsts: list[int] = []
        self.segments: list[Segment] = []
        self.start = 0
        # Readers that wait at the same place get the same bytes object: joined once, shared by all.
        self.batches: dict[tuple[int, int], Batch] = {}

    def add(self, segment: Segment) -> None:
        self.firsts.append(segment.first)
        self.segments.append(segment)
        if self.batches:
            self.batches.clear()

    def drop_oldest(self) -> None:
        """Forget the oldest segment."""
        self.segments[self.start] = _GONE
        self.start += 1
        if self.start > 1024:
            del self.firsts[: self.start], self.segments[: self.start]
            self.start = 0

    def after(self, cursor: int, max_bytes: int) -> Batch | None:
        at = bisect_right(self.firsts, cursor + 1, self.start) - 1
        if at < self.start or self.segments[-1].last <= cursor:
            return None
        known = self.batches.get((cursor, max_bytes))
        if known is None:
            if len(self.batches) == _SHARED_MAX:
                del self.batches[next(iter(self.batches))]
            known = self.batches[cursor, max_bytes] = self._join(at, cursor, max_bytes)
        return known

    def _join(self, at: int, cursor: int, max_bytes: int) -> Batch:
        oldest = self.segments[at]
        frames = oldest.frames if oldest.first > cursor else skip(oldest.frames, cursor)
        last = oldest.last
        if len(frames) > max_bytes:
            end = cut(frames, max_bytes)
            return Batch(last_sequence(frames, end), frames[:end])
        pieces, size = [frames], len(frames)
        for segment in self.segments[at + 1 :]:
            size += len(segment.frames)
            if size > max_bytes:
                break
            pieces.append(segment.frames)
            last = segment.last
        return Batch(last, pieces[0] if len(pieces) == 1 else b"".join(pieces))


class Tail:
    """The newest commits, bounded by bytes; the oldest leave first."""

    def __init__(self, *, max_bytes: int) -> None:
        """Empty."""
        self._max_bytes = max_bytes
        self._bytes = 0
        self._commits: deque[Commit] = deque()
        self._runs: dict[str, _RunTail] = {}

    def publish(self, commit: Commit) -> None:
        """Show a durable commit to live readers."""
        commits = self._commits
        if commits and commits[-1].position + commits[-1].count != commit.position:
            # Another process has committed in between; a tail with a hole would make its readers skip that.
            self.clear()
        commits.append(commit)
        if self._runs:
            for segment in commit.segments(self._runs):
                self._runs[segment.run_id].add(segment)
        self._bytes += len(commit.body)
        while self._bytes > self._max_bytes and len(commits) > 1:
            self._drop(commits.popleft())

    def clear(self) -> None:
        """Forget everything: the store will be read instead."""
        self._commits.clear()
        self._runs.clear()
        self._bytes = 0

    def after(self, run_id: str, cursor: int, max_bytes: int) -> Batch | None:
        """Frames past the cursor, or None when the tail does not reach back to it or holds nothing newer."""
        tail = self._runs.get(run_id)
        if tail is None:
            tail = self._indexed(run_id)
        return tail.after(cursor, max_bytes)

    def _indexed(self, run_id: str) -> _RunTail:
        if len(self._runs) >= _INDEXED_MAX:
            del self._runs[next(iter(self._runs))]
        tail = self._runs[run_id] = _RunTail()
        for commit in self._commits:
            if run_id in commit.run_ids:
                for segment in commit.segments({run_id}):
                    tail.add(segment)
        return tail

    def feed(self, position: int, limit: int) -> tuple[list[FeedEvent], int] | None:
        """Events from a feed position on and where to go on, or None when the tail does not reach back to it."""
        if not self._commits or position < self._commits[0].position:
            return None
        events: list[FeedEvent] = []
        for commit in self._from(position):
            place = commit.position
            for segment in commit.segments():
                count = segment.last - segment.first + 1
                if place + count > position:
                    _collect(events, segment, place, position, limit)
                place += count
                if len(events) == limit:
                    return events, events[-1].position + 1
            position = place
        return events, position

    def _from(self, position: int) -> list[Commit]:
        found: list[Commit] = []
        for commit in reversed(self._commits):
            if commit.position + commit.count <= position:
                break
            found.append(commit)
        found.reverse()
        return found

    def _drop(self, commit: Commit) -> None:
        self._bytes -= len(commit.body)
        if self._runs:
            for run_id in commit.run_ids:
                tail = self._runs.get(run_id)
                if tail is not None:
                    tail.drop_oldest()


def _collect(events: list[FeedEvent], segment: Segment, place: int, position: int, limit: int) -> None:
    for offset, (_, envelope) in enumerate(split(segment.frames)):
        if place + offset >= position and len(events) < limit:
            events.append(FeedEvent(place + offset, segment.run_id, envelope))
