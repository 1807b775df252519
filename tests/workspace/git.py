"""Real git, to judge what we write in its format."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from runwire.workspace.changes import FileState

_QUIET = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(folder: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run git in a folder and give back what it prints."""
    done = subprocess.run(["git", *arguments], cwd=folder, env=_QUIET, input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def write_tree(folder: Path, files: Mapping[str, FileState | None]) -> None:
    """Put files into a folder."""
    for path, state in files.items():
        if state is None:
            continue
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(state.body)
        target.chmod(state.mode)


def read_tree(folder: Path) -> dict[str, FileState]:
    """Every file in a folder, but for git's own."""
    return {
        path.relative_to(folder).as_posix(): FileState(path.read_bytes(), path.stat().st_mode & 0o777)
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def checkout(folder: Path, files: Mapping[str, FileState | None]) -> None:
    """A repository with these files committed."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    write_tree(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
