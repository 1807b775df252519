"""`runwire up`: the gateway, until somebody stops it."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import click
import msgspec
import uvloop

from runwire import wiring
from runwire.cli import printing
from runwire.cli.options import Command, Options, current
from runwire.cli.reaching import NOTE_FILE, TOKEN_FILE, Note, local_url, read_note
from runwire.cli.statuses import DONE
from runwire.config import Config
from runwire.version import VERSION

_ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})


@click.command(
    "up",
    cls=Command,
    epilog="""\b
Examples:
  runwire up                              on 127.0.0.1:7437
  runwire up --port 0 --json              on a free port, which is printed as JSON when it listens
  RUNWIRE_TOKEN=… runwire --data DIR up   with a token of your own, on another data directory""",
)
@click.option("--host", metavar="ADDRESS", help="The address to listen on [RUNWIRE_HOST; default: 127.0.0.1].")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="The port [RUNWIRE_PORT; default: 7437].")
def command(host: str | None, port: int | None) -> int:
    """Start the gateway on the data directory and serve until SIGINT (Ctrl-C) or SIGTERM.

    Either signal ends it in order: streams are told to resume elsewhere, what was accepted is stored, and the exit status
    is 0. A second one does not wait for anyone. Where it listens and the token are said on stderr.
    """
    options = current()
    config = options.config(host=host, port=port)
    note = config.data / NOTE_FILE

    def started(bound: int, token: str) -> None:
        url = local_url(config.host, bound)
        _write_note(note, Note(url=url, pid=os.getpid()))
        _announce(options, config, url, token)

    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(wiring.serve(config, started=started))
    finally:
        _remove_note(config.data)
    return DONE


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


def _remove_note(data: Path) -> None:
    """Take our own note away, and nobody else's."""
    note = read_note(data)
    if note is not None and note.pid == os.getpid():
        with suppress(OSError):
            (data / NOTE_FILE).unlink()
