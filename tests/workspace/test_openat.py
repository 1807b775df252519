"""Opening beneath a folder: both ways refuse the same things."""

import errno
import os
from pathlib import Path

import pytest

from runwire.workspace.openat import OpenBeneath, opener, walk


@pytest.fixture(params=["kernel", "walk"])
def opens(request: pytest.FixtureRequest) -> OpenBeneath:
    return opener() if request.param == "kernel" else walk


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("link", errno.ELOOP),
        ("folder-link/file", errno.ELOOP),
        ("missing", errno.ENOENT),
        ("file/below", errno.ENOTDIR),
    ],
)
def test_a_link_and_a_hole_are_told_apart(opens: OpenBeneath, tmp_path: Path, path: str, problem: int) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "folder-link").symlink_to("folder")
    at = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match=os.strerror(problem)) as caught:
            opens(at, path, os.O_RDONLY, 0)
    finally:
        os.close(at)
    assert caught.value.errno == problem


def test_no_descriptor_is_left_open_or_inherited(opens: OpenBeneath, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x")
    at = os.open(tmp_path, os.O_RDONLY)
    before = set(os.listdir("/dev/fd"))
    found = opens(at, "a/b/file", os.O_RDONLY, 0)
    assert not os.get_inheritable(found)
    os.close(found)
    assert set(os.listdir("/dev/fd")) == before
    os.close(at)


def test_the_walk_stops_at_a_step_out(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match=r".") as caught:
            opener()(at, "../x", os.O_RDONLY, 0)
    finally:
        os.close(at)
    assert caught.value.errno in {errno.EXDEV, errno.ENOENT}
