"""The short way through an encoded object of which only a few strings are worth a look.

It does what `Document` does, for the common case: no name says that its value is a secret, no name holds one, and no paths
are listed yet. Then a string without a trigger stays as it is and need not be decoded; nor need most paths be found.
"""

import re
from collections.abc import Sequence

import msgspec

from runwire.journal.redaction.document import PATHS, decoded, encoded, step

_STRING = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"')
_NAME_OF_PATHS = f'"{PATHS}":'.encode()
_OBJECT, _NEXT = b"{,"
_OPENINGS = frozenset(b"{[")
_ENDS = frozenset(b"}]")


class Splice:
    """One encoded object, and those of its strings that may hold a secret."""

    __slots__ = ("_bare", "_data", "_found", "texts")

    def __init__(self, data: bytes, bare: bytes, places: Sequence[int]) -> None:
        """Look at the strings at these places, given in ascending order; `bare` is the object without its escapes."""
        self._data = data
        self._bare = bare
        self._found: list[tuple[int, int, int]] = []
        self.texts: list[str] = []
        """What may hold a secret."""
        quotes = position = end = 0
        for place in places:
            if place < end:
                continue
            quotes += bare.count(b'"', position, place)
            position = place
            if quotes % 2:
                begin, end = bare.rfind(b'"', 0, place) + 1, bare.find(b'"', place)
                self._found.append((quotes, begin, end))
                self.texts.append(_text(data[begin:end]))

    def joined(self, redacted: Sequence[str]) -> bytes | None:
        """The object with these for its `texts`; the same bytes if they are those; None if only `Document` can tell."""
        data, bare = self._data, self._bare
        pieces: list[bytes] = []
        changed: list[tuple[int, int]] = []
        position = 0
        for (number, begin, end), before, after in zip(self._found, self.texts, redacted, strict=True):
            if before != after:
                if bare.startswith(b":", end + 1):
                    return None
                pieces += (data[position:begin], encoded(after)[1:-1])
                changed.append((number, begin))
                position = end
        if not changed:
            return data
        paths = msgspec.json.encode(sorted(set(self._paths(changed))))
        return b"".join((*pieces, data[position:-1], b",", _NAME_OF_PATHS, paths, b"}"))

    def _paths(self, changed: Sequence[tuple[int, int]]) -> list[str]:
        data, bare = self._data, self._bare
        last = changed[-1][1]
        if bare.count(b"{", 0, last) == 1 and bare.find(b"[", 0, last) < 0:
            # By far the most common case: members of the outermost object, with nothing but plain values before them.
            ends = [bare.rfind(b'"', 0, begin - 1) for _, begin in changed]
            return [step(_text(data[bare.rfind(b'"', 0, end) + 1 : end])) for end in ends]
        return _paths(_pieces(data), [number for number, _ in changed])


def splice(data: bytes, places: Sequence[int]) -> Splice | None:
    """Make ready an object in which secrets begin only at `places`; None if only `Document` can tell."""
    if data[:1] != b"{" or data[-1:] != b"}" or _NAME_OF_PATHS in data:
        return None
    if not data.isascii() and not _names_are_ascii(_pieces(data)):
        return None
    # Without escapes every quote begins or ends a string.
    bare = data.replace(b"\\\\", b"  ").replace(b'\\"', b"  ") if b"\\" in data else data
    return Splice(data, bare, places)


def _pieces(data: bytes) -> list[bytes]:
    """The strings of an object, without their quotes, at odd indexes; at even ones all that stands between two strings."""
    return _STRING.split(data) if b"\\" in data else data.split(b'"')


def _text(inner: bytes) -> str:
    """The text of a string that is given without its quotes."""
    return decoded(b'"%b"' % inner) if b"\\" in inner else inner.decode()


def _names_are_ascii(pieces: Sequence[bytes]) -> bool:
    """Say whether no name has a letter that only looks like an ASCII one when case does not matter."""
    return all(pieces[at].isascii() for at in range(1, len(pieces), 2) if pieces[at + 1][:1] == b":")


def _paths(pieces: Sequence[bytes], wanted: Sequence[int]) -> list[str]:
    """The JSON Pointers of strings, given by their places in ascending order."""
    paths: list[str] = []
    levels: list[bytes | int] = []
    done = 0
    for at in wanted:
        for between in range(done, at, 2):
            marks = pieces[between]
            # Within an object only what opens or closes matters: the name of a value stands right before it.
            if marks != b":" and (marks != b"," or isinstance(levels[-1], int)):
                _follow(marks, levels, pieces[between - 1])
        done = at + 1
        if not isinstance(levels[-1], int):
            levels[-1] = pieces[at - 2]
        paths.append("".join([step(str(level) if isinstance(level, int) else _text(level)) for level in levels]))
    return paths


def _follow(marks: bytes, levels: list[bytes | int], name: bytes) -> None:
    """Open, close and count as the marks after a name say: a level is the name or the number of what it is at."""
    for mark in marks:
        if mark == _NEXT:
            inner = levels[-1]
            if isinstance(inner, int):
                levels[-1] = inner + 1
        elif mark in _OPENINGS:
            if levels and not isinstance(levels[-1], int):
                levels[-1] = name
            levels.append(b"" if mark == _OBJECT else 0)
        elif mark in _ENDS:
            levels.pop()
