"""The file that holds the data directory's own admin token: readable by its owner alone, made once, never overwritten."""

import os
import stat
from pathlib import Path
from secrets import token_urlsafe

from runwire.errors import ConfigInvalid
from runwire.journal.disk import PRIVATE_FILE, answering, make_folder, set_aside, sync_path

PREFIX = "rw_"
_RANDOM_BYTES = 32
_LEAST = 16
_MOST = 4096


def new_secret() -> str:
    """A secret that nobody can guess, recognisable as ours wherever it turns up."""
    return PREFIX + token_urlsafe(_RANDOM_BYTES)


class TokenFile:
    """One secret in one file."""

    def __init__(self, path: Path) -> None:
        """The file need not be there yet."""
        self.path = path

    def ensure(self) -> tuple[str, bool]:
        """The secret in the file, and whether it was made just now. Of several processes that start at once, one makes it."""
        with answering():
            make_folder(self.path.parent)
        while True:
            found = self.read()
            if found is not None:
                return found, False
            made = new_secret()
            if self._make(made):
                return made, True

    def discard(self) -> None:
        """Remove the file, whose secret is good for nothing any more."""
        with answering():
            self.path.unlink(missing_ok=True)

    def read(self) -> str | None:
        """The secret in the file, or None when there is no file. One that others could read is closed to them first."""
        try:
            # A link could lead to a file that somebody else controls; a pipe would never end.
            file = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._refused(f"cannot be read ({error.strerror})") from error
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise self._refused("is not a regular file")
            if status.st_mode & 0o077:
                self._close_to_others(file)
            content = os.read(file, _MOST)
        finally:
            os.close(file)
        return self._secret_in(content)

    def _secret_in(self, content: bytes) -> str:
        secret = content.decode("ascii", "replace").strip()
        if len(secret) < _LEAST or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise self._refused(f"does not hold a token of at least {_LEAST} printable characters")
        return secret

    def _close_to_others(self, file: int) -> None:
        try:
            os.fchmod(file, PRIVATE_FILE)
        except OSError as error:
            raise self._refused(f"can be read by others, and that cannot be changed ({error.strerror})") from error

    def _make(self, secret: str) -> bool:
        folder = self.path.parent
        with answering(), set_aside(f"{secret}\n".encode(), folder=folder, mode=PRIVATE_FILE) as file:
            try:
                # Unlike a rename, a link never replaces what is there.
                os.link(file, self.path)
            except FileExistsError:
                return False
            sync_path(folder)
        return True

    def _refused(self, problem: str) -> ConfigInvalid:
        return ConfigInvalid(str(self.path), f"{problem}; remove it and the next start makes a new one")
