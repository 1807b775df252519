"""How a database comes to the layout of this release, and that it never half does."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from runwire.errors import StoreTooNew
from runwire.journal.store.database import migrate, migrations, open_writer
from tests.journal.house import open_house

DIE_HALFWAY = """
import os, sys
from pathlib import Path
from runwire.journal.store.database import migrate, open_writer

def die(cursor, sql, bindings):
    if "CREATE TABLE tokens" in sql:
        os._exit(9)
    return True

db = open_writer(Path(sys.argv[1]))
db.exec_trace = die
migrate(db)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def db(path: Path) -> Iterator[apsw.Connection]:
    with closing(open_writer(path)) as db:
        yield db


def layout(db: apsw.Connection) -> list[tuple[str, str]]:
    return list(db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"))


def test_a_new_database_gets_the_newest_layout(db: apsw.Connection) -> None:
    assert migrate(db) == len(migrations()) == db.pragma("user_version")
    names = {name for name, _ in layout(db)}
    assert {"runs", "commits", "chunks", "feed", "bodies", "artifacts", "tokens", "replies"} <= names
    assert {"sessions", "tasks", "queue", "workplaces", "workers", "approvals", "grants", "messages", "writes"} <= names


def test_migrating_again_changes_nothing(db: apsw.Connection) -> None:
    migrate(db)
    before = layout(db)
    migrate(db)
    assert layout(db) == before


def test_the_scripts_are_numbered_without_a_gap() -> None:
    assert len(migrations()) >= 1


def test_a_layout_from_a_later_release_is_refused_and_left_alone(db: apsw.Connection) -> None:
    migrate(db)
    db.execute("CREATE TABLE from_the_future (x)")
    db.pragma("user_version", len(migrations()) + 1)
    before = layout(db)
    with pytest.raises(StoreTooNew) as refused:
        migrate(db)
    assert refused.value.details == {"found": len(migrations()) + 1, "known": len(migrations())}
    assert layout(db) == before
    assert not db.in_transaction


async def test_a_journal_from_a_later_release_is_not_opened(tmp_path: Path) -> None:
    async with open_house(tmp_path / "data") as house:
        await house.run()
    with closing(apsw.Connection(str(tmp_path / "data" / "journal.db"))) as db:
        db.pragma("user_version", len(migrations()) + 1)
    with pytest.raises(StoreTooNew):
        async with open_house(tmp_path / "data"):
            pass


def test_a_migration_that_fails_leaves_the_old_layout(db: apsw.Connection) -> None:
    def fail(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        if "CREATE TABLE tokens" in sql:
            raise apsw.FullError("database or disk is full")
        return True

    db.exec_trace = fail
    with pytest.raises(Exception, match="disk"):
        migrate(db)
    db.exec_trace = None
    assert layout(db) == []
    assert db.pragma("user_version") == 0
    assert migrate(db) == len(migrations())


def test_a_migration_whose_process_dies_leaves_the_old_layout(path: Path) -> None:
    died = subprocess.run([sys.executable, "-c", DIE_HALFWAY, str(path)], capture_output=True, check=False)
    assert died.returncode == 9, died.stderr
    with closing(open_writer(path)) as db:
        assert layout(db) == []
        assert db.pragma("user_version") == 0
        assert migrate(db) == len(migrations())
