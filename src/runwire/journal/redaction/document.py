"""Redaction of an encoded JSON object, string by string, without touching any other byte.

Only the strings that hold a secret are written anew; numbers, escapes, order and repeated names stay as they were.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from runwire.journal.redaction.names import member_kind
from runwire.journal.redaction.placeholder import placeholder

PATHS = "redacted_paths"
"""The member of a payload that lists, as JSON Pointers, what was redacted."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]')
_STRING = msgspec.json.Decoder(str)
_PATH_LIST = msgspec.json.Decoder(list[str])


@dataclass(slots=True)
class _Level:
    """An object or an array that is open, and where in it we are."""

    is_object: bool
    kind: str | None
    """The kind that a member's name gave to everything in here."""
    name: str = ""
    name_kind: str | None = None
    index: int = 0
    wants_name: bool = False
    names: set[str] = field(default_factory=set)


class Document:
    """One encoded object on its way through redaction."""

    def __init__(self, data: bytes, redact_text: Callable[[str], str]) -> None:
        """Redact strings with `redact_text`."""
        self._data = data
        self._redact_text = redact_text
        self._levels: list[_Level] = []
        self._edits: list[tuple[int, int, bytes]] = []
        self._paths: set[str] = set()
        self._listed_from = -1
        self._listed_to = -1

    def redacted(self) -> bytes:
        """The object without its secrets; the very same bytes if it holds none."""
        for token in _TOKEN.finditer(self._data):
            match token[0][:1]:
                case b'"':
                    self._string(token.start(), token.end())
                case b"{" | b"[" as opening:
                    self._open(is_object=opening == b"{")
                case b",":
                    self._next(token.start())
                case _:
                    self._end_listed(token.start())
                    self._levels.pop()
        if not self._edits:
            return self._data
        self._list_paths()
        return self._spliced()

    def _open(self, *, is_object: bool) -> None:
        outer = self._levels[-1] if self._levels else None
        kind = None if outer is None else outer.kind or outer.name_kind
        self._levels.append(_Level(is_object, kind, wants_name=is_object))

    def _next(self, position: int) -> None:
        self._end_listed(position)
        level = self._levels[-1]
        level.index += 1
        level.wants_name = level.is_object

    def _string(self, start: int, end: int) -> None:
        level = self._levels[-1] if self._levels else None
        text = decoded(self._data[start:end])
        if level is not None and level.wants_name:
            self._name(level, text, start, end)
            return
        kind = None if level is None else level.kind or level.name_kind
        redacted = self._redact_text(text) if kind is None or not text else placeholder(kind)
        if redacted != text:
            self._edits.append((start, end, encoded(redacted)))
            if self._listed_from < 0 or self._listed_to >= 0:
                self._paths.add(self._path())

    def _name(self, level: _Level, text: str, start: int, end: int) -> None:
        level.wants_name = False
        level.name_kind = member_kind(text)
        lists_paths = len(self._levels) == 1 and text == PATHS
        redacted = text if lists_paths else self._redact_text(text)
        if redacted != text:
            redacted = _unlike(redacted, level.names)
            self._edits.append((start, end, encoded(redacted)))
        level.name = redacted
        level.names.add(redacted)
        if redacted != text:
            self._paths.add(self._path())
        if lists_paths:
            self._listed_from, self._listed_to = self._data.index(b":", end) + 1, -1

    def _end_listed(self, position: int) -> None:
        if len(self._levels) == 1 and self._listed_from >= 0 > self._listed_to:
            self._listed_to = position

    def _path(self) -> str:
        steps = (level.name if level.is_object else str(level.index) for level in self._levels)
        return "".join(map(step, steps))

    def _list_paths(self) -> None:
        """Write the list of paths: the one that is there, if any, with ours."""
        if self._listed_from >= 0:
            start, end = self._listed_from, self._listed_to
            paths = self._paths.union(self._redact_text(path) for path in _listed(self._data[start:end]))
            self._edits = [edit for edit in self._edits if not start <= edit[0] < end]
            self._edits.append((start, end, msgspec.json.encode(sorted(paths))))
        elif self._data.lstrip()[:1] == b"{":
            end = self._data.rindex(b"}")
            listed = f'"{PATHS}":'.encode() + msgspec.json.encode(sorted(self._paths))
            self._edits.append((end, end, b"," + listed))

    def _spliced(self) -> bytes:
        pieces: list[bytes] = []
        position = 0
        for start, end, replacement in sorted(self._edits):
            pieces += (self._data[position:start], replacement)
            position = end
        return b"".join((*pieces, self._data[position:]))


def step(name: str) -> str:
    """One step of a JSON Pointer: into the member of this name."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def decoded(literal: bytes) -> str:
    """The text of a string, quotes and escapes resolved."""
    try:
        return _STRING.decode(literal)
    except msgspec.DecodeError:
        # A lone surrogate: no text, but JSON allows it.
        return str(json.loads(literal))


def encoded(text: str) -> bytes:
    """The text as a string of JSON."""
    try:
        return msgspec.json.encode(text)
    except UnicodeEncodeError:
        return json.dumps(text).encode()


def _listed(value: bytes) -> list[str]:
    try:
        return _PATH_LIST.decode(value)
    except msgspec.DecodeError:
        return []


def _unlike(name: str, taken: set[str]) -> str:
    """The name, numbered if its object has it already: two secrets of one kind may both be names."""
    number = 1
    unlike = name
    while unlike in taken:
        number += 1
        unlike = f"{name}#{number}"
    return unlike
