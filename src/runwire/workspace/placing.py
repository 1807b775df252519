"""Where a folder really is, and how names are told apart there."""

import os
from pathlib import Path


def path_of(folder: int, path: Path | str) -> str:
    """Where an open folder really is. Linux says so at once; elsewhere every part of the way is looked at."""
    try:
        real = os.readlink(f"/proc/self/fd/{folder}")
        if os.path.samestat(os.lstat(real), os.fstat(folder)):
            return real
    except OSError:
        pass
    return os.path.realpath(path)


def real_path(path: Path) -> Path:
    """Where a folder really is, without a link on the way. One that cannot be opened is where its name leads."""
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return Path(os.path.realpath(path))
    try:
        real = path_of(folder, path)
    finally:
        os.close(folder)
    return path if real == str(path) else Path(real)


def folds_case(real: Path) -> bool:
    """Whether names in other letters are the same name, where this folder lies."""
    other = real.with_name(real.name.swapcase()) if real.name else real
    if other.name == real.name:
        return False
    try:
        return os.path.samestat(os.lstat(other), os.lstat(real))
    except OSError:
        return False
