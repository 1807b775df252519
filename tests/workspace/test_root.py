"""A workspace's root: whatever a path says, nothing outside is read, written, made or removed."""

import ctypes
import os
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runwire.workspace.changes import FileState
from runwire.workspace.errors import PathRefused, WorkspaceInvalid
from runwire.workspace.openat import OpenBeneath, opener, walk
from runwire.workspace.root import Root

SECRET = b"a secret outside"


@pytest.fixture(params=["kernel", "walk"])
def opens(request: pytest.FixtureRequest) -> OpenBeneath:
    return opener() if request.param == "kernel" else walk


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(SECRET)
    return folder


@pytest.fixture
def root(tmp_path: Path, opens: OpenBeneath) -> Iterator[Root]:
    folder = tmp_path / "workspace"
    folder.mkdir()
    with Root.open(folder, opens=opens) as opened:
        yield opened


def test_a_file_is_read_with_its_mode_and_revision(root: Root) -> None:
    (root.path / "run.sh").write_bytes(b"echo hi\n")
    (root.path / "run.sh").chmod(0o755)
    found = root.read("run.sh")
    assert found == FileState(b"echo hi\n", 0o755)
    assert found is not None
    assert found.revision.startswith("sha256:")


def test_what_is_not_there_is_none(root: Root) -> None:
    assert root.read("missing") is None
    assert root.read("no/such/folder/file") is None
    assert root.stat("missing") is None
    assert root.remove("missing") is False


def test_a_path_below_the_root_may_be_absolute_or_wind(root: Root) -> None:
    (root.path / "sub").mkdir()
    (root.path / "sub" / "a").write_bytes(b"a")
    for path in (str(root.path / "sub" / "a"), "sub/../sub/./a", "./sub//a", f"{root.path}/sub/../sub/a"):
        found = root.read(path)
        assert found is not None
        assert found.body == b"a"
        assert root.relative(path) == "sub/a"


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "a/../../outside/secret",
        "..",
        "../workspace-too",
        "sub/../../outside/secret",
        "/etc/passwd",
    ],
)
def test_a_path_that_leads_out_is_refused(root: Root, outside: Path, path: str) -> None:
    assert (outside / "secret").exists()
    for attempt in (root.read, root.stat, root.remove, root.make_parents):
        with pytest.raises(PathRefused):
            attempt(path)
    with pytest.raises(PathRefused):
        root.replace(path, b"x")
    assert (outside / "secret").read_bytes() == SECRET


@pytest.mark.parametrize("path", ["a\0b", "a\nb", "a\x7fb", "a\x1b[31m", "x" * 5000, "y" * 300, "\udcff"])
def test_a_path_that_no_honest_name_has_is_refused(root: Root, path: str) -> None:
    with pytest.raises(PathRefused):
        root.read(path)
    with pytest.raises(PathRefused):
        root.replace(path, b"x")


@pytest.mark.parametrize(
    "path", [".git/config", "sub/.git/hooks/pre-commit", ".GIT/config", ".g\u200cit/config", ".git"]
)
def test_what_is_in_git_is_read_and_never_written(root: Root, path: str) -> None:
    (root.path / ".git").mkdir()
    (root.path / ".git" / "config").write_bytes(b"[core]\n")
    for attempt in (root.remove, root.make_parents, root.remove_folder):
        with pytest.raises(PathRefused):
            attempt(path)
    with pytest.raises(PathRefused):
        root.replace(path, b"x")
    with pytest.raises(PathRefused):
        root.chmod(path, 0o777)
    assert root.read(".git/config") == FileState((root.path / ".git" / "config").read_bytes(), 0o644)


def test_a_symbolic_link_is_never_followed(root: Root, outside: Path) -> None:
    (root.path / "inside.txt").write_bytes(b"inside")
    (root.path / "link").symlink_to(outside / "secret")
    (root.path / "folder").symlink_to(outside)
    (root.path / "near").symlink_to("inside.txt")
    for path in ("link", "folder/secret", "near", "folder"):
        with pytest.raises(PathRefused):
            root.read(path)
        with pytest.raises(PathRefused):
            root.replace(path, b"changed")
    with pytest.raises(PathRefused):
        root.list("folder")
    with pytest.raises(PathRefused):
        root.make_parents("folder/new/file")
    assert (outside / "secret").read_bytes() == SECRET
    assert sorted(os.listdir(outside)) == ["secret"]


def test_removing_a_link_removes_the_link(root: Root, outside: Path) -> None:
    (root.path / "link").symlink_to(outside / "secret")
    assert root.remove("link")
    assert (outside / "secret").exists()
    found = root.stat("link")
    assert found is None


def test_links_of_the_kernel_lead_nowhere(root: Root) -> None:
    (root.path / "proc").symlink_to("/proc/self/root")
    with pytest.raises(PathRefused):
        root.read("proc/etc/passwd")
    with pytest.raises(PathRefused):
        root.read("/proc/self/root/etc/passwd")
    with pytest.raises(PathRefused):
        root.read(f"/proc/self/cwd/../../../../../..{root.path}/../outside")


def test_writing_a_hard_link_leaves_its_other_name_alone(root: Root, outside: Path) -> None:
    os.link(outside / "secret", root.path / "hard")
    root.replace("hard", b"mine now")
    assert (outside / "secret").read_bytes() == SECRET
    assert (root.path / "hard").read_bytes() == b"mine now"


def test_what_is_no_plain_file_is_refused_without_waiting(root: Root) -> None:
    os.mkfifo(root.path / "fifo")
    (root.path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as door:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(root.path)
            door.bind("socket")
        finally:
            os.fchdir(here)
            os.close(here)
        for path in ("fifo", "socket", "folder"):
            with pytest.raises(PathRefused):
                root.read(path)
            with pytest.raises(PathRefused):
                root.replace(path, b"x")
    kinds = {found.name: found.kind for found in root.list()}
    assert kinds == {"fifo": "other", "folder": "folder", "socket": "other"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_refused(root: Root) -> None:
    os.mknod(root.path / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    with pytest.raises(PathRefused):
        root.read("zero")


def exchange(one: Path, other: Path) -> None:
    """Swap two names in one step, so that there never is a moment with neither."""
    assert ctypes.CDLL(None).renameat2(-100, bytes(one), -100, bytes(other), 2) == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux swaps two names in one step")
def test_a_link_swapped_in_while_we_look_never_leads_out(root: Root, outside: Path) -> None:
    real, link = root.path / "dir", root.path / "link"
    real.mkdir()
    (real / "secret").write_bytes(b"inside")
    link.symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            exchange(real, link)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        for number in range(3000):
            try:
                found = root.read("dir/secret")
                seen.add(None if found is None else found.body)
                if number % 10 == 0:
                    root.replace(f"dir/new-{number % 7}", b"x")
                    root.remove(f"dir/new-{number % 7}")
            except PathRefused:
                seen.add(None)
    finally:
        stop.set()
        swapping.join()
    assert b"inside" in seen
    assert None in seen
    assert SECRET not in seen
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == SECRET


def test_a_file_is_replaced_in_one_step_with_the_folders_it_needs(root: Root) -> None:
    root.replace("a/b/c.txt", b"one", 0o755)
    root.replace("a/b/c.txt", b"two", 0o644)
    assert root.read("a/b/c.txt") == FileState(b"two", 0o644)
    assert [found.name for found in root.list("a/b")] == ["c.txt"]


def test_made_parents_are_told_outermost_first_and_can_go_again(root: Root) -> None:
    (root.path / "a").mkdir()
    assert root.make_parents("a/b/c/file") == ("a/b", "a/b/c")
    assert root.make_parents("a/b/c/file") == ()
    assert root.remove_folder("a/b/c")
    assert root.remove_folder("a/b")
    (root.path / "a" / "kept").write_bytes(b"")
    assert not root.remove_folder("a")


def test_a_file_in_the_way_of_a_folder_is_refused(root: Root) -> None:
    root.replace("a", b"file")
    with pytest.raises(PathRefused):
        root.make_parents("a/b/file")
    with pytest.raises(PathRefused):
        root.read("a/b")


def test_a_temp_is_written_beside_and_renamed_into_place(root: Root) -> None:
    root.replace("a/file", b"old")
    temp = root.write_temp("a/file", b"new", 0o640, name=".runwire-1-0")
    assert temp == "a/.runwire-1-0"
    assert root.read("a/file") == FileState(b"old")
    with pytest.raises(PathRefused):
        root.write_temp("a/file", b"again", 0o640, name=".runwire-1-0")
    root.rename(temp, "a/file")
    assert root.read("a/file") == FileState(b"new", 0o640)
    assert root.stat(temp) is None


def test_special_bits_are_never_set(root: Root) -> None:
    root.replace("tool", b"#!/bin/sh\n", 0o4755)
    root.chmod("tool", 0o6755)
    found = root.read("tool")
    assert found is not None
    assert found.mode == 0o755


def test_a_file_past_the_limit_is_not_read(root: Root) -> None:
    root.replace("big", b"x" * 100)
    with pytest.raises(PathRefused, match="100 bytes"):
        root.read("big", limit_bytes=99)


def test_the_workspace_itself_can_be_listed_and_not_replaced(root: Root) -> None:
    found = root.stat(".")
    assert found is not None
    assert found.kind == "folder"
    with pytest.raises(PathRefused):
        root.replace(".", b"x")


def test_where_case_is_folded_only_the_true_spelling_counts(tmp_path: Path, opens: OpenBeneath) -> None:
    def folding(folder: int, path: str, flags: int, mode: int = 0) -> int:
        return opens(folder, path.lower(), flags, mode)

    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "readme").write_bytes(b"x")
    held = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    with Root(held, path=tmp_path, opens=folding, folds_case=True) as root:
        assert root.read("sub/readme") == FileState(b"x")
        assert root.read("sub/README") is None
        assert root.read("SUB/readme") is None


def test_a_root_that_is_no_folder_is_invalid(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(WorkspaceInvalid):
            Root.open(path)


def test_a_root_spelled_through_a_link_takes_both_spellings(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "a").write_bytes(b"a")
    with Root.open(tmp_path / "link") as root:
        assert root.read(str(tmp_path / "link" / "a")) == FileState(b"a")
        assert root.read(str(tmp_path / "real" / "a")) == FileState(b"a")


def test_a_root_that_moved_stays_itself(root: Root, tmp_path: Path) -> None:
    root.replace("a", b"a")
    root.path.rename(tmp_path / "moved")
    root.path.symlink_to(tmp_path)
    assert root.read("a") == FileState(b"a")
