"""A folder is known by where it really is."""

from pathlib import Path

from runwire.workspace.placing import real_path


def test_a_folder_behind_links_is_told_by_its_own_path(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    (real / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    assert real_path(tmp_path / "link" / "inner") == real / "inner"
    assert real_path(real / "inner" / "..") == real
    assert real_path(real) == real


def test_what_cannot_be_opened_is_told_by_where_its_name_leads(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    real.mkdir()
    (real / "file").touch()
    (tmp_path / "link").symlink_to(real)
    assert real_path(tmp_path / "link" / "none") == real / "none"
    assert real_path(tmp_path / "link" / "file") == real / "file"
