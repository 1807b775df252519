"""Which files a repository does not want to hear of: patterns as git reads them from `.gitignore`. Pure.

It works on bytes, as git does, and takes no longer for a hostile pattern than for a plain one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

NAME = b".gitignore"
LIMIT_BYTES = 256 * 1024
"""The most of one file of patterns that is read."""

_STAR, _STARS, _SLASH, _ONE = "star", "stars", "slash", "one"
_Token = str | bytes | frozenset[int]
"""A wildcard, a letter, or a set of letters."""
_SPECIAL = re.compile(rb"[*?\[\\]")
_CLASSES = {
    b"alnum": rb"[0-9A-Za-z]",
    b"alpha": rb"[A-Za-z]",
    b"blank": rb"[ \t]",
    b"cntrl": rb"[\x00-\x1f\x7f]",
    b"digit": rb"[0-9]",
    b"graph": rb"[\x21-\x7e]",
    b"lower": rb"[a-z]",
    b"print": rb"[\x20-\x7e]",
    b"punct": rb"[!-/:-@\[-`{-~]",
    b"space": rb"[ \t\n\r\f\v]",
    b"upper": rb"[A-Z]",
    b"xdigit": rb"[0-9A-Fa-f]",
}


class _Never(Exception):
    """The pattern is malformed, so it matches nothing."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """One pattern."""

    ignores: bool
    only_folders: bool
    name: re.Pattern[bytes] | None
    """What the last part of a path is held against; None when the whole path is."""
    prefix: bytes = b""
    parts: Sequence[re.Pattern[bytes] | None] = ()
    """What comes after the prefix, part by part; None stands for any number of folders."""

    def matches(self, path: bytes, name: bytes) -> bool:
        if self.name is not None:
            return self.name.fullmatch(name) is not None
        if not path.startswith(self.prefix):
            return False
        rest = path[len(self.prefix) :]
        if not self.parts:
            return not rest
        return _fits(self.parts, rest.split(b"/"))


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one file, for the paths below the folder that it lies in."""

    rules: Sequence[_Rule]
    """The last that matches decides, so they stand in reverse."""
    _names: re.Pattern[bytes]
    """Every rule about names at once: most files meet none of them."""
    _paths: Sequence[_Rule]
    """The rules about whole paths."""

    @classmethod
    def read(cls, text: bytes) -> "Patterns":
        """The patterns in a file."""
        lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        rules = [rule for line in lines if (rule := _rule(line)) is not None]
        names = b"|".join(b"(?:" + rule.name.pattern + b")" for rule in rules if rule.name is not None)
        paths = tuple(rule for rule in reversed(rules) if rule.name is None)
        return cls(tuple(reversed(rules)), re.compile(names or b"(?!)", re.DOTALL), paths)

    def verdict(self, path: bytes, *, is_folder: bool) -> bool | None:
        """Whether a path is ignored; None when no pattern speaks of it."""
        name = path.rpartition(b"/")[2]
        for rule in self.rules if self._names.fullmatch(name) else self._paths:
            if (is_folder or not rule.only_folders) and rule.matches(path, name):
                return rule.ignores
        return None


def _rule(line: bytes) -> _Rule | None:
    pattern = _trimmed(line.removesuffix(b"\r"))
    if not pattern or pattern.startswith(b"#"):
        return None
    ignores = not pattern.startswith(b"!")
    pattern = pattern.removeprefix(b"!")
    only_folders = pattern.endswith(b"/")
    pattern = pattern[:-1] if only_folders else pattern
    try:
        if b"/" not in pattern:
            return _Rule(ignores, only_folders, _part(tuple(_tokens(pattern, is_path=False)))) if pattern else None
        pattern = pattern.removeprefix(b"/")
        special = _SPECIAL.search(pattern)
        # The plain beginning is compared as it is, and what follows is read as if it stood alone: git does so.
        prefix = pattern if special is None else pattern[: special.start()]
        parts = _parts(tuple(_tokens(pattern[len(prefix) :], is_path=True))) if special is not None else ()
    except _Never:
        return None
    return _Rule(ignores, only_folders, None, prefix, parts)


def _trimmed(line: bytes) -> bytes:
    """The line without spaces at its end, unless a backslash holds them."""
    end = at = 0
    while at < len(line):
        if line[at : at + 1] == b"\\":
            at += 1
            end = at + 1
        elif line[at : at + 1] != b" ":
            end = at + 1
        at += 1
    return line[:end]


def _tokens(pattern: bytes, *, is_path: bool) -> Iterator[_Token]:
    at = 0
    while at < len(pattern):
        letter = pattern[at : at + 1]
        if letter == b"*":
            end = at
            while pattern[end : end + 1] == b"*":
                end += 1
            opens = at == 0 or pattern[at - 1 : at] == b"/"
            closes = end == len(pattern) or pattern[end : end + 1] == b"/" or pattern[end : end + 2] == b"\\/"
            yield _STARS if is_path and end - at > 1 and opens and closes else _STAR
            at = end
            continue
        if letter == b"[":
            letters, at = _set(pattern, at)
            yield letters
            continue
        if letter == b"\\":
            at += 1
            letter = pattern[at : at + 1]
            if not letter:
                raise _Never
            yield _SLASH if letter == b"/" else letter
        else:
            yield {b"/": _SLASH, b"?": _ONE}.get(letter, letter)
        at += 1


def _set(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """The letters of a set in brackets, and where the pattern goes on."""
    at += 1
    negated = pattern[at : at + 1] in {b"!", b"^"}
    at += negated
    letters: set[int] = set()
    before: int | None = None
    is_first = True
    while is_first or pattern[at : at + 1] != b"]":
        is_first = False
        letter = pattern[at : at + 1]
        after = pattern[at + 1 : at + 2]
        if not letter:
            raise _Never
        if letter == b"-" and before is not None and after not in {b"", b"]"}:
            at += 1
            last, at = _escaped(pattern, at)
            letters.update(range(before, last + 1))
            before = None
        elif letter == b"[" and after == b":" and (end := _class_end(pattern, at)) is not None:
            named = _CLASSES.get(pattern[at + 2 : end - 1])
            if named is None:
                raise _Never
            letters.update(one for one in range(256) if re.match(named, bytes([one])))
            before, at = None, end
        else:
            before, at = _escaped(pattern, at)
            letters.add(before)
        at += 1
    chosen = set(range(256)) - letters if negated else letters
    return frozenset(chosen - {ord("/")}), at + 1


def _escaped(pattern: bytes, at: int) -> tuple[int, int]:
    """The letter at a place, or the one that a backslash there holds, and where that stands."""
    if pattern[at : at + 1] == b"\\":
        at += 1
    if at >= len(pattern):
        raise _Never
    return pattern[at], at


def _class_end(pattern: bytes, at: int) -> int | None:
    """Where the bracket stands that closes a class such as `[:alpha:]`; None when it is none."""
    end = pattern.find(b"]", at + 2)
    if end < 0:
        raise _Never
    return end if end - 1 >= at + 2 and pattern[end - 1 : end] == b":" else None


def _parts(tokens: tuple[_Token, ...]) -> tuple[re.Pattern[bytes] | None, ...]:
    parts: list[list[_Token]] = [[]]
    for token in tokens:
        if token == _SLASH:
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(None if part == [_STARS] else _part(tuple(part)) for part in parts)


@lru_cache(maxsize=1024)
def _part(tokens: tuple[_Token, ...]) -> re.Pattern[bytes]:
    """What one part of a path is held against.

    Between two stars the first place that fits is as good as any other, so nothing is tried twice.
    """
    chunks: list[list[bytes]] = [[]]
    for token in tokens:
        if token == _STAR:
            chunks.append([])
        elif token == _ONE:
            chunks[-1].append(b".")
        elif isinstance(token, frozenset):
            chunks[-1].append(b"[" + b"".join(b"\\x%02x" % one for one in sorted(token)) + b"]" if token else b"(?!)")
        elif isinstance(token, bytes):
            chunks[-1].append(re.escape(token))
    first, *others = (b"".join(chunk) for chunk in chunks)
    middle = b"".join(b"(?>.*?" + chunk + b")" for chunk in others[:-1])
    last = b".*" + others[-1] if others else b""
    return re.compile(first + middle + last, re.DOTALL)


def _fits(parts: Sequence[re.Pattern[bytes] | None], names: Sequence[bytes]) -> bool:
    """Whether parts of a pattern are those of a path."""
    reached = {0}
    for number, part in enumerate(parts):
        if part is None:
            # Some folders or none; at the end, whatever there is, but something.
            rest = range(min(reached), len(names))
            reached = {len(names)} if number == len(parts) - 1 and rest else set(rest)
        else:
            reached = {at + 1 for at in reached if at < len(names) and part.fullmatch(names[at])}
        if not reached:
            return False
    return len(names) in reached
