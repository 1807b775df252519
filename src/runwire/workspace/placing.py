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


def folds_case(real: Path) -> bool:
    """Whether names in other letters are the same name, where this folder lies."""
    other = real.with_name(real.name.swapcase()) if real.name else real
    if other.name == real.name:
        return False
    try:
        return os.path.samestat(os.lstat(other), os.lstat(real))
    except OSError:
        return False
