"""Two states of a file become a patch in git's format, as small as it can be. Pure."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from runwire.workspace.changes import FileState
from runwire.workspace.patch import NO_BLOB, FilePatch, Hunk, blob_id, git_mode, render, split_lines

CONTEXT_LINES = 3
_SNIFFED_BYTES = 8_000
_EDITS_MAX = 512
"""How many single insertions and removals the minimal search goes through before a cheaper one takes over."""
_PAIRS_MAX = 4_000_000
"""How many equal pairs of lines are looked at between two anchors; beyond that the stretch is replaced as a whole."""

_Run = tuple[int, int, int]
"""Where equal lines begin on both sides, and how many they are."""


@dataclass(frozen=True, slots=True)
class DiffStats:
    """How much a patch changes."""

    additions: int
    deletions: int
    hunks: int


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of one file: the patch's bytes and what to say about it."""

    body: bytes
    stats: DiffStats
    summary: str
    file: FilePatch


def diff(before: FileState | None, after: FileState | None, path: str, *, renamed_from: str | None = None) -> Patch:
    """The patch that takes `before` to `after`; None is no file. Modes are kept exactly where they change or vanish."""
    if before is None and after is None:
        raise ValueError("a file that is absent on both sides does not change")
    old = b"" if before is None else before.body
    new = b"" if after is None else after.body
    binary = (is_binary(old) or is_binary(new)) and old != new
    hunks = () if binary else tuple(_hunks(split_lines(old), split_lines(new)))
    file = FilePatch(
        old_path=None if before is None else renamed_from or path,
        new_path=None if after is None else path,
        old_mode=0o644 if before is None else before.mode,
        new_mode=0o644 if after is None else after.mode,
        old_blob=NO_BLOB if before is None else blob_id(old),
        new_blob=NO_BLOB if after is None else blob_id(new),
        hunks=hunks,
        binary=(old, new) if binary else None,
    )
    stats = DiffStats(_count(hunks, b"+"), _count(hunks, b"-"), len(hunks))
    return Patch(render(file), stats, _summary(file, stats), file)


def plain_modes(state: FileState | None) -> FileState | None:
    """The file with a mode that git knows, for patches that leave the house."""
    return None if state is None else FileState(state.body, git_mode(state.mode))


def is_binary(body: bytes) -> bool:
    """Whether lines would say nothing about these bytes: git's own test, and whatever is not UTF-8."""
    if b"\0" in body[:_SNIFFED_BYTES]:
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return True
    return False


def _count(hunks: Sequence[Hunk], sign: bytes) -> int:
    return sum(tag == sign for hunk in hunks for tag, _ in hunk.lines)


def _summary(file: FilePatch, stats: DiffStats) -> str:
    changed = f"+{stats.additions}/-{stats.deletions} {'line' if stats.additions + stats.deletions <= 2 else 'lines'}"
    if file.old_path is None:
        size = len(file.binary[1]) if file.binary else stats.additions
        return f"new file, {size} {_unit(file, size)}"
    if file.new_path is None:
        size = len(file.binary[0]) if file.binary else stats.deletions
        return f"deleted file, {size} {_unit(file, size)}"
    said = []
    if file.old_path != file.new_path:
        said.append(f"renamed from {file.old_path}")
    if file.old_mode != file.new_mode:
        said.append(f"mode {file.old_mode:o} to {file.new_mode:o}")
    if file.binary is not None:
        said.append(f"binary, {len(file.binary[0])} to {len(file.binary[1])} bytes")
    elif stats.hunks:
        said.append(f"{stats.hunks} {'hunk' if stats.hunks == 1 else 'hunks'}, {changed}")
    return ", ".join(said) or "nothing changes"


def _unit(file: FilePatch, size: int) -> str:
    return ("byte" if file.binary else "line") + ("" if size == 1 else "s")


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[Hunk]:
    changes = _changes(old, new)
    at = 0
    while at < len(changes):
        last = at
        # Two changes whose surroundings touch share a hunk.
        while last + 1 < len(changes) and changes[last + 1][0] - changes[last][1] <= 2 * CONTEXT_LINES:
            last += 1
        yield _hunk(old, new, changes[at : last + 1])
        at = last + 1


def _hunk(old: list[bytes], new: list[bytes], changes: Sequence[tuple[int, int, int, int]]) -> Hunk:
    old_from = max(0, changes[0][0] - CONTEXT_LINES)
    new_from = changes[0][2] - (changes[0][0] - old_from)
    lines: list[tuple[bytes, bytes]] = []
    at = old_from
    for old_start, old_end, new_start, new_end in changes:
        lines += ((b" ", line) for line in old[at:old_start])
        lines += ((b"-", line) for line in old[old_start:old_end])
        lines += ((b"+", line) for line in new[new_start:new_end])
        at = old_end
    lines += ((b" ", line) for line in old[at : at + CONTEXT_LINES])
    old_count = sum(tag != b"+" for tag, _ in lines)
    new_count = sum(tag != b"-" for tag, _ in lines)
    # A side without lines is placed after the line before it, which is how git counts.
    return Hunk(old_from + (old_count > 0), new_from + (new_count > 0), tuple(lines))


def _changes(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int, int]]:
    """The stretches that differ: where each begins and ends before and after."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    names: dict[bytes, int] = {}
    first = [names.setdefault(line, len(names)) for line in old[head : len(old) - tail]]
    second = [names.setdefault(line, len(names)) for line in new[head : len(new) - tail]]
    runs = _minimal(first, second)
    if runs is None:
        runs = list(_anchored(first, second))
    changes, old_at, new_at = [], 0, 0
    for old_start, new_start, length in [*runs, (len(first), len(second), 0)]:
        if old_start > old_at or new_start > new_at:
            changes.append((head + old_at, head + old_start, head + new_at, head + new_start))
        old_at, new_at = old_start + length, new_start + length
    return changes


def _minimal(old: list[int], new: list[int]) -> list[_Run] | None:
    """The longest common lines by Myers' greedy search; None when too many edits lie between the two."""
    if not old or not new:
        return []
    # Even without any equal line in between, the sizes say how many edits there must be.
    if abs(len(old) - len(new)) > _EDITS_MAX:
        return None
    furthest = {1: 0}
    steps: list[dict[int, int]] = []
    for edits in range(min(_EDITS_MAX, len(old) + len(new)) + 1):
        reached: dict[int, int] = {}
        for diagonal in range(-edits, edits + 1, 2):
            below, left = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1)
            x = below if left < below else left + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            reached[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walked_back(steps, x, y)
        steps.append(furthest := reached)
    return None


def _walked_back(steps: Sequence[dict[int, int]], x: int, y: int) -> list[_Run]:
    runs: list[_Run] = []
    for reached in reversed(steps):
        diagonal = x - y
        below, left = reached.get(diagonal + 1, -1), reached.get(diagonal - 1, -1)
        start = below if left < below else left + 1
        if x > start:
            runs.append((start, start - diagonal, x - start))
        x, y = (below, below - diagonal - 1) if left < below else (left, left - diagonal + 1)
    if x > 0:
        runs.append((0, 0, x))
    return runs[::-1]


def _anchored(old: list[int], new: list[int]) -> Iterator[_Run]:
    """Equal lines, found between lines that stand once on both sides and in the same order."""
    old_at = new_at = 0
    for old_anchor, new_anchor in [*_anchors(old, new), (len(old), len(new))]:
        yield from _between(old, new, (old_at, old_anchor), (new_at, new_anchor))
        if old_anchor < len(old):
            yield old_anchor, new_anchor, 1
        old_at, new_at = old_anchor + 1, new_anchor + 1


def _between(old: list[int], new: list[int], here: tuple[int, int], there: tuple[int, int]) -> Iterator[_Run]:
    first, second = old[slice(*here)], new[slice(*there)]
    if not first or not second:
        return
    often = Counter(second)
    if sum(often[line] for line in first) > _PAIRS_MAX:
        return
    for run in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        if run.size:
            yield here[0] + run.a, there[0] + run.b, run.size


def _anchors(old: list[int], new: list[int]) -> list[tuple[int, int]]:
    """Lines that stand once on both sides: the longest chain of them that rises on both."""
    once_old, once_new = Counter(old), Counter(new)
    place = {line: at for at, line in enumerate(new) if once_new[line] == 1}
    pairs = [(at, place[line]) for at, line in enumerate(old) if once_old[line] == 1 and line in place]
    tops: list[int] = []
    ends: list[int] = []
    came_from: list[int] = []
    for number, (_, new_at) in enumerate(pairs):
        pile = bisect_left(tops, new_at)
        came_from.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [new_at]
        ends[pile : pile + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = came_from[number]
    return chain[::-1]
