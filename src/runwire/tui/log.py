"""The log of one run as a list that is read where somebody looks. It holds a few thousand envelopes, however many there are."""

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass

from runwire.client.client import Client
from runwire.protocol.catalogue import type_filter
from runwire.protocol.envelope import sequence_of, type_of
from runwire.protocol.events.gap import GapEventsPruned

HELD_EVENTS = 4096
HELD_BYTES = 16 * 1024 * 1024
SPAN = 256
"""How many events are asked for at a time."""
SCAN = 2000
"""How many events are asked for at a time when a filter goes through all of them."""
# A hole of so many events costs less to read than another request.
_WORTH_READING = 32


@dataclass(frozen=True, slots=True)
class Sought:
    """What a filter lets through: types as in `tool.shell.*,run.*`, and a text that the envelope must hold."""

    types: str | None = None
    text: str = ""

    @classmethod
    def of(cls, typed: str) -> "Sought | None":
        """Read what somebody typed: words, and `type:` before a list of types. None when nothing was.

        Types that are none are a ValueError.
        """
        words = typed.split()
        types = ",".join(word[5:] for word in words if word.startswith("type:") and len(word) > 5)
        text = " ".join(word for word in words if not word.startswith("type:"))
        if types:
            type_filter(types)
        return cls(types or None, text.lower()) if types or text else None

    def holds(self, envelope: bytes) -> bool:
        """Whether the text is there, in the type or in what is said."""
        # Everything before the type is ids and the time.
        return not self.text or self.text.encode() in envelope[envelope.index(b',"type":"', 80) + 9 :].lower()

    def passes(self, envelope: bytes) -> bool:
        """Whether the type is one of those, and the text is there."""
        return (self.types is None or type_filter(self.types)(type_of(envelope))) and self.holds(envelope)


class Log:
    """Rows 0, 1, 2 and so on of one run, each an event, whatever their sequences are."""

    def __init__(self, client: Client, run_id: str) -> None:
        """Nothing is read before `open`."""
        self.run_id = run_id
        self.head = -1
        self.found: array[int] | None = None
        """The sequences that pass the filter, as far as they are known; None without one."""
        self._client = client
        self._seeking = False
        # What retention has left up to the last gap, with holes between. From `_start` on there are none.
        self._early: array[int] = array("q")
        self._start = 0
        self._pruned = False
        self._held: OrderedDict[int, bytes] = OrderedDict()
        self._held_bytes = 0

    async def open(self) -> None:
        """Learn how long the log is, and which of its events are still there if some are known to be gone."""
        run = await self._client.run(self.run_id)
        self.head = max(self.head, run.head_sequence)
        if self._pruned or run.first_sequence > 0:
            await self._learn_holes(run.first_sequence)

    def __len__(self) -> int:
        """How many rows there are."""
        if self.found is not None:
            return len(self.found)
        return len(self._early) + max(0, self.head - self._start + 1)

    def sequence(self, row: int) -> int:
        """Which event stands in a row."""
        if self.found is not None:
            return self.found[row]
        return self._early[row] if row < len(self._early) else self._start + row - len(self._early)

    def row(self, sequence: int) -> int:
        """The row of an event or, when it has none, of the one before it."""
        if self.found is not None:
            return max(0, bisect_right(self.found, sequence) - 1)
        if sequence < self._start:
            return max(0, bisect_right(self._early, sequence) - 1)
        return len(self._early) + sequence - self._start

    def held(self, row: int) -> bytes | None:
        """The envelope in a row, if it is here."""
        sequence = self.sequence(row)
        envelope = self._held.get(sequence)
        if envelope is not None:
            self._held.move_to_end(sequence)
        return envelope

    def missing(self, rows: Iterable[int]) -> list[int]:
        """The rows whose events are not here."""
        return [row for row in rows if 0 <= row < len(self) and self.sequence(row) not in self._held]

    async def fetch(self, rows: Sequence[int]) -> bool:
        """Read the events of these rows, which go up. False when some are gone, so that others are in their rows now."""
        sequences = [self.sequence(row) for row in rows if row < len(self)]
        for first, last in _spans(sequences):
            page = await self._client.read(self.run_id, after=first - 1, limit=last - first + 1)
            for raw in page.data:
                self._hold(bytes(raw))
        gone = {sequence for sequence in sequences if sequence not in self._held}
        if not gone:
            return True
        if self.found is not None:
            self.found = array("q", [sequence for sequence in self.found if sequence not in gone])
            return False
        before = self._start, len(self._early)
        self._pruned = True
        await self.open()
        # What no marker tells of is missing for good; asking for it again would bring nothing.
        return before == (self._start, len(self._early))

    def grow(self, head: int) -> None:
        """The log is so long now; what was added is read when somebody looks."""
        self.head = max(self.head, head)

    def add(self, sequence: int, envelope: bytes, sought: Sought | None = None) -> bool:
        """Take in an event that was just stored; False when others before it are missing, so that it is time to `open`."""
        whole = sequence <= self.head + 1
        self._pruned = self._pruned or not whole
        self.head = max(self.head, sequence)
        self._hold(envelope)
        if self.found is not None and not self._seeking and sought is not None and sought.passes(envelope):
            self._find(self.found, sequence)
        return whole

    async def seek(self, sought: Sought, progress: Callable[[int], None]) -> None:
        """Find every event that passes a filter, from the first on; `progress` hears how far it has come.

        Only the numbers of those found are kept.
        """
        found = self.found = array("q")
        self._seeking, after, more = True, -1, True
        try:
            while more and self.found is found:
                page = await self._client.read(self.run_id, after=after, types=sought.types, limit=SCAN)
                for raw in page.data:
                    envelope = bytes(raw)
                    if sought.holds(envelope):
                        self._find(found, sequence_of(envelope))
                        self._hold(envelope)
                further = page.next_after_sequence
                # What came live in the meantime was left to us.
                more, after = page.has_more or after < further < self.head, further
                progress(after)
        finally:
            self._seeking = False

    def forget_filter(self) -> None:
        """Let everything through again."""
        self.found = None

    async def _learn_holes(self, first: int) -> None:
        """Find out which events are left up to the last gap, behind which nothing is missing."""
        last = -1
        async for sequence in self._sequences(GapEventsPruned.type):
            last = max(last, sequence)
        early = array("q")
        if last >= 0:
            async for sequence in self._sequences(None):
                if sequence > last:
                    break
                early.append(sequence)
        self._early, self._start = early, max(first, last + 1)

    async def _sequences(self, types: str | None) -> AsyncGenerator[int]:
        after, more = -1, True
        while more:
            page = await self._client.read(self.run_id, after=after, types=types, limit=SCAN)
            for raw in page.data:
                yield sequence_of(bytes(raw))
            after, more = page.next_after_sequence, page.has_more

    @staticmethod
    def _find(found: "array[int]", sequence: int) -> None:
        if not found or sequence > found[-1]:
            found.append(sequence)

    def _hold(self, envelope: bytes) -> None:
        sequence = sequence_of(envelope)
        self._held_bytes += len(envelope) - len(self._held.pop(sequence, b""))
        self._held[sequence] = envelope
        # What is on the screen stays, however big it is.
        while len(self._held) > SPAN and (len(self._held) > HELD_EVENTS or self._held_bytes > HELD_BYTES):
            _, gone = self._held.popitem(last=False)
            self._held_bytes -= len(gone)


def _spans(sequences: Sequence[int]) -> list[tuple[int, int]]:
    """Sequences as ranges to read, both ends included."""
    spans: list[tuple[int, int]] = []
    for sequence in sequences:
        if spans and sequence - spans[-1][1] <= _WORTH_READING and sequence - spans[-1][0] < SPAN:
            spans[-1] = (spans[-1][0], sequence)
        else:
            spans.append((sequence, sequence))
    return spans
