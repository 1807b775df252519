"""Patterns of `.gitignore`, judged by real git."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runwire.workspace.ignoring import Patterns
from tests.workspace.git import git

PARTS = st.sampled_from(
    ["a", "b", "ab", "a.b", "*", "**", "***", "?", "[ab]", "[!a]", "[a-c]", "x*", "*x", "\\*", "a**", "é"]
)
PATTERNS = st.one_of(
    st.builds(
        lambda sign, lead, parts, tail: sign + lead + "/".join(parts) + tail,
        st.sampled_from(["", "", "", "!"]),
        st.sampled_from(["", "", "/", "**/"]),
        st.lists(st.builds(str.__add__, PARTS, st.sampled_from(["", "", "a", "b*"])), min_size=1, max_size=3),
        st.sampled_from(["", "", "/", " ", "\\ ", "/**", "\r"]),
    ),
    st.text(alphabet="ab*?[]!^-\\/ #:x.", max_size=10),
)
NAMES = st.sampled_from(["a", "b", "ab", "abc", "xa", "x", "a.b", "*", "é", "a ", "c-d", "[ab]", "#", "ax", "bb"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q")
    return folder


def judged(folder: Path, patterns: str, paths: list[str]) -> Mapping[str, bool | None]:
    """What git says of each path: ignored, called back, or nothing at all."""
    (folder / ".gitignore").write_bytes(patterns.encode())
    asked = b"".join(path.encode() + b"\0" for path in paths)
    command = ["git", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"]
    environ = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(command, cwd=folder, input=asked, capture_output=True, check=False, env=environ)
    assert done.returncode in {0, 1}, done.stderr
    words = done.stdout.split(b"\0")
    rows = [words[at : at + 4] for at in range(0, len(words) - 3, 4)]
    return {row[3].decode(): None if not row[2] else not row[2].startswith(b"!") for row in rows}


def ours(patterns: str, path: str) -> bool | None:
    """The same by us: a folder that is ignored takes all in it along, as a walk would have it."""
    read = Patterns.read(patterns.encode())
    parts = path.encode().split(b"/")
    for depth in range(1, len(parts)):
        if read.verdict(b"/".join(parts[:depth]), is_folder=True):
            return True
    return read.verdict(b"/".join(parts), is_folder=False)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PATTERNS, min_size=1, max_size=5), st.lists(PATHS, min_size=1, max_size=12, unique=True))
def test_we_and_git_ignore_the_same(repository: Path, lines: list[str], paths: list[str]) -> None:
    patterns = "\n".join(lines)
    asked = [path for path in paths if not any(other != path and other.startswith(path + "/") for other in paths)]
    said = judged(repository, patterns, asked)
    # Git tells of a path that nothing on disk stands at as of a file.
    assert {path: bool(ours(patterns, path)) for path in asked} == {path: bool(said[path]) for path in asked}


@pytest.mark.parametrize(
    ("patterns", "path", "ignored"),
    [
        ("# a comment\n\n", "# a comment", None),
        ("\\#kept", "#kept", True),
        ("\\!kept", "!kept", True),
        ("\ufeffbom", "bom", True),
        ("windows\r\n*.log\r\n", "a/b.log", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("[[:digit:]]x", "5x", True),
        ("[[:nonsense:]]x", "5x", None),
        ("[a", "[a", None),
        ("a\\", "a\\", None),
        ("/", "a", None),
        ("!", "a", None),
        ("doc/*.txt", "doc/sub/a.txt", None),
        ("doc/**/a.txt", "doc/a.txt", True),
        ("?", "é", None),
        ("??", "é", True),
    ],
)
def test_the_odd_ones(patterns: str, path: str, ignored: bool | None) -> None:
    assert Patterns.read(patterns.encode()).verdict(path.encode(), is_folder=False) is ignored


@pytest.mark.parametrize(
    "pattern", ["*a" * 60 + "*b", "/" + "*a" * 60 + "*b/c", "x/" + "**/" * 60 + "b", "[a-z]*" * 60]
)
def test_a_hostile_pattern_takes_no_longer_than_a_plain_one(pattern: str) -> None:
    patterns = Patterns.read(pattern.encode())
    begun = time.perf_counter()
    for path in (b"a" * 250, b"x/" + b"a/" * 120 + b"a", b"a" * 200 + b"/" + b"c" * 40):
        patterns.verdict(path, is_folder=False)
    assert time.perf_counter() - begun < 0.5
