"""How a shape is written down, and what becomes of it: patterns that can say yes, no, and "not before I have seen more".

A shape begins with a head of bounded length that decides, and goes on with a body that is swallowed as far as it reaches.
Heads are sequences of parts, so that the pattern for "could still become a head" follows from the same parts.
"""

import re
from dataclasses import dataclass
from functools import cached_property

_CASES = (str.lower, str.upper, str.title, str.capitalize)


@dataclass(frozen=True, slots=True)
class Word:
    """One of several literal words."""

    alternatives: tuple[str, ...]
    any_case: bool = False

    def whole(self, stretch: int) -> str:  # noqa: ARG002 - a word has one length in every encoding
        """The pattern of the part."""
        return self._flagged("|".join(re.escape(word) for word in self.alternatives))

    def begun(self) -> str:
        """The pattern of what could still become the part."""
        begun = {word[:length] for word in self.alternatives for length in range(len(word) + 1)}
        return self._flagged("|".join(re.escape(word) for word in sorted(begun, key=len, reverse=True)))

    def longest(self) -> int:
        """How many characters the part can have."""
        return max(len(word) for word in self.alternatives)

    def _flagged(self, pattern: str) -> str:
        return f"(?i:{pattern})" if self.any_case else f"(?:{pattern})"


@dataclass(frozen=True, slots=True)
class Run:
    """From `least` to `most` characters of a class. Only one that may hold the next part, too, has to give back."""

    characters: str
    least: int
    most: int
    gives_back: bool = False

    def whole(self, stretch: int) -> str:
        """The pattern of the part; `stretch` times as long in an encoding that needs more than one byte a character."""
        return f"{self.characters}{{{self.least},{self.most * stretch}}}{'' if self.gives_back else '+'}"

    def longest(self) -> int:
        """How many characters the part can have."""
        return self.most

    def begun(self) -> str:
        """The pattern of what could still become the part."""
        return f"{self.characters}{{0,{self.most}}}"


@dataclass(frozen=True, slots=True)
class Token:
    """At least `least` digits or `others`, with a digit among the first `within`: a token, not a word."""

    others: str
    """What a class may hold besides digits, as it is written between brackets."""
    least: int
    within: int

    def whole(self, stretch: int) -> str:  # noqa: ARG002 - only ASCII here
        """The pattern of the part."""
        return f"(?=[{self.others}]{{0,{self.within - 1}}}[0-9])[0-9{self.others}]{{{self.least}}}"

    def begun(self) -> str:
        """The pattern of what could still become the part."""
        return f"(?:[0-9{self.others}]{{0,{self.least - 1}}}|[{self.others}]{{0,{self.within - 1}}})"

    def longest(self) -> int:
        """How many characters can pass before the part has decided."""
        return max(self.least, self.within)


Part = Word | Run | Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a kind of secret looks like.

    `context` stands before the secret and is kept, `secret` is the part of it that decides, `body` the characters that
    are swallowed after it, `ending` closes a body. What begins as `unless` says is no secret. `then` must follow the secret
    and is kept; no character of `beyond` may come next. Unless `anywhere`, no letter or digit may stand right before.
    """

    kind: str
    context: tuple[Part, ...] = ()
    secret: tuple[Part, ...]
    body: str = ""
    ending: tuple[Part, ...] = ()
    unless: str = ""
    then: tuple[Part, ...] = ()
    beyond: str = ""
    anywhere: bool = False

    def triggers(self, longest: int) -> frozenset[str]:
        """The short texts, one of which every match begins with."""
        first = (self.context or self.secret)[0]
        if not isinstance(first, Word):
            raise ValueError(f"{self.kind} begins with no word: nothing to look for")
        words = first.alternatives
        if first.any_case:
            words = tuple(case(word) for word in words for case in _CASES)
        return frozenset(word[:longest] for word in words)


@dataclass(frozen=True, slots=True)
class Body:
    """What is swallowed once a head has been seen."""

    run: re.Pattern[str]
    ending: re.Pattern[str] | None
    ending_begun: re.Pattern[str] | None

    def reach(self, text: str, start: int, *, final: bool) -> tuple[int, int | None]:
        """How far the body reaches, and where to look on when more text comes; None once it has ended."""
        run = self.run.match(text, start)
        end = run.end() if run else start
        if end == len(text):
            return end, None if final else end
        if self.ending is not None and self.ending_begun is not None:
            ending = self.ending.match(text, end)
            if ending:
                return ending.end(), None
            if not final and self.ending_begun.fullmatch(text, end):
                return end, end
        return end, None


class Head:
    """What decides that a secret begins here. Its patterns are made when a text first needs them: most never do."""

    def __init__(self, shape: Shape) -> None:
        """The head of a shape."""
        self._shape = shape
        self._parts = (*shape.context, *shape.secret, *shape.then)
        self.longest = sum(part.longest() for part in self._parts)
        self.patient = bool(shape.then)
        """Whether it decides only when its text cannot grow any more."""

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """The head, all of it."""
        return re.compile(_whole(self._shape, 1))

    @cached_property
    def begun(self) -> re.Pattern[str]:
        """What could still become the head."""
        return re.compile(_begun(self._parts))

    @cached_property
    def in_json(self) -> re.Pattern[bytes]:
        """The head inside JSON, where a character takes up to four bytes; what a class excludes is excluded there, too."""
        return re.compile(_whole(self._shape, 4).encode())

    def waits(self, text: str, start: int) -> bool:
        """Say whether all the text from `start` on could still become a head."""
        return len(text) - start <= self.longest and self.begun.fullmatch(text, start) is not None


def body_of(shape: Shape) -> Body | None:
    """Make the patterns of a shape's body."""
    if not shape.body:
        return None
    ending = re.compile(_joined(shape.ending, 1)) if shape.ending else None
    return Body(re.compile(f"(?:{shape.body})*"), ending, re.compile(_begun(shape.ending)) if ending else None)


def _whole(shape: Shape, stretch: int) -> str:
    unless = f"(?!{shape.unless})" if shape.unless else ""
    then = f"{_joined(shape.then, stretch)}(?!{shape.beyond})" if shape.then else ""
    return f"{_joined(shape.context, stretch)}({unless}{_joined(shape.secret, stretch)}){then}"


def _joined(parts: tuple[Part, ...], stretch: int) -> str:
    return "".join(part.whole(stretch) for part in parts)


def _begun(parts: tuple[Part, ...]) -> str:
    """The pattern of every text that could still become all the parts."""
    return "|".join(_joined(parts[:index], 1) + part.begun() for index, part in enumerate(parts))
