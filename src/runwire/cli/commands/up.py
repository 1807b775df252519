"""`runwire up`: the gateway, until somebody stops it."""

import asyncio
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import click
import msgspec
import uvloop

from runwire.cli import printing
from runwire.cli.note import NOTE_FILE, TOKEN_FILE, Note, local_url, read_note
from runwire.cli.options import Command, Options, current
from runwire.cli.statuses import DONE
from runwire.config import Config
from runwire.errors import ConfigInvalid
from runwire.version import VERSION
from runwire.wiring import serving

_ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})


@click.command(
    "up",
    cls=Command,
    epilog="""\b
Examples:
  runwire up                              on 127.0.0.1:7437
  runwire up --demo                       with something to look at
  runwire up --port 0 --json              on a free port, which is printed as JSON when it listens
  RUNWIRE_TOKEN=… runwire --data DIR up   with a token of your own, on another data directory""",
)
@click.option("--host", metavar="ADDRESS", help="The address to listen on [RUNWIRE_HOST; default: 127.0.0.1].")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="The port [RUNWIRE_PORT; default: 7437].")
@click.option(
    "--workers", type=click.IntRange(0, 256), metavar="N", help="Runs at a time [RUNWIRE_WORKERS; default: 4]; 0: none."
)
@click.option("--demo", is_flag=True, help="Start a demonstration, which needs no model, unless there is one.")
def command(host: str | None, port: int | None, workers: int | None, demo: bool) -> int:
    """Start the gateway and its workers on the data directory and serve until SIGINT (Ctrl-C) or SIGTERM.

    Either signal ends it in order: streams are told to resume elsewhere, what was accepted is stored, and the exit status
    is 0. A second one does not wait for anyone. Where it listens and the token are said on stderr.
    """
    options = current()
    config = options.config(host=host, port=port, workers=workers)
    ours: list[Note] = []

    def started(bound: int, token: str) -> None:
        note = Note(url=local_url(config.host, bound), pid=os.getpid())
        ours.append(note)
        _write_note(config.data / NOTE_FILE, note)
        _announce(options, config, note.url, token)

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serving.serve(config, started=started, demo=demo))
    except ConfigInvalid as error:
        error.hint = _way_out(error)
        raise
    finally:
        _remove_notes(config.data, ours)
    return DONE


def _way_out(error: ConfigInvalid) -> str:
    """What to do when there is no listening where we were told to."""
    cause = error.__cause__
    if error.details.get("key") != "port" or not isinstance(cause, OSError):
        return error.hint
    if cause.errno == errno.EADDRINUSE:
        return "choose another with --port, or stop what listens there"
    return "choose another with --host or --port"


def _announce(options: Options, config: Config, url: str, token: str) -> None:
    elsewhere = " (and on every other address of this machine)" if config.host in _ALL_ADDRESSES else ""
    lines = [
        f"runwire {VERSION} listens on {url}{elsewhere}",
        f"data:   {config.data}",
        f"token:  {config.data / TOKEN_FILE}",
        f"open:   {url}/#token={token}",
    ]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
    if options.json:
        printing.write_json({"url": url, "pid": os.getpid()})
        printing.flush()


def _write_note(path: Path, note: Note) -> None:
    """Say where we are, all at once: whoever reads it sees the whole note or none. Without one, commands still ask the
    usual place, so a directory that cannot be written is no reason to stop."""
    with suppress(OSError):
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            file.write(msgspec.json.encode(note))
        os.replace(file.name, path)


def _remove_notes(data: Path, ours: Sequence[Note]) -> None:
    """Take our own note away, and nobody else's: not even that of a process with our number on another machine."""
    if read_note(data) in ours:
        with suppress(OSError):
            (data / NOTE_FILE).unlink()
