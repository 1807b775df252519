"""Ground in the WAL, laid before it is needed: a disk syncs a file that it overwrites in half the time of one that grows.

What is laid is zeros, which SQLite takes for the end of the WAL, as it does with what an earlier round has left there.
"""

import os
from contextlib import suppress

import apsw

from runwire.journal.store.database import BACKSTOP_PAGES, FRAME_BYTES

_STEP_BYTES = 256 * 1024
_STEP = bytes(_STEP_BYTES)
# What a commit changes beside its own row: the table's edge, the end of the feed, the file's head and its maps, some runs.
_OTHER_BYTES = 8 * FRAME_BYTES


class Ground:
    """Lays ground ahead of one writing connection."""

    def __init__(self, db: apsw.Connection) -> None:
        """Follow where the WAL of `db` ends, which the connection tells after each of its commits."""
        self._wal = db.filename_wal
        self.used = 0
        """Up to where the WAL holds commits, as of the last one of this connection, in bytes."""
        self._end = 0
        db.set_wal_hook(self._grown)

    def lay(self, size: int) -> None:
        """See that a commit of `size` bytes finds ground. Call it inside a write transaction: nobody else writes there then.

        A large commit is left to grow the file by itself: its bytes take longer than the growing does.
        """
        needed = size + _OTHER_BYTES
        if needed > _STEP_BYTES or self.used + needed <= self._end:
            return
        # Without room on the disk the commit itself will say so.
        with suppress(OSError):
            # The file is asked for its size as seldom as can be: where its times have been read, some file systems write
            # them anew with the next commit, which takes as long as half of a sync.
            self._end = os.stat(self._wal).st_size
            if self._end < self.used:
                # It has been cut, and begins anew.
                self.used = 0
            if self._end < self.used + needed:
                with open(self._wal, "r+b", buffering=0) as wal:
                    wal.seek(self._end)
                    self._end += wal.write(_STEP)

    def _grown(self, db: apsw.Connection, _: str, pages: int) -> int:
        used = pages * FRAME_BYTES
        if used < self.used:
            # Another round, perhaps of a file that has been cut meanwhile.
            self._end = 0
        self.used = used
        if pages >= BACKSTOP_PAGES:
            # One who follows the WAL takes over what SQLite would do by itself here, and like it goes on without.
            with suppress(apsw.Error):
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        return apsw.SQLITE_OK
