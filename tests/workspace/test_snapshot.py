"""States of a workspace: what has changed between two of them, quickly, and whatever lies there."""

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runwire.workspace import snapshot
from runwire.workspace.changes import FileChange, FileState
from runwire.workspace.errors import WorkspaceInvalid
from runwire.workspace.root import TEMP_PREFIX
from runwire.workspace.snapshot import BODY_LIMIT_BYTES, Shadow, Unpatchable
from tests.workspace.commands import NOBODY
from tests.workspace.conftest import Ground
from tests.workspace.git import checkout, git, read_tree, write_tree
from tests.workspace.trees import EXACT_STATES, NAMES


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def shadow(workspace: Path, tmp_path: Path) -> Iterator[Shadow]:
    with Shadow(workspace, tmp_path / "shadow") as shadow:
        yield shadow


async def between(shadow: Shadow, before: str, after: str) -> Mapping[str, FileChange | Unpatchable]:
    return {one.path: one async for one in shadow.changes(before, after)}


async def since(shadow: Shadow, before: str) -> Mapping[str, FileChange | Unpatchable]:
    return await between(shadow, before, await shadow.take())


async def test_what_is_made_changed_and_removed_is_told_with_its_bytes_and_modes(
    workspace: Path, shadow: Shadow
) -> None:
    write_tree(workspace, {"a": FileState(b"a\r\n"), "gone": FileState(b"\0\1", 0o600), "same": FileState(b"x")})
    write_tree(workspace, {"tool": FileState(b"#!/bin/sh\n", 0o644), "deep/er": FileState(b"e")})
    before = await shadow.take()
    (workspace / "gone").unlink()
    write_tree(workspace, {"a": FileState(b"b\r\n"), "new/file": FileState(b"n", 0o755)})
    (workspace / "tool").chmod(0o755)
    assert await since(shadow, before) == {
        "a": FileChange("a", FileState(b"a\r\n"), FileState(b"b\r\n")),
        "gone": FileChange("gone", FileState(b"\0\1", 0o600), None),
        "new/file": FileChange("new/file", None, FileState(b"n", 0o755)),
        "tool": FileChange("tool", FileState(b"#!/bin/sh\n"), FileState(b"#!/bin/sh\n", 0o755)),
    }


async def test_the_same_state_has_the_same_name(workspace: Path, shadow: Shadow) -> None:
    (workspace / "a").write_text("one")
    first = await shadow.take()
    assert await shadow.take() == first
    (workspace / "a").write_text("two")
    assert await shadow.take() != first
    (workspace / "a").write_text("one")
    assert await shadow.take() == first


async def test_a_change_of_the_same_length_in_the_same_moment_is_seen(workspace: Path, shadow: Shadow) -> None:
    file = workspace / "a"
    for number in range(50):
        file.write_text(f"{number:04}")
        before = await shadow.take()
        file.write_text(f"{number + 1:04}")
        assert (await since(shadow, before)).keys() == {"a"}


async def test_a_change_that_hides_its_time_is_seen(workspace: Path, shadow: Shadow) -> None:
    file = workspace / "a"
    file.write_text("one")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    await asyncio.sleep(0.1)
    before = await shadow.take()
    assert await shadow.take() == before
    file.write_text("two")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert (await since(shadow, before)).keys() == {"a"}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(NAMES, EXACT_STATES, max_size=6), min_size=2, max_size=4))
async def test_any_two_states_are_told_apart_exactly(tmp_path: Path, states: list[dict[str, FileState]]) -> None:
    workspace = tmp_path / "any"
    workspace.mkdir(exist_ok=True)
    with Shadow(workspace, tmp_path / "kept") as shadow:
        taken = []
        for files in states:
            _clear(workspace)
            write_tree(workspace, files)
            taken.append((await shadow.take(), read_tree(workspace)))
        for before, old in taken:
            for after, new in taken:
                assert await between(shadow, before, after) == {
                    path: FileChange(path, old.get(path), new.get(path))
                    for path in old.keys() | new.keys()
                    if old.get(path) != new.get(path)
                }


async def test_links_and_long_files_are_told_apart(workspace: Path, shadow: Shadow, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    (workspace / "link").symlink_to("nowhere")
    (workspace / "file").write_text("f")
    (workspace / "long").write_bytes(b"x" * (BODY_LIMIT_BYTES + 1))
    (workspace / "whole").write_bytes(b"x" * BODY_LIMIT_BYTES)
    before = await shadow.take()
    (workspace / "link").unlink()
    (workspace / "link").symlink_to(tmp_path / "secret")
    (workspace / "file").unlink()
    (workspace / "file").symlink_to(tmp_path / "secret")
    (workspace / "long").write_bytes(b"y" * (BODY_LIMIT_BYTES + 1))
    (workspace / "whole").write_bytes(b"y" * BODY_LIMIT_BYTES)
    (workspace / "folder").symlink_to(tmp_path, target_is_directory=True)
    found = await since(shadow, before)
    link, long = "it is or was a symbolic link", f"it has or had more than {BODY_LIMIT_BYTES} bytes"
    assert {path: one.reason for path, one in found.items() if isinstance(one, Unpatchable)} == {
        "link": link,
        "file": link,
        "folder": link,
        "long": long,
    }
    assert isinstance(found["whole"], FileChange)


async def test_what_git_ignores_is_passed_over(workspace: Path, shadow: Shadow) -> None:
    write_tree(workspace, {".gitignore": FileState(b"*.log\n!keep.log\n/build/\nnode_modules\n")})
    write_tree(workspace, {"sub/.gitignore": FileState(b"/own\n!sub.log\n")})
    before = await shadow.take()
    names = ("a.log", "keep.log", "build/x", "sub/build/x", "sub/own", "sub/sub.log", "own", "node_modules/x/y", "z")
    write_tree(workspace, {name: FileState(b"x") for name in names})
    seen = (await since(shadow, before)).keys()
    git(workspace, "init", "-q")
    listed = git(workspace, "ls-files", "-z", "--others", "--exclude-standard").decode().split("\0")
    assert seen == {name for name in listed if name} - {".gitignore", "sub/.gitignore"}
    assert seen == {"keep.log", "sub/build/x", "sub/sub.log", "own", "z"}


async def test_a_part_of_a_repository_obeys_the_whole(tmp_path: Path) -> None:
    top = tmp_path / "top"
    checkout(top, {".gitignore": FileState(b"*.tmp\n/pack/dist\n"), "pack/a": FileState(b"a")})
    (top / ".git/info/exclude").write_text("private\n")
    with Shadow(top / "pack", tmp_path / "shadow") as shadow:
        before = await shadow.take()
        write_tree(top / "pack", {name: FileState(b"x") for name in ("x.tmp", "dist/x", "sub/dist/x", "private", "b")})
        assert (await since(shadow, before)).keys() == {"sub/dist/x", "b"}


async def test_the_repository_of_the_workspace_is_never_touched(tmp_path: Path) -> None:
    workspace, shadow_folder = tmp_path / "workspace", tmp_path / "shadow"
    checkout(workspace, {"a": FileState(b"a")})
    (workspace / "a").write_text("dirty")
    (workspace / "untracked").write_text("u")
    was = _everything(workspace / ".git")
    with Shadow(workspace, shadow_folder) as shadow:
        before = await shadow.take()
        (workspace / "a").write_text("dirtier")
        assert (await since(shadow, before)).keys() == {"a"}
    assert _everything(workspace / ".git") == was
    assert list(shadow_folder.iterdir()) == []


async def test_a_hostile_workspace_breaks_and_runs_nothing(workspace: Path, shadow: Shadow, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    checkout(workspace, {"a.txt": FileState(b"a\r\n")})
    run = f"touch {ran}; cat"
    for name in (
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "core.fsmonitor",
        "diff.evil.textconv",
    ):
        git(workspace, "config", name, run)
    (workspace / ".git/hooks/post-index-change").write_text(f"#!/bin/sh\n{run}\n")
    (workspace / ".git/hooks/post-index-change").chmod(0o755)
    (workspace / ".gitattributes").write_text(
        "* filter=evil text eol=lf diff=evil ident working-tree-encoding=UTF-16\n"
    )
    nested = workspace / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    (workspace / "fake").mkdir()
    (workspace / "fake/.git").write_text(f"gitdir: {tmp_path}\n")
    os.mkfifo(workspace / "fifo")
    (workspace / "loop").symlink_to(".")
    (workspace / ".gitignore").symlink_to("fifo")
    deep = workspace
    for _ in range(50):
        deep /= "d"
    deep.mkdir(parents=True)
    before = await shadow.take()
    odd = ["new\nline", "tab\t", " ", "-rf", "*", "\x1b[31m", "ü", os.fsdecode(b"\xff\xfe"), "a" * 255, ".GIT"]
    for name in odd:
        (workspace / name).write_text("x")
    (nested / "file").write_text("x")
    (workspace / "fake/file").write_text("x")
    (deep / "file").write_text("x")
    (workspace / "a.txt").write_bytes(b"b\r\n")
    found = await since(shadow, before)
    assert found["a.txt"] == FileChange("a.txt", FileState(b"a\r\n"), FileState(b"b\r\n"))
    assert found.keys() == {*odd, "a.txt", "nested/file", "fake/file", f"{'d/' * 50}file"}
    refused = {path for path, one in found.items() if isinstance(one, Unpatchable)}
    assert refused == {"new\nline", "tab\t", "\x1b[31m", os.fsdecode(b"\xff\xfe"), ".GIT"}
    assert not ran.exists()


async def test_a_file_that_cannot_be_read_is_told_apart(ground: Ground) -> None:
    closed, shut = ground.workspace / "closed", ground.workspace / "shut"
    write_tree(ground.workspace, {"closed": FileState(b"one", 0), "shut/inside": FileState(b"x")})
    shut.chmod(0)
    with _as_nobody(), Shadow(ground.workspace, ground.data / "shadow") as shadow:
        before = await shadow.take()
        (ground.workspace / "open").write_text("x")
        after = await shadow.take()
        assert (await between(shadow, before, after)).keys() == {"open"}
        with _as_owner():
            closed.chmod(0o600)
            closed.write_text("two")
            closed.chmod(0)
        assert await since(shadow, after) == {"closed": Unpatchable("closed", "it cannot or could not be read")}
    shut.chmod(0o755)


async def test_a_folder_swapped_for_a_link_leads_nowhere(workspace: Path, shadow: Shadow, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write_tree(outside, {"secret": FileState(b"s")})
    write_tree(workspace, {"sub/secret": FileState(b"x")})
    before = await shadow.take()
    shutil.rmtree(workspace / "sub")
    (workspace / "sub").symlink_to(outside, target_is_directory=True)
    found = await since(shadow, before)
    assert found["sub/secret"] == FileChange("sub/secret", FileState(b"x"), None)
    assert isinstance(found["sub"], Unpatchable)
    assert len(found) == 2


async def test_five_thousand_files_are_looked_through_quickly(workspace: Path, shadow: Shadow) -> None:
    for number in range(5_000):
        folder = workspace / f"d{number % 97}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}.py").write_text(f"value = {number}\n" * 20)
    (workspace / ".gitignore").write_text("*.pyc\n__pycache__/\n/dist\nnode_modules/\n*.log\n.venv\n" * 5)
    before = await shadow.take()
    # Files that are just written are read again, once.
    await asyncio.sleep(0.1)
    await shadow.take()
    begun = time.perf_counter()
    assert await shadow.take() == before
    assert time.perf_counter() - begun < 0.8


async def test_a_workspace_without_end_is_refused(
    workspace: Path, shadow: Shadow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "FILES_MAX", 10)
    write_tree(workspace, {f"f{number}": FileState(b"x") for number in range(11)})
    with pytest.raises(WorkspaceInvalid, match="more than 10 files"):
        await shadow.take()


async def test_what_is_too_much_to_keep_is_still_seen_to_change(workspace: Path, tmp_path: Path) -> None:
    with Shadow(workspace, tmp_path / "shadow", kept_limit_bytes=1) as shadow:
        write_tree(workspace, {"a": FileState(b"first"), "b": FileState(b"second")})
        before = await shadow.take()
        write_tree(workspace, {"a": FileState(b"third"), "b": FileState(b"fourth")})
        found = await since(shadow, before)
    assert {one.reason for one in found.values() if isinstance(one, Unpatchable)} == {"its bytes could not be kept"}


async def test_a_workspace_that_went_away_is_told(workspace: Path, shadow: Shadow) -> None:
    await shadow.take()
    workspace.rmdir()
    with pytest.raises(WorkspaceInvalid, match="cannot be looked through"):
        await shadow.take()
    workspace.symlink_to("/")
    with pytest.raises(WorkspaceInvalid, match="cannot be looked through"):
        await shadow.take()


async def test_what_was_kept_has_no_name_that_a_crash_could_leave(
    workspace: Path, shadow: Shadow, tmp_path: Path
) -> None:
    (workspace / "a").write_text("secret")
    await shadow.take()
    assert list((tmp_path / "shadow").iterdir()) == []


async def test_a_look_that_is_called_off_does_not_disturb_the_next(workspace: Path, shadow: Shadow) -> None:
    write_tree(workspace, {f"f{number}": FileState(b"%d" % number) for number in range(300)})
    for steps in range(6):
        task = asyncio.get_running_loop().create_task(shadow.take())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
    before = await shadow.take()
    (workspace / "f1").write_text("x")
    assert (await since(shadow, before)).keys() == {"f1"}


@contextlib.contextmanager
def _as_nobody() -> Iterator[None]:
    """Without any rights, where we have them all."""
    owner = os.geteuid()
    if owner == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(owner)


@contextlib.contextmanager
def _as_owner() -> Iterator[None]:
    nobody = os.geteuid()
    os.seteuid(os.getuid())
    try:
        yield
    finally:
        os.seteuid(nobody)


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


async def test_a_change_that_the_clock_of_the_file_system_does_not_show_is_seen(
    workspace: Path, shadow: Shadow, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A clock that ticks so slowly that two writes of one length leave the same times.
    monkeypatch.setattr(snapshot, "_TICK_NS", 3_600_000_000_000)
    monkeypatch.setattr(snapshot, "_signature", lambda status: (status.st_mode, status.st_size, 0, 0, status.st_ino))
    (workspace / "a").write_bytes(b"one")
    before = await shadow.take()
    (workspace / "a").write_bytes(b"two")
    assert await since(shadow, before) == {"a": FileChange("a", FileState(b"one"), FileState(b"two"))}


async def test_copies_of_ours_that_wait_to_take_a_files_place_are_passed_over(workspace: Path, shadow: Shadow) -> None:
    (workspace / "sub").mkdir()
    before = await shadow.take()
    for folder in (workspace, workspace / "sub"):
        (folder / f"{TEMP_PREFIX}batch_1-0").write_bytes(b"new bytes")
    assert await since(shadow, before) == {}
