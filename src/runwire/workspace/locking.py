"""One writer per workspace, across processes: a lock that the kernel lets go when its holder dies."""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

from runwire.workspace.errors import WorkspaceBusy

_LOOK_AGAIN_S = 0.01
_LOOK_AT_MOST_S = 0.25


class Locks:
    """The locks of a data directory: a file for each workspace, however its path is spelled."""

    def __init__(self, folder: Path) -> None:
        """Keep the files in this folder."""
        self._folder = folder

    @contextlib.asynccontextmanager
    async def hold(self, workspace: Path, *, patience_s: float = 30.0) -> AsyncIterator[None]:
        """Hold a workspace for writing; WorkspaceBusy when somebody else holds it all the while."""
        async with self._opened(workspace) as descriptor:
            if not await _takes(descriptor, patience_s):
                raise WorkspaceBusy(str(workspace))
            yield

    @contextlib.asynccontextmanager
    async def try_hold(self, workspace: Path) -> AsyncIterator[bool]:
        """Hold a workspace if nobody else does, and say whether we do."""
        async with self._opened(workspace) as descriptor:
            yield await _takes(descriptor, 0)

    @contextlib.asynccontextmanager
    async def _opened(self, workspace: Path) -> AsyncIterator[int]:
        # The file stays: were it removed, two could hold locks on two files of one name.
        descriptor = os.open(self._file_of(workspace), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            yield descriptor
        finally:
            # Closing lets go. No child has a copy of the descriptor, which would hold on.
            os.close(descriptor)

    def _file_of(self, workspace: Path) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder / sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:32]


async def _takes(descriptor: int, patience_s: float) -> bool:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_s
    pause_s = _LOOK_AGAIN_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if loop.time() >= deadline:
                return False
        else:
            return True
        # The kernel has no way to wake a loop for this, and a thread that waits could not be called off.
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, _LOOK_AT_MOST_S)
