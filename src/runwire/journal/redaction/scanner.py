"""Where secrets lie in a text, as far as the text seen so far can tell.

A scan answers with spans that are certain and with a frontier: what lies before it no later text can change. That is
why cutting a text into chunks cannot change what is redacted: nothing is decided that more text could decide otherwise.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from ahocorasick_rs import AhoCorasick, Implementation
from msgspec import Struct

from runwire.journal.redaction.grammar import Body, Head, Shape, Word, body_of
from runwire.journal.redaction.names import MEMBER_KINDS
from runwire.journal.redaction.placeholder import KIND_MAX, OPENING
from runwire.journal.redaction.secrets import KnownValue
from runwire.journal.redaction.spellings import spellings, telling_length

TRIGGER_MAX = 6
"""How many first characters make a place worth a closer look."""

LEFT_CONTEXT = 24
"""How many characters before a place its examination may look at."""

DFA_MAX = 6000
"""Up to so many triggers a full automaton is worth its memory (about half a kilobyte a state)."""

_PLACE = itemgetter(1, 0)
_PLACEHOLDER = re.compile(rf"{re.escape(OPENING)}([a-z0-9_.-]{{1,{KIND_MAX}}})\]")
_PLACEHOLDER_BEGUN = re.compile(rf"{re.escape(OPENING)}[a-z0-9_.-]{{0,{KIND_MAX}}}|{Word((OPENING,)).begun()}")
# A letter that ends an escape of some kind (newline, percent, colour) is no letter of a word.
_ESCAPE_BEFORE = re.compile(
    r"(?:\\[abfnrtv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}"
    r"|(?:\x1b|\\x1b|\\u001b|\\033|\\e)\[[0-9;]{0,12}m)\Z"
)


@dataclass(frozen=True, slots=True)
class Known:
    """One spelling of a known value."""

    spelling: str
    kind: str


@dataclass(frozen=True, slots=True)
class Shaped:
    """A shape, ready to be looked for. The lower the rank, the more telling the kind."""

    kind: str
    rank: int
    anywhere: bool
    head: Head
    body: Body | None


@dataclass(frozen=True, slots=True)
class Trigger:
    """What may begin where a trigger has been found."""

    known: tuple[Known, ...]
    shaped: tuple[Shaped, ...]
    placeholder: bool


class Span(Struct, gc=False):
    """Text that is secret. `seen_from` is where its context begins; `open_bodies` may reach on into text to come."""

    start: int
    end: int
    kind: str
    rank: int
    seen_from: int
    open_bodies: tuple[tuple[Body, int], ...] = ()

    def join(self, other: "Span") -> None:
        """Take in a span that overlaps this one. The kind is that of the one that begins first."""
        if (other.start, other.rank) < (self.start, self.rank):
            self.kind, self.rank = other.kind, other.rank
        self.start = min(self.start, other.start)
        self.end = max(self.end, other.end)
        self.seen_from = min(self.seen_from, other.seen_from)
        if other.open_bodies:
            self.open_bodies = tuple(dict.fromkeys((*self.open_bodies, *other.open_bodies)))

    def shift(self, by: int) -> None:
        """Count positions from another place."""
        self.start += by
        self.end += by
        self.seen_from += by
        self.open_bodies = tuple((body, on + by) for body, on in self.open_bodies)


def compile_shapes(shapes: tuple[Shape, ...]) -> tuple[tuple[Shape, Shaped], ...]:
    """Make the patterns of all shapes, once for all scanners. Shapes whose bodies are alike share one."""
    bodies = {(shape.body, shape.ending): body_of(shape) for shape in shapes}
    return tuple(
        (shape, Shaped(shape.kind, rank, shape.anywhere, Head(shape), bodies[shape.body, shape.ending]))
        for rank, shape in enumerate(shapes, start=1)
    )


def known_spellings(values: Iterable[KnownValue], kinds: Mapping[str, str]) -> dict[str, str]:
    """Add every spelling of every value, with its kind. A spelling that is there already keeps the kind it has."""
    added = dict(kinds)
    for known in values:
        for spelling in spellings(known.value):
            added.setdefault(spelling, known.kind)
    return added


def kinds_shown(kinds: Mapping[str, str], shapes: tuple[tuple[Shape, Shaped], ...]) -> frozenset[str]:
    """Every kind that a placeholder of ours can show. In brackets of any other kind somebody might hide a secret."""
    return MEMBER_KINDS.union(kinds.values(), (shape.kind for shape, _ in shapes))


class Scanner:
    """Finds known values, shapes and placeholders. Immutable: a new secret makes a new scanner."""

    def __init__(self, kinds: Mapping[str, str], shapes: tuple[tuple[Shape, Shaped], ...]) -> None:
        """Look for these spellings and these shapes."""
        known: dict[str, list[Known]] = {}
        for spelling, kind in sorted(kinds.items()):
            known.setdefault(spelling[:TRIGGER_MAX], []).append(Known(spelling, kind))
        shaped: dict[str, list[Shaped]] = {}
        for shape, compiled in shapes:
            for text in shape.triggers(TRIGGER_MAX):
                shaped.setdefault(text, []).append(compiled)
        texts = sorted({*known, *shaped, OPENING[:TRIGGER_MAX]})
        self._triggers = tuple(
            Trigger(tuple(known.get(text, ())), tuple(shaped.get(text, ())), text == OPENING[:TRIGGER_MAX])
            for text in texts
        )
        self._kinds = kinds_shown(kinds, shapes)
        self._begun = frozenset(text[:length] for text in texts for length in range(1, len(text)))
        self._begun_ends = frozenset(begun[-3:] for begun in self._begun if len(begun) >= 3)
        automaton = AhoCorasick(texts, implementation=Implementation.DFA if len(texts) <= DFA_MAX else None)
        self._find = automaton.find_matches_as_indexes

    def hits(self, text: str) -> list[tuple[int, int, int]]:
        """Every place that is worth a closer look, as (trigger, start, end)."""
        try:
            return self._find(text, True)
        except UnicodeEncodeError:
            # Bytes that are no UTF-8 travel as lone surrogates, which the automaton does not take.
            return self._find(text.encode("utf-8", "replace").decode(), True)

    def certain(self, text: str, base: int) -> int:
        """Where the longest end of the text begins that could become a trigger."""
        begun = self._begun
        size = len(text)
        if size - base >= TRIGGER_MAX and text[-3:] not in self._begun_ends:
            # By far the most common case: no trigger has begun more than two characters ago.
            return size - 2 if text[-2:] in begun else size - 1 if text[-1] in begun else size
        for start in range(max(base, size - TRIGGER_MAX + 1), size):
            if text[start:] in begun:
                return start
        return size

    def examine(
        self, text: str, base: int, hits: list[tuple[int, int, int]], carried: Span | None, *, final: bool
    ) -> "Scan":
        """Look closely at every hit from `base` on; `carried` is the secret that an earlier scan left open."""
        scan = Scan(text, final=final, frontier=len(text) if final else self.certain(text, base))
        if carried is not None:
            scan.resume(carried)
        hits.sort(key=_PLACE)
        for index, start, _ in hits:
            if start >= scan.frontier:
                break
            if start < base or start < scan.passed:
                continue
            trigger = self._triggers[index]
            if trigger.placeholder:
                scan.look_for_placeholder(start, self._kinds)
                if scan.frontier < scan.passed:
                    # What looked like a beginning is the end of a placeholder.
                    scan.frontier = self.certain(text, scan.passed)
            for known in trigger.known:
                scan.look_for_known(start, known)
            for shaped in trigger.shaped:
                scan.look_for_shape(start, shaped)
        if not final:
            scan.withdraw()
        return scan


class Scan:
    """One look at one text: `spans` are certain as far as they begin before `frontier`."""

    __slots__ = ("_reached", "final", "frontier", "passed", "spans", "text")

    def __init__(self, text: str, *, final: bool, frontier: int) -> None:
        """Nothing has been found yet."""
        self.text = text
        self.final = final
        self.frontier = frontier
        self.passed = 0
        self.spans: list[Span] = []
        self._reached: dict[int, tuple[int, int, int | None]] = {}

    def resume(self, carried: Span) -> None:
        """Let a secret that was left open reach on."""
        waiting, carried.open_bodies = carried.open_bodies, ()
        for body, start in waiting:
            self._grow(carried, body, start)
        self.spans.append(carried)

    def look_for_placeholder(self, start: int, kinds: frozenset[str]) -> None:
        """Pass over a placeholder of ours: nothing in it is a secret."""
        found = _PLACEHOLDER.match(self.text, start)
        if found and found[1] in kinds:
            self.passed = found.end()
        elif not self.final and _PLACEHOLDER_BEGUN.fullmatch(self.text, start):
            self.frontier = min(self.frontier, start)

    def look_for_known(self, start: int, known: Known) -> None:
        """Add the known value that begins here, or wait for the rest of it.

        A text that ends in the middle of it holds it, too: whoever cut the text cut the secret.
        """
        spelling = known.spelling
        end = start + len(spelling)
        if self.text.startswith(spelling, start):
            self._add(Span(start, end, known.kind, 0, start))
        elif end > len(self.text) and self.text.endswith(spelling[: len(self.text) - start]):
            if not self.final:
                self.frontier = min(self.frontier, start)
            elif len(self.text) - start >= telling_length(spelling):
                self._add(Span(start, len(self.text), known.kind, 0, start))

    def look_for_shape(self, start: int, shaped: Shaped) -> None:
        """Add the shape whose head begins here, or wait for the rest of the head."""
        if not shaped.anywhere and not self._begins_a_word(start):
            return
        head = shaped.head
        if not self.final and head.patient and head.waits(self.text, start):
            self.frontier = min(self.frontier, start)
            return
        found = head.whole.match(self.text, start)
        if found is not None:
            self._add_shape(start, found.span(1), shaped)
        elif not self.final and head.waits(self.text, start):
            self.frontier = min(self.frontier, start)

    def withdraw(self) -> None:
        """Draw the frontier back before the context of every span that has to be found again."""
        for span in reversed(self.spans):
            if span.start >= self.frontier:
                self.frontier = min(self.frontier, span.seen_from)

    def _begins_a_word(self, start: int) -> bool:
        before = self.text[start - 1] if start else ""
        if not (before.isascii() and before.isalnum()):
            return True
        closed = next((span.end for span in reversed(self.spans) if span.end <= start), 0)
        return closed == start or _ESCAPE_BEFORE.search(self.text, max(closed, start - LEFT_CONTEXT), start) is not None

    def _add_shape(self, seen_from: int, head: tuple[int, int], shaped: Shaped) -> None:
        start, end = head
        if self.final and self.spans:
            last = self.spans[-1]
            if last.start <= start < last.end:
                # Often a shape lies within another, as a token does in a header: it may reach further, or be more telling.
                if start == last.start and shaped.rank < last.rank:
                    last.kind, last.rank = shaped.kind, shaped.rank
                self._grow(last, shaped.body, end)
                return
        span = Span(start, end, shaped.kind, shaped.rank, seen_from)
        self._grow(span, shaped.body, end)
        self._add(span)

    def _grow(self, span: Span, body: Body | None, start: int) -> None:
        """Let a span reach over the body that begins at `start`."""
        if start > span.end:
            span.end = start
        if body is None:
            return
        # One body may be entered at many places of the same run; it ends where it ends.
        since, end, on = self._reached.get(id(body), (0, -1, None))
        if not since <= start < end:
            end, on = body.reach(self.text, start, final=self.final)
            self._reached[id(body)] = (start, end, on)
        if end > span.end:
            span.end = end
        if on is not None:
            span.open_bodies += ((body, on),)
            self.frontier = min(self.frontier, on)

    def _add(self, span: Span) -> None:
        """Insert a span, joined with those it overlaps; what touches stays apart."""
        if not self.spans or self.spans[-1].end <= span.start:
            self.spans.append(span)
            return
        later: list[Span] = []
        while self.spans and self.spans[-1].start >= span.end:
            later.append(self.spans.pop())
        while self.spans and self.spans[-1].end > span.start:
            span.join(self.spans.pop())
        self.spans += [span, *reversed(later)]
