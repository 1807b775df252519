"""Workspaces of the four modes, made with real git and removed again."""

import os
import subprocess
from pathlib import Path

import pytest

from runwire.workspace.errors import WorkspaceInvalid
from runwire.workspace.making import Maker

ENVIRON = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(*args: str, cwd: Path) -> str:
    done = subprocess.run(["git", *args], cwd=cwd, env=ENVIRON, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def maker() -> Maker:
    return Maker(environ={"PATH": os.environ["PATH"]})


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "sub").mkdir(parents=True)
    git("init", "--quiet", "--initial-branch=main", cwd=folder)
    (folder / "sub" / "file").write_text("committed\n")
    git("add", ".", cwd=folder)
    git("commit", "--quiet", "--message=one", cwd=folder)
    return folder


async def test_in_place_is_the_folder_itself_and_never_removed(maker: Maker, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(".")
    made = await maker.make("in_place", tmp_path / "link", tmp_path / "place")
    assert (made.path, made.place, made.repository) == (tmp_path.resolve(), None, None)
    await maker.remove("in_place", tmp_path, tmp_path)
    assert tmp_path.exists()


async def test_scratch_is_empty_and_private_and_goes(maker: Maker, tmp_path: Path) -> None:
    place = tmp_path / "workspaces" / "run"
    made = await maker.make("scratch", None, place)
    assert (os.listdir(made.path), made.path.stat().st_mode & 0o777) == ([], 0o700)
    (made.path / "locked").mkdir()
    (made.path / "locked" / "file").write_text("x")
    (made.path / "locked").chmod(0o500)
    await maker.remove("scratch", None, place)
    assert not place.exists()


async def test_a_clone_is_apart_from_its_source(maker: Maker, repository: Path, tmp_path: Path) -> None:
    (repository / "uncommitted").write_text("x")
    place = tmp_path / "places" / "run_1"
    made = await maker.make("clone", repository, place)
    assert (made.path / "sub" / "file").read_text() == "committed\n"
    assert not (made.path / "uncommitted").exists()
    shared = [path for path in (made.path / ".git").rglob("*") if path.is_file() and path.stat().st_nlink > 1]
    assert shared == []
    await maker.remove("clone", repository, place)
    assert not place.exists()
    assert git("status", "--porcelain", cwd=repository) == "?? uncommitted"


async def test_a_worktree_has_a_branch_of_its_own(maker: Maker, repository: Path, tmp_path: Path) -> None:
    place = tmp_path / "places" / "run_2"
    made = await maker.make("worktree", repository, place)
    assert git("rev-parse", "--abbrev-ref", "HEAD", cwd=made.path) == "runwire/run_2"
    assert made.repository == repository / ".git"
    await maker.remove("worktree", repository, place)
    assert not place.exists()
    assert git("branch", "--list", "runwire/*", cwd=repository) == ""
    assert len(git("worktree", "list", cwd=repository).splitlines()) == 1


async def test_commits_outlive_their_worktree(maker: Maker, repository: Path, tmp_path: Path) -> None:
    place = tmp_path / "places" / "run_3"
    made = await maker.make("worktree", repository, place)
    git("commit", "--quiet", "--allow-empty", "--message=two", cwd=made.path)
    await maker.remove("worktree", repository, place)
    assert git("log", "-1", "--format=%s", "runwire/run_3", cwd=repository) == "two"


@pytest.mark.parametrize("mode", ["clone", "worktree"])
async def test_a_folder_inside_a_repository_stays_inside(
    maker: Maker, repository: Path, tmp_path: Path, mode: str
) -> None:
    made = await maker.make(mode, repository / "sub", tmp_path / "places" / mode)
    assert made.path == (tmp_path / "places" / mode / "sub").resolve()
    assert (made.path / "file").exists()


async def test_hooks_of_a_repository_are_not_run(maker: Maker, repository: Path, tmp_path: Path) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    for mode in ("clone", "worktree"):
        await maker.make(mode, repository, tmp_path / "places" / mode)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("mode", ["clone", "worktree"])
async def test_what_cannot_be_made_is_told_clearly(maker: Maker, tmp_path: Path, mode: str) -> None:
    plain, empty, place = tmp_path / "plain", tmp_path / "empty", tmp_path / "place"
    plain.mkdir()
    empty.mkdir()
    git("init", "--quiet", cwd=empty)
    with pytest.raises(WorkspaceInvalid, match="no git repository"):
        await maker.make(mode, plain, place)
    with pytest.raises(WorkspaceInvalid, match="no commit yet"):
        await maker.make(mode, empty, place)
    with pytest.raises(WorkspaceInvalid, match="is not there"):
        await maker.make(mode, tmp_path / "missing", place)
    assert not place.exists()
    with pytest.raises(WorkspaceInvalid, match="git, which is not installed"):
        await Maker(environ={"PATH": str(plain)}).make(mode, empty, place)


async def test_paths_that_are_no_workspace_are_refused(maker: Maker, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for source in (None, Path("relative"), tmp_path / "file", Path("/"), tmp_path / "missing"):
        with pytest.raises(WorkspaceInvalid):
            await maker.make("in_place", source, tmp_path / "place")
    with pytest.raises(WorkspaceInvalid, match="modes are"):
        await maker.make("teleport", tmp_path, tmp_path / "place")
    with pytest.raises(WorkspaceInvalid, match="already"):
        await maker.make("scratch", None, tmp_path)


async def test_a_worktree_whose_repository_is_gone_still_goes(maker: Maker, repository: Path, tmp_path: Path) -> None:
    place = tmp_path / "places" / "run_4"
    await maker.make("worktree", repository, place)
    repository.rename(tmp_path / "elsewhere")
    await maker.remove("worktree", repository, place)
    assert not place.exists()
