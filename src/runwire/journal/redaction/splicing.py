"""The short way through an encoded object of which only a few strings are worth a look.

It does what `Document` does, for the common case: no name says that its value is a secret, no name holds one, and no paths
are listed yet. Then a string without a trigger stays as it is and need not be decoded; nor need most paths be found.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

import msgspec

from runwire.journal.redaction.document import PATHS, decoded, encoded, step

_STRING = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")')
_NAME_OF_PATHS = f'"{PATHS}":'.encode()
_OBJECT, _ARRAY, _NEXT = b"{[,"
_ENDS = frozenset(b"}]")


def spliced(data: bytes, places: Sequence[int], redact_text: Callable[[str], str]) -> bytes | None:
    """The object without its secrets, which begin only at `places`; None if only `Document` can tell."""
    if data[:1] != b"{" or data[-1:] != b"}" or _NAME_OF_PATHS in data:
        return None
    # What is at an odd index is a string; what is at an even one is all that stands between two strings.
    pieces = _STRING.split(data)
    if not data.isascii() and not _names_are_ascii(pieces):
        return None
    ends = list(accumulate(map(len, pieces)))
    changed: dict[int, bytes] = {}
    for at in sorted({bisect_right(ends, place) for place in places}):
        if at % 2:
            text = decoded(pieces[at])
            redacted = redact_text(text)
            if redacted != text:
                if _is_name(pieces, at):
                    return None
                changed[at] = encoded(redacted)
    if not changed:
        return data
    paths = msgspec.json.encode(sorted(set(_paths(pieces, list(changed)))))
    for at, literal in changed.items():
        pieces[at] = literal
    pieces[-1] = b"%b,%b%b}" % (pieces[-1][:-1], _NAME_OF_PATHS, paths)
    return b"".join(pieces)


def _is_name(pieces: Sequence[bytes], at: int) -> bool:
    return pieces[at + 1][:1] == b":"


def _names_are_ascii(pieces: Sequence[bytes]) -> bool:
    """Say whether no name has a letter that only looks like an ASCII one when case does not matter."""
    return all(pieces[at].isascii() for at in range(1, len(pieces), 2) if _is_name(pieces, at))


def _paths(pieces: Sequence[bytes], wanted: Sequence[int]) -> list[str]:
    """The JSON Pointers of strings, given by their places in ascending order."""
    before = b"".join(pieces[: wanted[-1] : 2])
    if before.count(b"{") == 1 and b"[" not in before:
        # By far the most common case: members of the outermost object, with nothing but plain values before them.
        return [step(decoded(pieces[at - 2])) for at in wanted]
    paths: list[str] = []
    levels: list[bytes | int] = []
    wants = iter(wanted)
    next_wanted = next(wants)
    for at in range(1, wanted[-1] + 1, 2):
        between = pieces[at - 1]
        if between != b":":
            _follow(between, levels)
        if at == next_wanted:
            paths.append("".join([step(str(level) if isinstance(level, int) else decoded(level)) for level in levels]))
            next_wanted = next(wants, -1)
        elif pieces[at + 1][:1] == b":":
            levels[-1] = pieces[at]
    return paths


def _follow(between: bytes, levels: list[bytes | int]) -> None:
    """Open, close and count as the marks between two strings say: a level is the name or the number of what it is at."""
    if between == b"," and not isinstance(levels[-1], int):
        return
    for mark in between:
        if mark == _NEXT:
            inner = levels[-1]
            if isinstance(inner, int):
                levels[-1] = inner + 1
        elif mark == _OBJECT:
            levels.append(b"")
        elif mark == _ARRAY:
            levels.append(0)
        elif mark in _ENDS:
            levels.pop()
