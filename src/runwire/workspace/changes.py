"""Before and after of files, as values."""

from dataclasses import dataclass
from hashlib import sha256

ABSENT = "absent"
"""What stands in for the revision of a file that is not there."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A plain file at one moment: its bytes and its permission bits."""

    body: bytes
    mode: int = 0o644

    @property
    def revision(self) -> str:
        """Which bytes these are."""
        return f"sha256:{sha256(self.body).hexdigest()}"


def revision_of(state: FileState | None) -> str:
    """Which bytes stand there, or that none do."""
    return ABSENT if state is None else state.revision


@dataclass(frozen=True, slots=True)
class FileChange:
    """What one path is to be: from `before` to `after`, where None is no file."""

    path: str
    before: FileState | None
    after: FileState | None
