"""Artifact bodies, named by what they hold. Small ones lie in a row, large ones in a file; neither ever changes.

A file is written before the transaction that names it, so a crash in between leaves a file without a row and never a row
without a file. `collecting` removes what no artifact names.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from hashlib import sha256
from io import FileIO
from os import pread
from pathlib import Path
from types import TracebackType
from typing import Self
from zlib import crc32

import apsw

from runwire.errors import InvalidRange, StoreCorrupt
from runwire.journal.disk import answering, make_folder, set_aside, sync_path

INLINE_MAX = 16 * 1024
BLOCK_BYTES = 256 * 1024
INCOMING = "incoming"
"""The folder of files that have no name yet."""

_NEVER_WRITTEN_AGAIN = 0o400


@dataclass(frozen=True, slots=True)
class Placed:
    """A body that is safe on disk, or small enough for a row. `Bodies.keep` gives it the row."""

    digest: bytes
    content: bytes

    @property
    def inline(self) -> bool:
        """Whether the row holds the body itself."""
        return len(self.content) <= INLINE_MAX


class Body:
    """One body, open for reading. Every byte that it gives has been checked.

    The whole body is hashed when it is opened, before anything of it is given away. A checksum of each block is kept from
    that pass and compared when the block is read again, so a file that is damaged in between is not served either.
    """

    def __init__(self, *, digest: bytes, size: int, content: bytes, file: FileIO | None, blocks: list[int]) -> None:
        """Made by `Bodies.open`, which has checked it."""
        self.digest = digest
        self.size = size
        self._content = content
        self._file = file
        self._blocks = blocks

    async def __aenter__(self) -> Self:
        """It is open already."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of the file. Until then no pruning takes the body away from this reader."""
        if self._file is not None:
            self._file.close()

    async def chunks(self, start: int = 0, stop: int | None = None) -> AsyncGenerator[bytes]:
        """The bytes from `start` up to, not including, `stop`: a block at a time, never the whole of a large body."""
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise InvalidRange(self.size)
        if self._file is None:
            if start < stop:
                yield self._content[start:stop]
            return
        while start < stop:
            number = start // BLOCK_BYTES
            offset = number * BLOCK_BYTES
            block = await asyncio.to_thread(self._block, self._file, number)
            yield block[start - offset : stop - offset]
            start = offset + BLOCK_BYTES

    async def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """The same bytes at once."""
        return b"".join([chunk async for chunk in self.chunks(start, stop)])

    def _block(self, file: FileIO, number: int) -> bytes:
        block = _read_block(file, number)
        if crc32(block) != self._blocks[number]:
            raise damaged(self.digest)
        return block


class Bodies:
    """The bodies of one data directory. Its methods block: they are for threads and for transactions."""

    def __init__(self, *, folder: Path) -> None:
        """Keep the files of large bodies below `folder`, which is made when it is needed."""
        self.folder = folder

    def path(self, digest: bytes) -> Path:
        """Where the file of a body lies."""
        name = digest.hex()
        return self.folder / name[:2] / name

    def place(self, content: bytes) -> Placed:
        """Make a body durable, before the transaction that names it. A damaged file of the same name is mended."""
        placed = Placed(sha256(content).digest(), content)
        if not placed.inline and not self._is_whole(placed):
            self._write(placed)
        return placed

    def keep(self, db: apsw.Connection, placed: Placed) -> None:
        """Name the body in a row, inside the caller's transaction."""
        if db.execute("SELECT 1 FROM bodies WHERE digest = ?", (placed.digest,)).fetchone() is not None:
            return
        # It may have been collected since it was placed. It cannot be now: collecting, too, needs the write lock.
        if not placed.inline and not self.path(placed.digest).exists():
            self._write(placed)
        db.execute(
            "INSERT INTO bodies (digest, size, inline) VALUES (?, ?, ?)",
            (placed.digest, len(placed.content), placed.content if placed.inline else None),
        )

    def open(self, digest: bytes, size: int, inline: bytes | None) -> Body:
        """Check a body and open it. Damage is a StoreCorrupt, a file that is gone a FileNotFoundError."""
        if inline is not None:
            if len(inline) != size or sha256(inline).digest() != digest:
                raise damaged(digest)
            return Body(digest=digest, size=size, content=inline, file=None, blocks=[])
        file = FileIO(self.path(digest))
        try:
            blocks = _checked(file, digest, size)
        except BaseException:
            file.close()
            raise
        return Body(digest=digest, size=size, content=b"", file=file, blocks=blocks)

    def _is_whole(self, placed: Placed) -> bool:
        try:
            self.open(placed.digest, len(placed.content), None).close()
        except (FileNotFoundError, StoreCorrupt):
            return False
        return True

    def _write(self, placed: Placed) -> None:
        path = self.path(placed.digest)
        incoming = self.folder / INCOMING
        with answering():
            make_folder(incoming)
            make_folder(path.parent)
            with set_aside(placed.content, folder=incoming, mode=_NEVER_WRITTEN_AGAIN) as file:
                file.rename(path)
            sync_path(path.parent)


def damaged(digest: bytes) -> StoreCorrupt:
    """The error of a body that is not what its name says."""
    return StoreCorrupt(f"the artifact body {digest.hex()} is not what was written")


def _checked(file: FileIO, digest: bytes, size: int) -> list[int]:
    """The checksum of every block, once all of them together have the right hash."""
    whole = sha256()
    blocks: list[int] = []
    length = 0
    while block := _read_block(file, len(blocks)):
        whole.update(block)
        blocks.append(crc32(block))
        length += len(block)
    if length != size or whole.digest() != digest:
        raise damaged(digest)
    return blocks


def _read_block(file: FileIO, number: int) -> bytes:
    with answering():
        return pread(file.fileno(), BLOCK_BYTES, number * BLOCK_BYTES)
