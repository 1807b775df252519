"""Data on stdout. Whether anybody still reads it is part of the job."""

import asyncio
import os
import shutil
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec

_ENCODER = msgspec.json.Encoder()
_NARROWEST = 20


def write(line: bytes) -> None:
    """Write one line; it may stay in the buffer until `flush`."""
    sys.stdout.buffer.write(line + b"\n")


def write_text(line: str) -> None:
    """Write one line of text; what cannot be encoded (a lone surrogate) is shown as a question mark."""
    write(line.encode("utf-8", "replace"))


def write_json(value: object) -> None:
    """Write one value as one line of compact JSON."""
    write(_ENCODER.encode(value))


def flush() -> None:
    """See that everything written has left this process."""
    sys.stdout.buffer.flush()


def coloured(*, no_color: bool) -> bool:
    """Whether stdout is a terminal that wants colour."""
    return not no_color and not os.environ.get("NO_COLOR") and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def drawable(*, no_color: bool) -> bool:
    """Whether stdout is a terminal that can be drawn on: one with colours that takes every character."""
    return coloured(no_color=no_color) and (sys.stdout.encoding or "").replace("-", "").lower() == "utf8"


def width() -> int | None:
    """How many characters fit on a line: as COLUMNS says or the terminal is; None where nobody looks at lines."""
    if not os.environ.get("COLUMNS") and not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns, _NARROWEST)


@asynccontextmanager
async def while_read() -> AsyncGenerator[None]:
    """Run the body until it ends or the reader of our pipe goes away, which raises BrokenPipeError at once.

    Without it, `watch | head -1` would hang until the next event fails to be written.
    """
    descriptor = sys.stdout.fileno()
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        yield
        return
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    gone = False

    def leave() -> None:
        nonlocal gone
        gone = True
        loop.remove_reader(descriptor)
        if task is not None:
            task.cancel()

    # The writing end of a pipe becomes "readable" only when its last reader has closed.
    loop.add_reader(descriptor, leave)
    try:
        yield
    except asyncio.CancelledError:
        if gone:
            if task is not None:
                task.uncancel()
            raise BrokenPipeError from None
        raise
    finally:
        loop.remove_reader(descriptor)
