"""Lines in and lines out, by threads: whoever stops reading what we write, or never writes, stops nobody else here."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import suppress

_READ_BYTES = 65_536
_AHEAD = 4
# Past this, whoever has more to tell waits until the other side has read some.
_FULL_BYTES = 1024 * 1024


class TooLong:
    """A line of more bytes than anybody may send; it was passed over."""


async def lines(descriptor: int, most_bytes: int) -> AsyncGenerator[bytes | TooLong]:
    """Every line that comes, until the end."""
    inlet = _Inlet(descriptor)
    # The beginning of a line in pieces, or None within a line that is too long.
    held: list[bytes] | None = []
    while chunk := await inlet.next():
        *whole, rest = chunk.split(b"\n")
        for end in whole:
            yield TooLong() if held is None else b"".join([*held, end])
            held = []
        if held is not None and rest:
            held.append(rest)
            if sum(map(len, held)) > most_bytes:
                held = None
    if held:
        yield b"".join(held)


class _Inlet:
    """A descriptor that is read by a thread, a few pieces ahead of whoever wants them."""

    def __init__(self, descriptor: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._ahead = threading.Semaphore(_AHEAD)
        threading.Thread(target=self._read, args=(descriptor,), name="acp-in", daemon=True).start()

    async def next(self) -> bytes:
        """The next piece; nothing at the end."""
        chunk = await self._chunks.get()
        self._ahead.release()
        return chunk

    def _read(self, descriptor: int) -> None:
        chunk = b"."
        while chunk:
            self._ahead.acquire()
            try:
                chunk = os.read(descriptor, _READ_BYTES)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)
            except RuntimeError:
                # The loop has ended, and with it everybody who would want to know.
                return


class Outbox:
    """Lines on their way out, in the order in which they were put."""

    def __init__(self, descriptor: int) -> None:
        """Write to `descriptor` from now on."""
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: deque[bytes] = deque()
        self._more = threading.Condition()
        self._waiting_bytes = 0
        self._changed = asyncio.Event()
        self.broken = asyncio.Event()
        """Set when nobody can ever read what is put here."""
        threading.Thread(target=self._write, name="acp-out", daemon=True).start()

    def put(self, line: bytes) -> None:
        """Send a line, soon."""
        if self.broken.is_set():
            return
        with self._more:
            self._lines.append(line + b"\n")
            self._waiting_bytes += len(line) + 1
            self._more.notify()

    async def room(self) -> None:
        """Wait until the other side has read most of what was put."""
        await self._below(_FULL_BYTES)

    async def flush(self, within_s: float) -> None:
        """Wait until everything is out, but not for ever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._below(1)

    async def _below(self, limit_bytes: int) -> None:
        while self._waiting_bytes >= limit_bytes and not self.broken.is_set():
            self._changed.clear()
            await self._changed.wait()

    def _write(self) -> None:
        while True:
            with self._more:
                while not self._lines:
                    self._more.wait()
                batch = b"".join(self._lines)
                self._lines.clear()
            try:
                left = memoryview(batch)
                while left:
                    left = left[os.write(self._descriptor, left) :]
                broken = False
            except OSError:
                broken = True
            try:
                self._loop.call_soon_threadsafe(self._written, len(batch), broken)
            except RuntimeError:
                # The loop has ended, and nobody waits for this any more.
                return

    def _written(self, size: int, broken: bool) -> None:
        with self._more:
            self._waiting_bytes -= size
        if broken:
            self.broken.set()
        self._changed.set()
