"""The file with the data directory's own token."""

import os
from pathlib import Path

import pytest

from runwire.errors import ConfigInvalid
from runwire.journal.token_file import TokenFile, new_secret
from tests.spec import spec


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "data" / "token")


def test_it_is_made_once(file: TokenFile) -> None:
    secret, made = file.ensure()
    assert made
    assert file.ensure() == (secret, False)
    assert file.read() == secret
    assert [path.name for path in file.path.parent.iterdir()] == ["token"]


@spec("ACC-5")
def test_it_is_private_from_its_first_moment_whatever_the_umask(file: TokenFile) -> None:
    before = os.umask(0)
    try:
        file.ensure()
    finally:
        os.umask(before)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


@spec("ACC-5")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o666, 0o604])
def test_one_that_others_can_read_is_closed_to_them(file: TokenFile, mode: int) -> None:
    secret, _ = file.ensure()
    file.path.chmod(mode)
    assert file.read() == secret
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_it_is_never_overwritten(file: TokenFile) -> None:
    file.path.parent.mkdir()
    theirs = new_secret()
    file.path.write_text(f"  {theirs}  \n")
    assert file.ensure() == (theirs, False)


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"two words of a token", b"\xff" * 40, b"rw_" + b"\0" * 40])
def test_one_that_holds_no_token_is_refused_and_kept(file: TokenFile, content: bytes) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(content)
    with pytest.raises(ConfigInvalid, match="does not hold a token"):
        file.ensure()
    assert file.path.read_bytes() == content


def test_what_is_not_a_plain_file_is_refused(file: TokenFile, tmp_path: Path) -> None:
    file.path.parent.mkdir()
    (tmp_path / "elsewhere").write_text(new_secret())
    file.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        file.ensure()
    file.path.unlink()
    file.path.mkdir()
    with pytest.raises(ConfigInvalid, match="not a regular file"):
        file.ensure()
    file.path.rmdir()
    os.mkfifo(file.path)
    with pytest.raises(ConfigInvalid, match="not a regular file"):
        file.ensure()
