"""What `doctor` looks at. Each check looks, changes nothing, and says what to do."""

import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Literal

import msgspec

from runwire.cli.note import NOTE_FILE, TOKEN_FILE, read_note
from runwire.cli.reaching import DATABASE_FILE, address_of, token_for
from runwire.client.client import Client
from runwire.config import Config
from runwire.errors import GatewayError, GatewayUnreachable, RunwireError

_PYTHON = (3, 11)
_COMPILED = ("ahocorasick_rs", "apsw", "httptools", "lz4", "msgspec", "uvloop")
_ROOM_LEAST = 100 * 1024**2
_ROOM_COMFORTABLE = 1024**3
# No release is older than this, so a clock that shows less is wrong.
_EARLIEST_S = 1_735_689_600
_AHEAD_S = 300
_SQLITE = (3, 38)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found."""

    level: Literal["ok", "warn", "fail"]
    what: str
    to_do: str = ""


def ok(what: str) -> Finding:
    """All is well."""
    return Finding(level="ok", what=what)


def warn(what: str, to_do: str) -> Finding:
    """It works, but look at it."""
    return Finding(level="warn", what=what, to_do=to_do)


def fail(what: str, to_do: str) -> Finding:
    """It does not work."""
    return Finding(level="fail", what=what, to_do=to_do)


def check_python() -> Iterator[Finding]:
    """The interpreter and the compiled packages."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= _PYTHON:
        yield ok(f"Python {version}")
    else:
        yield fail(f"Python {version}", f"use {'.'.join(map(str, _PYTHON))} or later")
    for name in _COMPILED:
        try:
            import_module(name)
        except ImportError as error:
            yield fail(f"the package {name} cannot be loaded: {error}", "install runwire anew on this machine")


def check_sqlite(config: Config) -> Iterator[Finding]:
    """The library and, if there is one, the database's settings."""
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split(".")[:2])) >= _SQLITE:
        yield ok(f"SQLite {version}")
    else:
        yield fail(f"SQLite {version}", f"use {'.'.join(map(str, _SQLITE))} or later: install runwire anew")
    path = config.data / DATABASE_FILE
    if not path.exists():
        yield ok("no database yet: the first start makes it")
        return
    try:
        db = apsw.Connection(f"file:{path}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            (mode,), (layout,) = next(db.execute("PRAGMA journal_mode")), next(db.execute("PRAGMA user_version"))
        finally:
            db.close()
    except apsw.Error as error:
        yield fail(f"{path} cannot be read: {error}", "check its rights and the disk, or restore the latest backup")
        return
    if mode == "wal":
        yield ok(f"database of layout {layout}, write-ahead log, {_shown(path.stat().st_size)}")
    else:
        yield fail(f"the database's journal mode is {mode}, not wal", "start the gateway once: it sets the mode")


def check_data(config: Config) -> Iterator[Finding]:
    """The data directory: there, ours, private, and with room left."""
    data = config.data
    there = next(path for path in (data, *data.parents) if path.exists())
    if not there.is_dir():
        yield fail(f"{there} is not a directory", "name another data directory with --data or RUNWIRE_DATA")
        return
    if not os.access(there, os.W_OK | os.X_OK):
        yield fail(f"{there} cannot be written", f"give yourself the right: chmod u+rwx {there}")
    elif there != data:
        yield ok(f"data directory {data} is not there yet: the first start makes it")
    elif data.stat().st_mode & 0o077:
        yield warn(f"others may look into {data}", f"chmod 700 {data}")
    else:
        yield ok(f"data directory {data}")
    room = shutil.disk_usage(there).free
    if room < _ROOM_LEAST:
        yield fail(f"{_shown(room)} left on the disk", "free some, or `runwire prune`")
    elif room < _ROOM_COMFORTABLE:
        yield warn(f"{_shown(room)} left on the disk", "free some, or `runwire prune`")
    else:
        yield ok(f"{_shown(room)} left on the disk")


def check_token(config: Config) -> Iterator[Finding]:
    """The token file is for its owner's eyes only."""
    path = config.data / TOKEN_FILE
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        yield ok("no token file yet: the first start makes it")
        return
    except OSError as error:
        yield fail(f"{path} cannot be looked at: {error.strerror}", f"check the rights of {path.parent}")
        return
    if not stat.S_ISREG(mode):
        yield fail(f"{path} is not a regular file", "remove it; the next start makes a new one")
    elif mode & 0o077:
        yield fail(f"others may read {path}", f"chmod 600 {path}")
    else:
        yield ok(f"token file {path}, mode 0600")


def check_clock(config: Config) -> Iterator[Finding]:
    """The clock stamps every event, so it should not be far off."""
    now_s = time.time()
    newest_s = max((_changed_s(path) for path in (config.data / DATABASE_FILE, config.data / NOTE_FILE)), default=0.0)
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_s))
    if now_s < _EARLIEST_S:
        yield fail(f"the clock says {shown}", "set the clock")
    elif newest_s > now_s + _AHEAD_S:
        yield warn(f"the clock says {shown}, and the store was written later than that", "set the clock")
    else:
        yield ok(f"clock {shown}")


async def check_gateway(config: Config) -> list[Finding]:
    """A gateway answers, and takes our token."""
    found: list[Finding] = []
    if (config.data / NOTE_FILE).exists() and read_note(config.data) is None:
        found.append(warn("the last gateway did not end in order", "nothing to do; the next start tidies up"))
    url = address_of(config)
    try:
        token = token_for(config)
        async with Client(url, token) as client:
            health = await client.health()
            found.append(ok(f"gateway {health.version} answers at {url}".replace("  ", " ")))
            await client.runs(limit=1)
            found.append(ok("the gateway takes our token"))
    except GatewayUnreachable as error:
        named = config.url is not None
        found.append((fail if named else warn)(error.message, "`runwire up` starts a gateway"))
    except GatewayError as error:
        found.append(fail(error.message, error.hint))
    except RunwireError as error:
        found.append(fail(error.message, error.hint))
    return found


def _changed_s(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _shown(size: int) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} TiB"
