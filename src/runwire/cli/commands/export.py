"""`runwire export`: a run as a file."""

import asyncio
import os
import sys
from collections.abc import Callable, Generator
from contextlib import aclosing, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from runwire.cli import printing
from runwire.cli.busy import busy
from runwire.cli.completing import RunId
from runwire.cli.logs import STANDARD
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import reached_or_embedded
from runwire.cli.statuses import DONE
from runwire.client.naming import run_named
from runwire.client.render.text import many
from runwire.errors import RunwireError


@click.command(
    "export",
    cls=Command,
    epilog="""\b
Examples:
  runwire export RUN run.jsonl          into a file, which appears when it is whole; -o run.jsonl does the same
  runwire export RUN - | gzip > r.gz    to standard output, as without FILE""",
)
@click.argument("run", type=RunId())
@click.argument("file", required=False)
@click.option("--output", "-o", metavar="FILE", help="Where to; `-` is standard output.")
def command(run: str, file: str | None, output: str | None) -> int:
    """Write the log of RUN as it is stored to FILE (`-` is standard output), one envelope a line, byte for byte.

    Works with or without a running gateway. A file appears under its name only once it is complete.
    """
    if file is not None and output is not None:
        raise click.UsageError("name the file once: as FILE or with --output")
    return asyncio.run(_export(current(), run, file or output or STANDARD))


class NotWritten(RunwireError):
    """The file cannot be written."""

    code = "not_written"
    hint = "name a file in a folder that is there and may be written to; `-` is standard output"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"cannot write {path}: {problem}")


async def _export(options: Options, run: str, output: str) -> int:
    async with reached_or_embedded(options) as client:
        run_id = await run_named(client, run)
        async with aclosing(client.export(run_id)) as lines:
            count = 0
            # On a terminal the lines themselves show how far it is.
            aside = output != STANDARD or not sys.stdout.isatty()
            with busy("writing the log", lambda: many(count, "event"), aside=aside), _opened(output) as write:
                async for line in lines:
                    write(line)
                    count += 1
    return DONE


@contextmanager
def _opened(output: str) -> Generator[Callable[[bytes], object]]:
    if output == STANDARD:
        yield printing.write
        return
    try:
        with _put_in_place(Path(output)) as write:
            yield write
    except OSError as error:
        raise NotWritten(output, error.strerror or str(error)) from error


@contextmanager
def _put_in_place(path: Path) -> Generator[Callable[[bytes], object]]:
    """Write beside the file and give it its name in the end, so that nobody takes half a log for a whole one."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield lambda line: file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
            # Like any file that a program writes, not private as temporary files are.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(file.name, 0o666 & ~umask)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
