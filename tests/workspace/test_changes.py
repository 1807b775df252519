"""Before and after of files, as values."""

from runwire.workspace.changes import ABSENT, FileState, revision_of


def test_a_revision_names_the_bytes_and_not_the_mode() -> None:
    assert FileState(b"a", 0o644).revision == FileState(b"a", 0o755).revision
    assert FileState(b"").revision == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert revision_of(None) == ABSENT
