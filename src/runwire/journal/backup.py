"""Backup and restore. A copy that exists is whole: it is made aside, proven from end to end, and only then given its name."""

import errno
import os
import shutil
import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from runwire.config import FILE_NAME as CONFIG
from runwire.errors import Conflict, NotFound, StoreTooNew
from runwire.journal.bodies import Bodies
from runwire.journal.collecting import no_collecting
from runwire.journal.disk import PRIVATE_FILE, answering, make_folder, sync_path
from runwire.journal.layout import BODIES, DATABASE, bodies_of, database_of
from runwire.journal.store.database import migrations, open_reader, snapshot, translated
from runwire.journal.wholeness import Inventory, check_store

# 8 MiB a step: between two steps other threads of this process get their turn.
_STEP_PAGES = 1024
_NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP})
_STAGING = ".restoring"


@dataclass(frozen=True, slots=True)
class Copied:
    """What a backup or a restore has copied, and where to."""

    path: Path
    held: Inventory
    size_bytes: int


def backup(data: Path, destination: Path) -> Copied:
    """Copy a data directory to a folder that does not exist yet, while others go on appending.

    The copy is of one moment. It holds the database, the bodies and the settings, but not the token file: restored
    elsewhere, the first start makes a new one. Bodies are linked where the file system allows, for they never change.
    """
    _require_store(data)
    if destination.exists():
        raise Conflict(f"{destination} is there already", hint="name a folder that does not exist; it will be made")
    with answering():
        make_folder(destination.parent)
        aside = Path(tempfile.mkdtemp(dir=destination.parent, prefix=f".{destination.name}."))
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, aside, ignore_errors=True)
        with no_collecting(Bodies(folder=bodies_of(data))):
            copied = _copy(data, aside)
        with answering():
            aside.rename(destination)
            sync_path(destination.parent)
        undo.pop_all()
    return Copied(destination, copied.held, copied.size_bytes)


def restore(source: Path, data: Path) -> Copied:
    """Copy a backup into a data directory that is empty or does not exist yet."""
    _require_store(source)
    with answering():
        make_folder(data)
        # Whoever uses a data directory has put a database there, so an empty one is in nobody's use.
        if any(data.iterdir()):
            raise _not_empty(data)
        staging = data / _STAGING
        staging.mkdir()
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, staging, ignore_errors=True)
        copied = _copy(source, staging)
        with answering():
            _move_in(staging, data)
    return Copied(data, copied.held, copied.size_bytes)


def _require_store(data: Path) -> None:
    if not database_of(data).is_file():
        raise NotFound(f"{data} holds no journal", hint=f"a data directory and a backup both hold a file {DATABASE}")


def _not_empty(data: Path) -> Conflict:
    return Conflict(f"{data} is not empty", hint="restore into a new folder; nothing is ever overwritten")


def _copy(source: Path, target: Path) -> Copied:
    """Copy all that a store consists of, prove the copy, and make it durable."""
    _copy_database(database_of(source), database_of(target))
    size = database_of(target).stat().st_size
    with closing(_quiet(database_of(target))) as db:
        size += _copy_bodies(db, Bodies(folder=bodies_of(source)), Bodies(folder=bodies_of(target)))
        if (source / CONFIG).is_file():
            shutil.copyfile(source / CONFIG, target / CONFIG)
        held = check_store(db, Bodies(folder=bodies_of(target)))
    with answering():
        _sync_tree(target)
    return Copied(target, held, size)


def _copy_database(source: Path, target: Path) -> None:
    with closing(open_reader(source)) as live, closing(_quiet(target)) as copy:
        # One snapshot for all steps: a backup that follows the writer would begin again at each of its commits.
        with snapshot(live):
            found, known = int(live.pragma("user_version")), len(migrations())
            if found > known:
                raise StoreTooNew(found=found, known=known)
            with copy.backup("main", live, "main") as steps:
                while not steps.done:
                    steps.step(_STEP_PAGES)
        # One file without a log beside it, which even a read-only disk can open.
        copy.pragma("journal_mode", "delete")


def _quiet(path: Path) -> apsw.Connection:
    """A connection to a file that nobody else knows yet; it is made durable as a whole at the end."""
    with translated():
        db = apsw.Connection(str(path))
        db.pragma("synchronous", "off")
        return db


def _copy_bodies(db: apsw.Connection, source: Bodies, target: Bodies) -> int:
    size = 0
    with translated(), answering():
        for digest, length in db.execute("SELECT digest, size FROM bodies WHERE inline IS NULL"):
            path = target.path(digest)
            path.parent.mkdir(parents=True, exist_ok=True)
            if source.path(digest).exists():
                _link_or_copy(source.path(digest), path)
            size += length
    return size


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copyfile(source, target)
        target.chmod(source.stat().st_mode & 0o777)


def _sync_tree(folder: Path) -> None:
    """Make every file and every name below `folder` durable, and private."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if path.stat().st_mode & 0o077:
                path.chmod(PRIVATE_FILE)
            sync_path(path)
        sync_path(Path(parent))


def _move_in(staging: Path, data: Path) -> None:
    """Let the restored store be seen: the database last, so that a folder with a database always has all the rest."""
    moved: list[Path] = []
    try:
        for name in (BODIES, CONFIG):
            if (staging / name).exists():
                (staging / name).rename(data / name)
                moved.append(data / name)
        sync_path(data)
        # Unlike a rename, a link never replaces what is there: somebody may have begun to use the folder.
        os.link(staging / DATABASE, data / DATABASE)
        sync_path(data)
    except FileExistsError as error:
        for path in moved:
            path.rename(staging / path.name)
        raise _not_empty(data) from error
