"""A real journal on a real disk for every test that asks for one."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from runwire.clock import SystemClock
from runwire.ids import Ids
from runwire.journal.journal import Journal, JournalSettings, open_journal
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet

SECRET = "hunter2-correct-horse-battery"

Opener = Callable[..., AbstractAsyncContextManager[Journal]]


def opened(path: Path, **settings: float) -> AbstractAsyncContextManager[Journal]:
    """The journal at a path, with one known secret."""
    clock = SystemClock()
    return open_journal(
        path,
        redactor=Redactor(SecretSet([KnownValue("test", SECRET)])),
        clock=clock,
        ids=Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes),
        settings=JournalSettings(**settings),  # type: ignore[arg-type]  # tests set floats and ints by name
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[Journal]:
    async with opened(path) as journal:
        yield journal
