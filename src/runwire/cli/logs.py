"""Where the envelopes of a command come from: a run, a file, or standard input."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from pathlib import Path

from runwire.cli.options import Options
from runwire.cli.reaching import reached_or_embedded
from runwire.client.naming import run_named
from runwire.errors import NotFound, RunwireError
from runwire.protocol.envelope import MalformedEnvelope, decode_envelope

STANDARD = "-"
_BLOCK_BYTES = 256 * 1024


class FileNotThere(NotFound):
    """There is no such file."""

    code = "file_not_found"
    hint = "check the path; `-` reads standard input"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"cannot read {path}: {problem}", details={"path": path})


class NotALog(RunwireError):
    """What was read is no log."""

    code = "no_log"
    hint = "a log is what `runwire export` writes; `runwire verify` names the first breach of one"

    def __init__(self, problem: Exception) -> None:
        super().__init__(f"this is no log of envelopes: {problem}")


def is_file(source: str) -> bool:
    """Whether a RUN|FILE argument means a file: `-`, anything with a slash, or a name that is there."""
    return source == STANDARD or os.sep in source or Path(source).is_file()


def blocks_of(source: str) -> AsyncGenerator[bytes]:
    """The bytes of a file, or of standard input."""
    return _standard_input() if source == STANDARD else _file(source)


def require_file(source: str) -> None:
    """Refuse a file that cannot be read, before anything is begun with it."""
    if source != STANDARD:
        try:
            with open(source, "rb"):
                return
        except OSError as error:
            raise FileNotThere(source, error.strerror or str(error)) from error


async def lines_of(blocks: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """The lines of some bytes, split at newlines and nowhere else."""
    held: list[bytes] = []
    async for block in blocks:
        first, *rest = block.split(b"\n")
        held.append(first)
        for piece in rest:
            yield b"".join(held)
            held = [piece]
    if last := b"".join(held):
        yield last


async def after_first(lines: AsyncGenerator[bytes]) -> tuple[str | None, AsyncGenerator[bytes]]:
    """Look at the first line: the run that it tells of, if it is an envelope, and all the lines, the first included."""
    first = await anext(lines, b"")
    try:
        run_id = decode_envelope(first).run_id
    except MalformedEnvelope:
        # Whoever reads the lines will say so.
        run_id = None
    return run_id, _again(first, lines)


async def _again(first: bytes, rest: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    async with aclosing(rest):
        if first:
            yield first
        async for line in rest:
            yield line


async def log_of(source: str, options: Options) -> AsyncGenerator[bytes]:
    """The envelopes of a RUN|FILE argument."""
    if is_file(source):
        async for line in lines_of(blocks_of(source)):
            yield line
        return
    async with reached_or_embedded(options) as client:
        async for line in client.export(await run_named(client, source)):
            yield line


async def _file(path: str) -> AsyncGenerator[bytes]:
    try:
        with open(path, "rb") as opened:  # noqa: ASYNC230 - one command has nothing else to do meanwhile
            while block := opened.read(_BLOCK_BYTES):
                yield block
    except OSError as error:
        raise FileNotThere(path, error.strerror or str(error)) from error


async def _standard_input() -> AsyncGenerator[bytes]:
    mode = os.fstat(sys.stdin.fileno()).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or sys.stdin.isatty()):
        # A file, or a device such as /dev/null: it never keeps anybody waiting, and no loop can watch it.
        while block := sys.stdin.buffer.read(_BLOCK_BYTES):
            yield block
        return
    # A pipe may be silent for long; waiting for it must not keep Ctrl-C waiting.
    reader = asyncio.StreamReader(limit=_BLOCK_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    try:
        while block := await reader.read(_BLOCK_BYTES):
            yield block
    finally:
        transport.close()
