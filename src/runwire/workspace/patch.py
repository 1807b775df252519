"""Patches in git's own format: written, read, applied and turned round. Strict: a patch fits exactly or not at all.

It reads what `runwire.workspace.diff` writes and no other dialect. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1

from runwire.workspace.changes import FileState
from runwire.workspace.spelling import both_names, literal, quoted, unpacked, unquoted

NO_BLOB = "0" * 40
_NO_NEWLINE = b"\\ No newline at end of file\n"
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@[^\n]*\n")
_INDEX = re.compile(rb"index ([0-9a-f]{40})\.\.([0-9a-f]{40})(?: ([0-7]{6}))?\n")
_EXECUTABLE = 0o111


class PatchMalformed(ValueError):
    """The bytes are not a patch of ours."""


class PatchMismatch(ValueError):
    """The file is not the one that the patch was made for."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of lines: where they stand before and after, and each with ' ', '-' or '+' before it."""

    old_start: int
    new_start: int
    lines: tuple[tuple[bytes, bytes], ...]

    @property
    def old_count(self) -> int:
        """How many lines it covers before."""
        return sum(tag != b"+" for tag, _ in self.lines)

    @property
    def new_count(self) -> int:
        """How many lines it covers after."""
        return sum(tag != b"-" for tag, _ in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """What happens to one file. A path that is None: the file is absent on that side."""

    old_path: str | None
    new_path: str | None
    old_mode: int = 0o644
    new_mode: int = 0o644
    old_blob: str = NO_BLOB
    new_blob: str = NO_BLOB
    hunks: tuple[Hunk, ...] = ()
    binary: tuple[bytes, bytes] | None = None
    """The bytes before and after, where lines would say nothing."""

    @property
    def path(self) -> str:
        """The name by which to speak of the file."""
        return self.new_path or self.old_path or ""

    def inverted(self) -> "FilePatch":
        """The patch that takes this one back."""
        turned = {b" ": b" ", b"+": b"-", b"-": b"+"}
        return FilePatch(
            old_path=self.new_path,
            new_path=self.old_path,
            old_mode=self.new_mode,
            new_mode=self.old_mode,
            old_blob=self.new_blob,
            new_blob=self.old_blob,
            hunks=tuple(
                Hunk(hunk.new_start, hunk.old_start, _removals_first((turned[tag], line) for tag, line in hunk.lines))
                for hunk in self.hunks
            ),
            binary=None if self.binary is None else (self.binary[1], self.binary[0]),
        )


def _removals_first(lines: Iterator[tuple[bytes, bytes]]) -> tuple[tuple[bytes, bytes], ...]:
    """Within each change, what goes stands before what comes."""
    out: list[tuple[bytes, bytes]] = []
    added: list[tuple[bytes, bytes]] = []
    for tag, line in lines:
        if tag == b"+":
            added.append((tag, line))
            continue
        if tag == b" ":
            out += added
            added = []
        out.append((tag, line))
    return (*out, *added)


def blob_id(body: bytes) -> str:
    """The name that git gives to these bytes."""
    return sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()


def git_mode(mode: int) -> int:
    """The mode as git knows it: executable or not."""
    return 0o755 if mode & _EXECUTABLE else 0o644


def render(patch: FilePatch) -> bytes:
    """The patch as git writes it."""
    old, new = patch.old_path, patch.new_path
    out = [b"diff --git %b %b\n" % (quoted("a/", old or new or ""), quoted("b/", new or old or ""))]
    if old is None:
        out.append(b"new file mode 100%o\n" % patch.new_mode)
    elif new is None:
        out.append(b"deleted file mode 100%o\n" % patch.old_mode)
    elif patch.old_mode != patch.new_mode:
        out += (b"old mode 100%o\n" % patch.old_mode, b"new mode 100%o\n" % patch.new_mode)
    if old is not None and new is not None and old != new:
        similarity = 100 if patch.old_blob == patch.new_blob else 50
        out.append(b"similarity index %d%%\n" % similarity)
        out.append(b"rename from %b\nrename to %b\n" % (quoted("", old), quoted("", new)))
    if patch.old_blob != patch.new_blob:
        same = old is not None and new is not None and patch.old_mode == patch.new_mode
        suffix = b" 100%o" % git_mode(patch.new_mode) if same else b""
        out.append(b"index %b..%b%b\n" % (patch.old_blob.encode(), patch.new_blob.encode(), suffix))
    if patch.binary is not None:
        before, after = patch.binary
        out += (b"GIT binary patch\n", literal(after), literal(before))
    elif patch.hunks:
        out.append(b"--- %b\n" % (b"/dev/null" if old is None else _marked("a/", old)))
        out.append(b"+++ %b\n" % (b"/dev/null" if new is None else _marked("b/", new)))
        out += map(_render_hunk, patch.hunks)
    return b"".join(out)


def _render_hunk(hunk: Hunk) -> bytes:
    old, new = hunk.old_count, hunk.new_count
    out = [b"@@ -%b +%b @@\n" % (_range(hunk.old_start, old), _range(hunk.new_start, new))]
    for tag, line in hunk.lines:
        out.append(tag + line if line.endswith(b"\n") else tag + line + b"\n" + _NO_NEWLINE)
    return b"".join(out)


def _range(start: int, count: int) -> bytes:
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def _marked(side: str, path: str) -> bytes:
    name = quoted(side, path)
    # As git does it: without the tab, a space would end the name for tools that look for a date behind it.
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


class _Lines:
    """The lines of a patch, one after the other."""

    def __init__(self, body: bytes) -> None:
        self._lines = split_lines(body)
        self._at = 0

    def peek(self) -> bytes:
        """The next line, or nothing at the end."""
        return self._lines[self._at] if self._at < len(self._lines) else b""

    def take(self) -> bytes:
        """The next line, which there must be."""
        line = self.peek()
        if not line:
            raise PatchMalformed("the patch ends too early")
        self._at += 1
        return line

    def take_if(self, start: bytes) -> bytes | None:
        """What follows `start` in the next line, if it begins so."""
        line = self.peek()
        if not line.startswith(start):
            return None
        self._at += 1
        return line[len(start) :].removesuffix(b"\n")


def split_lines(body: bytes) -> list[bytes]:
    """The lines with their ends; only a line feed ends one, as git sees it."""
    lines = [line + b"\n" for line in body.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def parse(body: bytes) -> list[FilePatch]:
    """Read a patch of one or several files."""
    lines = _Lines(body)
    found = []
    try:
        while lines.peek():
            found.append(_parse_file(lines))
    except PatchMalformed:
        raise
    except ValueError as wrong:
        raise PatchMalformed(str(wrong)) from wrong
    return found


def invert(body: bytes) -> bytes:
    """The patch that takes this one back, its files in the opposite order."""
    return b"".join(render(patch.inverted()) for patch in reversed(parse(body)))


def apply(body: bytes, before: Mapping[str, FileState | None]) -> dict[str, FileState | None]:
    """What the files become: every path that the patch touches, None where it removes. A PatchMismatch when they differ."""
    after = dict(before)
    touched: dict[str, FileState | None] = {}
    for patch in parse(body):
        state = None if patch.old_path is None else after.get(patch.old_path)
        if patch.new_path not in {None, patch.old_path} and after.get(patch.new_path or "") is not None:
            raise PatchMismatch(patch.new_path or "", "there is a file already")
        if patch.old_path is not None and patch.old_path != patch.new_path:
            touched[patch.old_path] = after[patch.old_path] = None
        result = apply_file(patch, state)
        if patch.new_path is not None:
            touched[patch.new_path] = after[patch.new_path] = result
    return touched


def apply_file(patch: FilePatch, before: FileState | None) -> FileState | None:
    """What one file becomes. It must be exactly the file that the patch was made for."""
    if (patch.old_path is None) != (before is None):
        raise PatchMismatch(patch.path, "there is a file already" if before else "there is no such file")
    old = b"" if before is None else before.body
    changes_bytes = patch.old_blob != patch.new_blob
    if changes_bytes and before is not None and blob_id(old) != patch.old_blob:
        raise PatchMismatch(patch.path, "its bytes are others")
    if patch.binary is not None:
        new = patch.binary[1]
    else:
        new = _apply_hunks(patch, old) if patch.hunks else (b"" if patch.new_path is None else old)
    if patch.new_path is None:
        if new:
            raise PatchMismatch(patch.path, "more is left than nothing")
        return None
    if changes_bytes and blob_id(new) != patch.new_blob:
        raise PatchMismatch(patch.path, "the result is not what the patch says it is")
    if before is None:
        return FileState(new, patch.new_mode)
    if patch.old_mode == patch.new_mode:
        return FileState(new, before.mode)
    if before.mode != patch.old_mode:
        raise PatchMismatch(patch.path, f"its mode is {before.mode:o} and not {patch.old_mode:o}")
    return FileState(new, patch.new_mode)


def _apply_hunks(patch: FilePatch, body: bytes) -> bytes:
    lines, at = split_lines(body), 0
    out: list[bytes] = []
    for hunk in patch.hunks:
        old = [line for tag, line in hunk.lines if tag != b"+"]
        start = hunk.old_start - 1 if old else hunk.old_start
        if start < at or lines[start : start + len(old)] != old:
            raise PatchMismatch(patch.path, f"line {hunk.old_start} is not what the patch expects")
        out += lines[at:start]
        out += (line for tag, line in hunk.lines if tag != b"-")
        at = start + len(old)
    return b"".join(out + lines[at:])


def _parse_file(lines: _Lines) -> FilePatch:
    names = lines.take_if(b"diff --git ")
    if names is None:
        raise PatchMalformed("a patch begins with diff --git")
    old: str | None
    new: str | None
    old, new = both_names(names)
    old_mode = new_mode = 0o644
    if (mode := lines.take_if(b"new file mode ")) is not None:
        old, new_mode = None, _mode(mode)
    elif (mode := lines.take_if(b"deleted file mode ")) is not None:
        new, old_mode = None, _mode(mode)
    elif (mode := lines.take_if(b"old mode ")) is not None:
        old_mode, new_mode = _mode(mode), _mode(lines.take_if(b"new mode ") or b"")
    if lines.take_if(b"similarity index ") is not None:
        old = unquoted(lines.take_if(b"rename from ") or b"")
        new = unquoted(lines.take_if(b"rename to ") or b"")
    old_blob = new_blob = NO_BLOB
    if lines.peek().startswith(b"index "):
        index = _INDEX.fullmatch(lines.take())
        if index is None:
            raise PatchMalformed("an index line names two whole blobs")
        old_blob, new_blob = index[1].decode(), index[2].decode()
        if index[3] is not None:
            old_mode = new_mode = _mode(index[3])
    binary: tuple[bytes, bytes] | None = None
    hunks: tuple[Hunk, ...] = ()
    if lines.take_if(b"GIT binary patch\n") is not None:
        after = _parse_literal(lines)
        binary = (_parse_literal(lines), after)
    elif lines.take_if(b"--- ") is not None:
        if lines.take_if(b"+++ ") is None:
            raise PatchMalformed("--- has no +++")
        hunks = tuple(_parse_hunks(lines))
    return FilePatch(
        old_path=old,
        new_path=new,
        old_mode=old_mode,
        new_mode=new_mode,
        old_blob=old_blob,
        new_blob=new_blob,
        hunks=hunks,
        binary=binary,
    )


def _parse_hunks(lines: _Lines) -> Iterator[Hunk]:
    while lines.peek().startswith(b"@@"):
        header = _HUNK.fullmatch(lines.take())
        if header is None:
            raise PatchMalformed("a hunk's header is not one")
        old_left, new_left = (1 if header[at] is None else int(header[at]) for at in (2, 4))
        found: list[tuple[bytes, bytes]] = []
        while old_left or new_left or lines.peek() == _NO_NEWLINE:
            line = lines.take()
            if line == _NO_NEWLINE and found:
                tag, last = found.pop()
                found.append((tag, last.removesuffix(b"\n")))
                continue
            tag = line[:1]
            if tag not in {b" ", b"+", b"-"}:
                raise PatchMalformed("a line of a hunk begins with a space, + or -")
            old_left -= tag != b"+"
            new_left -= tag != b"-"
            if min(old_left, new_left) < 0:
                raise PatchMalformed("a hunk has more lines than it says")
            found.append((tag, line[1:]))
        yield Hunk(int(header[1]), int(header[3]), tuple(found))


def _parse_literal(lines: _Lines) -> bytes:
    size = lines.take_if(b"literal ")
    if size is None or not size.isdigit():
        raise PatchMalformed("only literal binary patches are read")
    packed = []
    while (line := lines.take()) != b"\n":
        packed.append(line)
    return unpacked(packed, int(size))


def _mode(text: bytes) -> int:
    if not re.fullmatch(rb"100[0-7]{3}", text):
        raise PatchMalformed("only plain files are patched")
    return int(text[3:], 8)
