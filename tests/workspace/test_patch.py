"""Patches: they fit exactly or not at all, and turned round they give back every byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.workspace.changes import FileState
from runwire.workspace.diff import diff
from runwire.workspace.patch import PatchMalformed, PatchMismatch, apply, invert, parse, render
from tests.workspace.trees import EXACT_STATES, NAMES


@given(NAMES, st.none() | EXACT_STATES, st.none() | EXACT_STATES)
def test_apply_then_revert_gives_back_every_byte_and_mode(
    name: str, before: FileState | None, after: FileState | None
) -> None:
    if before == after:
        return
    patch = diff(before, after, name).body
    assert apply(patch, {name: before}) == {name: after}
    assert apply(invert(patch), {name: after}) == {name: before}
    assert invert(invert(patch)) == patch


@given(st.permutations(["a", "sub/ü", "x y", 'q"']), EXACT_STATES, EXACT_STATES)
def test_a_rename_can_be_taken_back(names: list[str], before: FileState, after: FileState) -> None:
    old, new = names[:2]
    patch = diff(before, after, new, renamed_from=old).body
    assert apply(patch, {old: before, new: None}) == {old: None, new: after}
    assert apply(invert(patch), {old: None, new: after}) == {old: before, new: None}


@given(NAMES, st.none() | EXACT_STATES, st.none() | EXACT_STATES)
def test_what_is_read_is_written_again_byte_for_byte(
    name: str, before: FileState | None, after: FileState | None
) -> None:
    if before == after:
        return
    patch = diff(before, after, name).body
    assert b"".join(map(render, parse(patch))) == patch


@given(EXACT_STATES, EXACT_STATES, EXACT_STATES)
def test_a_patch_does_not_fit_another_file(before: FileState, after: FileState, other: FileState) -> None:
    if before.body in {other.body, after.body}:
        return
    with pytest.raises(PatchMismatch):
        apply(diff(before, after, "f").body, {"f": other})


def test_a_patch_for_no_file_does_not_fit_a_file_and_the_other_way_round() -> None:
    made = diff(None, FileState(b"a\n"), "f").body
    with pytest.raises(PatchMismatch, match="already"):
        apply(made, {"f": FileState(b"")})
    with pytest.raises(PatchMismatch, match="no such file"):
        apply(invert(made), {"f": None})


def test_a_mode_that_moved_meanwhile_is_a_mismatch() -> None:
    patch = diff(FileState(b"a", 0o644), FileState(b"a", 0o755), "f").body
    with pytest.raises(PatchMismatch, match="mode"):
        apply(patch, {"f": FileState(b"a", 0o600)})


def test_a_target_of_a_rename_must_be_free() -> None:
    patch = diff(FileState(b"a"), FileState(b"a"), "new", renamed_from="old").body
    with pytest.raises(PatchMismatch, match="already"):
        apply(patch, {"old": FileState(b"a"), "new": FileState(b"b")})


def test_several_files_are_one_patch() -> None:
    both = diff(FileState(b"1\n"), FileState(b"2\n"), "a").body + diff(None, FileState(b"x"), "b").body
    assert apply(both, {"a": FileState(b"1\n")}) == {"a": FileState(b"2\n"), "b": FileState(b"x")}
    assert apply(invert(both), {"a": FileState(b"2\n"), "b": FileState(b"x")}) == {"a": FileState(b"1\n"), "b": None}


def test_files_are_taken_back_in_the_opposite_order() -> None:
    moved, made = FileState(b"old\n"), FileState(b"new\n")
    both = diff(moved, moved, "b", renamed_from="a").body + diff(None, made, "a").body
    assert apply(both, {"a": moved, "b": None}) == {"a": made, "b": moved}
    assert apply(invert(both), {"a": made, "b": moved}) == {"a": moved, "b": None}


def test_turned_round_it_reads_as_if_it_had_been_made_that_way() -> None:
    before, after = FileState(b"1\n2\n3\n4"), FileState(b"1\nII\n3\nIV\n")
    assert invert(diff(before, after, "f").body) == diff(after, before, "f").body


PLAIN = diff(FileState(b"1\n2\n"), FileState(b"1\n3\n"), "f").body
BINARY = diff(FileState(b"\0"), FileState(b"\0\0"), "f").body


@pytest.mark.parametrize(
    "damaged",
    [
        b"hello\n",
        PLAIN[:-3],
        PLAIN.replace(b"@@ -1,2", b"@@ -1,1"),
        PLAIN.replace(b"-2\n", b"?2\n"),
        PLAIN.replace(b"@@ -1,2 +1,2 @@", b"@@ one @@"),
        PLAIN.replace(b"index ", b"index x"),
        PLAIN.replace(b"+++ b/f\n", b""),
        BINARY.replace(b"literal 1", b"delta 1"),
        BINARY.replace(b"literal 2", b"literal 3"),
        diff(None, FileState(b""), "f").body.replace(b"100644", b"120000"),
    ],
)
def test_bytes_that_are_no_patch_of_ours_are_refused(damaged: bytes) -> None:
    with pytest.raises(PatchMalformed):
        parse(damaged)


def test_a_patch_that_was_tampered_with_does_not_apply() -> None:
    with pytest.raises(PatchMismatch):
        apply(PLAIN.replace(b"+3", b"+4"), {"f": FileState(b"1\n2\n")})
