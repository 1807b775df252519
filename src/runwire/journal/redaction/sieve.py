"""A cheap look at bytes that lets clean ones pass: one automaton over known values, shapes, names and odd escapes.

It may suspect what is clean, and never passes what is not: whatever the scanner would find in a string of a JSON text, or
the rule about names in its members, makes the sieve suspect the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, product
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick, Implementation

from runwire.journal.redaction.grammar import Head, Shape
from runwire.journal.redaction.names import MEMBER_ENDINGS, member_kind
from runwire.journal.redaction.placeholder import KIND_MAX, OPENING
from runwire.journal.redaction.scanner import DFA_MAX, TRIGGER_MAX, Shaped, kinds_shown
from runwire.journal.redaction.spellings import escaped_in_json, telling_length

# Our encoder writes none of these, so they may hide a letter of a secret or of a name.
_ODD_ESCAPES = (
    *(rf"\u{digit}" for digit in "123456789abcdefABCDEF"),
    *(rf"\u0{digit}" for digit in "123456789abcdefABCDEF"),
    *(rf"\u00{digit}" for digit in "23456789abcdefABCDEF"),
    *(rf"\u000{digit}" for digit in "89acdACD"),
    r"\/",
)
_ODD_SPACES = ('" :', '"\t:', '"\n:', '"\r:')
_OPENING = OPENING.encode()
_PLACEHOLDER = re.compile(re.escape(_OPENING) + rb"([a-z0-9_.-]{1,%d})\]" % KIND_MAX)
_PLACEHOLDER_MAX = len(OPENING) + KIND_MAX + 1
_START = itemgetter(1)


@dataclass(slots=True)
class _Trigger:
    """What a trigger may be the beginning of, or the end of in the case of a member's name."""

    known: list[tuple[bytes, str]] = field(default_factory=list)
    telling: list[bytes] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)
    ends_name: bool = False
    is_escape: bool = False
    is_space: bool = False

    def begins_secret(self, data: bytes, start: int) -> bool:
        """Say whether a secret may begin at a hit."""
        for beginning in self.telling:
            if data.startswith(beginning, start):
                return True
        return any(head.in_json.match(data, start) for head in self.heads)

    def concerns_all(self, data: bytes, start: int, end: int) -> bool:
        """Say whether a hit matters beyond its own string: it ends a telling name, or an escape may hide anything."""
        if self.ends_name and _names_a_secret(data, start, end):
            return True
        return self.is_space or (self.is_escape and _is_escape(data, start))


class Sieve:
    """Passes clean bytes. Immutable: a new secret makes a new sieve."""

    def __init__(self, kinds: Mapping[str, str], shapes: tuple[tuple[Shape, Shaped], ...]) -> None:
        """Look for these spellings and these shapes."""
        triggers: dict[bytes, _Trigger] = {}
        for spelling, kind in sorted(kinds.items()):
            for written in sorted(_written(spelling)):
                triggers.setdefault(written[:TRIGGER_MAX], _Trigger()).known.append((written, kind))
            for written in sorted(_written(spelling[: telling_length(spelling)])):
                triggers.setdefault(written[:TRIGGER_MAX], _Trigger()).telling.append(written)
        for shape, compiled in shapes:
            for text in shape.triggers(TRIGGER_MAX):
                triggers.setdefault(text.encode(), _Trigger()).heads.append(compiled.head)
        for ending in MEMBER_ENDINGS:
            for letters in product(*((letter.lower(), letter.upper()) for letter in ending)):
                triggers.setdefault(f'{"".join(letters)}":'.encode(), _Trigger()).ends_name = True
        for text in _ODD_ESCAPES:
            triggers.setdefault(text.encode(), _Trigger()).is_escape = True
        for text in _ODD_SPACES:
            triggers.setdefault(text.encode(), _Trigger()).is_space = True
        self._triggers = tuple(triggers.values())
        self._in_text = tuple(bool(trigger.known or trigger.heads) for trigger in self._triggers)
        self._beyond_text = tuple(
            trigger.ends_name or trigger.is_escape or trigger.is_space for trigger in self._triggers
        )
        self._kinds = frozenset(kind.encode() for kind in kinds_shown(kinds, shapes))
        automaton = BytesAhoCorasick(triggers, implementation=Implementation.DFA if len(triggers) <= DFA_MAX else None)
        self._find = automaton.find_matches_as_indexes

    def suspected(self, payloads: Sequence[bytes]) -> dict[int, list[int] | None]:
        """Which encoded JSON objects may hold a secret, by their numbers, and where their strings hold a trigger.

        None stands for: that is not all to look at. In a string without a trigger the scanner finds nothing. One pass over
        all objects costs little more than over the longest.
        """
        data = b"".join(payloads)
        hits = self._find(data, True)
        if not hits:
            return {}
        ends = list(accumulate(map(len, payloads)))
        # A hit belongs where it begins. One that reaches into the next object is a coincidence, but may be told late.
        hits.sort(key=_START)
        suspected: dict[int, list[int] | None] = {}
        for number, its in groupby(hits, lambda hit: bisect_right(ends, hit[1])):
            places = self._places(data, its)
            if places is None:
                suspected[number] = None
            elif places:
                begin = ends[number] - len(payloads[number])
                suspected[number] = [place - begin for place in places]
        return suspected

    def known_values(self, data: bytes) -> list[tuple[int, int, str]]:
        """Every known value in the bytes, in order and without overlaps, as (start, end, kind)."""
        found: list[tuple[int, int, str]] = []
        for index, start, _ in sorted(self._find(data, True), key=lambda hit: hit[1]):
            for spelling, kind in self._triggers[index].known:
                if data.startswith(spelling, start) and not self._in_placeholder(data, start):
                    _add(found, start, start + len(spelling), kind)
        return found

    def _places(self, data: bytes, hits: Iterable[tuple[int, int, int]]) -> list[int] | None:
        """Where a trigger of the scanner is; empty if none begins a secret; None if that is not all to look at."""
        places: list[int] = []
        suspected = False
        for index, start, end in hits:
            if self._beyond_text[index] and self._triggers[index].concerns_all(data, start, end):
                return None
            if self._in_text[index]:
                places.append(start)
                suspected = suspected or self._triggers[index].begins_secret(data, start)
        return places if suspected else []

    def _in_placeholder(self, data: bytes, start: int) -> bool:
        opening = data.rfind(_OPENING, max(0, start - _PLACEHOLDER_MAX), start + len(_OPENING))
        found = _PLACEHOLDER.match(data, opening) if opening >= 0 else None
        return found is not None and found.end() > start and found[1] in self._kinds


def _written(spelling: str) -> set[bytes]:
    """A spelling as bytes: bare, and inside a JSON string."""
    bare = spelling.encode("utf-8", "surrogateescape")
    try:
        return {bare, escaped_in_json(spelling).encode()}
    except UnicodeEncodeError:
        return {bare}


def _names_a_secret(data: bytes, start: int, end: int) -> bool:
    opening = data.rfind(b'"', 0, start) + 1
    return member_kind(data[opening : end - 2].decode("utf-8", "replace")) is not None


def _is_escape(data: bytes, start: int) -> bool:
    """Say whether the backslash at `start` is one, and not the second half of an escaped backslash."""
    before = data[max(0, start - 64) : start]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 0


def _add(found: list[tuple[int, int, str]], start: int, end: int, kind: str) -> None:
    if found and start < found[-1][1]:
        before, until, kind = found.pop()
        start, end = before, max(until, end)
    found.append((start, end, kind))
