"""Diffs: small, exact, and in the words that git itself would use."""

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from runwire.workspace.changes import FileState
from runwire.workspace.diff import DiffStats, diff, is_binary, plain_modes
from runwire.workspace.patch import apply
from tests.workspace.git import checkout, git, read_tree, write_tree
from tests.workspace.trees import NAMES, STATES, texts


def state(text: str, mode: int = 0o644) -> FileState:
    return FileState(text.encode(), mode)


def test_one_changed_line_is_one_small_hunk_with_three_lines_around_it() -> None:
    before = state("".join(f"{n}\n" for n in range(1, 21)))
    patch = diff(before, state(before.body.decode().replace("10\n", "ten\n")), "n.txt")
    assert patch.body.decode().splitlines()[4:] == [
        "@@ -7,7 +7,7 @@",
        " 7",
        " 8",
        " 9",
        "-10",
        "+ten",
        " 11",
        " 12",
        " 13",
    ]
    assert patch.stats == DiffStats(1, 1, 1)
    assert patch.summary == "1 hunk, +1/-1 line"


def test_a_new_file_says_how_long_it_is() -> None:
    patch = diff(None, state("a\nb\n"), "n.txt")
    assert patch.summary == "new file, 2 lines"
    assert b"new file mode 100644\n" in patch.body
    assert b"--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n" in patch.body


def test_a_deleted_file_says_so_and_keeps_its_exact_mode() -> None:
    patch = diff(state("a\n", 0o600), None, "n.txt")
    assert patch.summary == "deleted file, 1 line"
    assert b"deleted file mode 100600\n" in patch.body


def test_a_rename_without_a_change_has_no_lines() -> None:
    patch = diff(state("a\n"), state("a\n"), "new", renamed_from="old")
    assert patch.body == (b"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n")
    assert patch.summary == "renamed from old"


def test_bytes_that_are_no_text_are_a_binary_patch_both_ways() -> None:
    patch = diff(FileState(b"\0a"), FileState(b"\xff\xfe"), "b.bin")
    assert patch.body.count(b"literal 2\n") == 2
    assert patch.summary == "binary, 2 to 2 bytes"
    assert is_binary(b"\xff")
    assert not is_binary("é".encode())


def test_what_git_would_print_is_what_we_print(tmp_path: Path) -> None:
    before = {"f": state("".join(f"line {n}\n" for n in range(60))), "x y": state("a\n")}
    after = {
        "f": state(before["f"].body.decode().replace("line 30\n", "").replace("line 5\n", "5\nfive\n")),
        "x y": state("b"),
    }
    checkout(tmp_path, before)
    write_tree(tmp_path, after)
    theirs = git(tmp_path, "-c", "core.quotePath=true", "diff", "--full-index", "--no-color")
    ours = b"".join(diff(before[name], after[name], name).body for name in sorted(before))
    # Git names the enclosing function after the second @@; we do not guess one.
    assert _without_functions(theirs) == ours


def _without_functions(body: bytes) -> bytes:
    lines = [
        line[: line.index(b" @@") + 3] + b"\n" if line.startswith(b"@@") else line
        for line in body.splitlines(keepends=True)
    ]
    return b"".join(lines)


@given(texts(), texts())
def test_no_diff_of_text_is_longer_than_the_minimal_one_of_git(first: bytes, second: bytes) -> None:
    if is_binary(first) or is_binary(second):
        return
    stats = diff(FileState(first), FileState(second), "f").stats
    assert stats.additions + stats.deletions == _least_edits(first, second)


def _least_edits(first: bytes, second: bytes) -> int:
    """By the slow and certain way: the longest common subsequence, filled in as a table."""
    a, b = first.split(b"\n"), second.split(b"\n")
    a = [line + b"\n" for line in a[:-1]] + ([a[-1]] if a[-1] else [])
    b = [line + b"\n" for line in b[:-1]] + ([b[-1]] if b[-1] else [])
    row = [0] * (len(b) + 1)
    for line in a:
        last = row[:]
        for at, other in enumerate(b):
            row[at + 1] = last[at] + 1 if line == other else max(last[at + 1], row[at])
    return len(a) + len(b) - 2 * row[-1]


@settings(max_examples=25)
@given(st.dictionaries(NAMES, STATES, max_size=4), st.dictionaries(NAMES, STATES, max_size=4))
def test_git_applies_our_patch_on_a_fresh_checkout(before: dict[str, FileState], after: dict[str, FileState]) -> None:
    body = b"".join(
        diff(before.get(name), after.get(name), name).body
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )
    with tempfile.TemporaryDirectory() as folder:
        checkout(Path(folder), before)
        if body:
            git(Path(folder), "apply", "--check", given=body)
            git(Path(folder), "apply", given=body)
        assert read_tree(Path(folder)) == after


def test_git_applies_a_rename_with_a_change_and_another_mode(tmp_path: Path) -> None:
    before = state("".join(f"{n}\n" for n in range(30)))
    after = state(before.body.decode() + "more", 0o755)
    checkout(tmp_path, {"old name": before})
    git(tmp_path, "apply", given=diff(before, after, "sub/new name", renamed_from="old name").body)
    assert read_tree(tmp_path) == {"sub/new name": after}


def test_git_takes_modes_it_does_not_know_itself(tmp_path: Path) -> None:
    before = state("a\n", 0o600)
    checkout(tmp_path, {"f": before})
    git(tmp_path, "apply", given=diff(before, state("a\n", 0o700), "f").body)
    assert (tmp_path / "f").stat().st_mode & 0o100
    assert plain_modes(before) == state("a\n")


def test_large_rewrites_take_moderate_time_and_stay_exact() -> None:
    rng = random.Random(1)
    for count, words in ((6_000, 50), (30_000, 10**9), (25_000, 1)):
        first = "".join(f"{rng.randrange(words)}\n" for _ in range(count)).encode()
        second = "".join(f"{rng.randrange(words)}\n" for _ in range(count)).encode() + b"end"
        patch = diff(FileState(first), FileState(second), "f")
        assert apply(patch.body, {"f": FileState(first)}) == {"f": FileState(second)}
