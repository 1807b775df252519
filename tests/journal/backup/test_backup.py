"""A copy of a store that others go on using, and a store made from the copy."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from runwire.errors import Conflict, NotFound, StoreCorrupt, StoreTooNew
from runwire.journal.artifact import ArtifactFilter
from runwire.journal.backup import backup, restore
from runwire.journal.bodies import Bodies
from runwire.journal.frames import envelopes
from runwire.journal.layout import bodies_of, database_of, token_of
from runwire.journal.store.database import migrations, open_reader, snapshot
from runwire.protocol.events.external import external
from runwire.protocol.payload import Opaque
from runwire.protocol.verify import verify
from tests.journal.house import House, open_house
from tests.patience import PATIENCE_S
from tests.spec import spec

LARGE = b"0123456789abcdef" * 4096


def note(number: int) -> Opaque:
    return external("external.note", b'{"number":%d,"text":"%s"}' % (number, b"lorem ipsum " * 20))


async def log_of(house: House, run_id: str) -> list[bytes]:
    found: list[bytes] = []
    cursor = -1
    while (batch := await house.journal.reader.read(run_id, cursor, 1_000_000)) is not None:
        found += envelopes(batch.frames)
        cursor = batch.last
    return found


async def require_proven(house: House, run_id: str) -> None:
    head = (await house.journal.reader.run(run_id)).head_hash
    assert list(verify(await log_of(house, run_id), head=head, live=True)) == []


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    """Sealed events, unsealed events, bodies in rows and in files, settings, and the token file."""
    async with open_house(tmp_path / "data") as house:
        await house.run("run_1", task_id="task_1")
        await house.journal.append_all("run_1", [note(number) for number in range(200)])
        await house.keep(b"small")
        await house.journal.keeper.seal_all()
        await house.run("run_2")
        await house.journal.append_all("run_1", [note(number) for number in range(200, 250)])
        await house.keep(LARGE, run_id="run_2")
        await house.tokens.start()
        (house.data / "config.toml").write_text("port = 7438\n")
        yield house


async def test_a_restored_store_holds_what_the_first_one_held(house: House, tmp_path: Path) -> None:
    made = await house.tokens.create("laptop", ["read"])
    logs = {run_id: await log_of(house, run_id) for run_id in ("run_1", "run_2")}
    artifacts = (await house.artifacts.list(ArtifactFilter())).artifacts
    saved = await asyncio.to_thread(backup, house.data, tmp_path / "saved")
    assert (saved.held.runs, saved.held.events) == (2, sum(map(len, logs.values())))
    assert (saved.held.artifacts, saved.held.bodies) == (2, 2)
    restored = await asyncio.to_thread(restore, saved.path, tmp_path / "second")
    assert restored.held == saved.held
    async with open_house(tmp_path / "second") as second:
        for run_id, log in logs.items():
            assert await log_of(second, run_id) == log
            await require_proven(second, run_id)
        assert (await second.artifacts.list(ArtifactFilter())).artifacts == artifacts
        assert [await second.read(artifact) for artifact in artifacts] == [LARGE, b"small"]
        assert await second.tokens.authenticate(made.secret) == made.token
        await second.journal.append("run_1", note(999))
        await require_proven(second, "run_1")
    assert (tmp_path / "second" / "config.toml").read_text() == "port = 7438\n"


async def test_a_backup_under_steady_appends_is_of_one_moment_and_proves(house: House, tmp_path: Path) -> None:
    """Every event that was acknowledged before the backup began is in it, and none of its runs has a hole."""
    stop = asyncio.Event()

    async def produce(run_id: str) -> None:
        number = 0
        while not stop.is_set():
            await house.journal.append(run_id, note(number))
            number += 1
            if number % 50 == 0:
                await house.keep(b"%d" % number * 9_000, run_id=run_id)

    runs = [await house.run(f"run_{name}") for name in "abcd"]
    for run_id in runs:
        await house.journal.append_all(run_id, [note(number) for number in range(50)])
    await house.journal.keeper.seal_all()
    async with asyncio.TaskGroup() as group:
        for run_id in runs:
            group.create_task(produce(run_id))
        while len(await log_of(house, "run_a")) < 200:
            await house.journal.bell.wait("run_a", 1)
        for number in range(2):
            before = {run_id: await log_of(house, run_id) for run_id in runs}
            saved = await asyncio.to_thread(backup, house.data, tmp_path / f"saved{number}")
            assert len(await log_of(house, "run_a")) > len(before["run_a"]), "appends went on meanwhile"
            restore(saved.path, tmp_path / f"second{number}")
            async with open_house(tmp_path / f"second{number}") as second:
                for run_id, log in before.items():
                    assert (await log_of(second, run_id))[: len(log)] == log
                    await require_proven(second, run_id)
                for artifact in (await second.artifacts.list(ArtifactFilter(), limit=1_000)).artifacts:
                    await second.read(artifact)
        stop.set()


async def test_a_backup_that_takes_long_holds_nobody_up(house: House) -> None:
    """It reads from one snapshot, which keeps the write-ahead log from being emptied; appending must not wait for that."""
    large = external("external.blob", b'{"text":"%s"}' % (b"x" * 400_000))
    with closing(open_reader(database_of(house.data))) as db, snapshot(db):
        db.execute("SELECT count(*) FROM runs").fetchall()
        for _ in range(200):
            await house.journal.append("run_1", large)
        sealing = asyncio.create_task(house.journal.keeper.seal_all())
        async with asyncio.timeout(PATIENCE_S):
            for number in range(100):
                await house.journal.append("run_1", note(number))
                await asyncio.sleep(0.01)
        await sealing
    await require_proven(house, "run_1")


@spec("GAP-4")
async def test_a_pruned_run_still_proves_in_the_copy(house: House, tmp_path: Path) -> None:
    await house.retention.prune("run_1", 100)
    saved = backup(house.data, tmp_path / "saved")
    assert saved.held.events == len(await log_of(house, "run_1")) + len(await log_of(house, "run_2"))


async def test_secrets_stay_at_home(house: House, tmp_path: Path) -> None:
    secret = token_of(house.data).read_bytes().strip()
    saved = backup(house.data, tmp_path / "saved")
    assert not token_of(saved.path).exists()
    for path in (path for path in saved.path.rglob("*") if path.is_file()):
        assert secret not in path.read_bytes()
        assert path.stat().st_mode & 0o077 == 0
    restore(saved.path, tmp_path / "second")
    async with open_house(tmp_path / "second") as second:
        new = await second.tokens.start()
        assert await second.tokens.authenticate(new) is not None
        assert await second.tokens.authenticate(secret.decode()) is None


async def test_a_backup_is_made_beside_its_name_and_leaves_nothing_else(house: House, tmp_path: Path) -> None:
    backup(house.data, tmp_path / "deep" / "er" / "saved")
    assert [path.name for path in (tmp_path / "deep" / "er").iterdir()] == ["saved"]
    assert sorted(path.name for path in (tmp_path / "deep" / "er" / "saved").iterdir()) == [
        "bodies",
        "config.toml",
        "journal.db",
    ]


async def test_bodies_are_linked_and_outlive_the_first_store(house: House, tmp_path: Path) -> None:
    (artifact,) = (await house.artifacts.list(ArtifactFilter(run_id="run_2"))).artifacts
    saved = backup(house.data, tmp_path / "saved")
    copied = Bodies(folder=bodies_of(saved.path)).path(artifact.digest)
    assert copied.samefile(Bodies(folder=bodies_of(house.data)).path(artifact.digest))
    await house.retention.delete("run_2")
    await house.artifacts.prune()
    assert copied.read_bytes() == LARGE


async def test_a_backup_on_another_file_system_is_as_good(house: House, tmp_path: Path) -> None:
    """Where bodies cannot be linked they are copied. Without a second file system this proves no more than the others."""
    elsewhere = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=elsewhere if elsewhere.is_dir() else tmp_path) as folder:
        saved = backup(house.data, Path(folder, "saved"))
        restore(saved.path, tmp_path / "second")
    async with open_house(tmp_path / "second") as second:
        (artifact,) = (await second.artifacts.list(ArtifactFilter(run_id="run_2"))).artifacts
        assert await second.read(artifact) == LARGE
        assert Bodies(folder=bodies_of(second.data)).path(artifact.digest).stat().st_mode & 0o777 == 0o400


async def test_an_existing_destination_is_never_touched(house: House, tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "precious").write_text("mine")
    with pytest.raises(Conflict, match="there already"):
        backup(house.data, tmp_path / "saved")
    assert [path.name for path in (tmp_path / "saved").iterdir()] == ["precious"]


def test_a_folder_without_a_journal_is_not_backed_up(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        backup(tmp_path, tmp_path / "saved")
    with pytest.raises(NotFound):
        restore(tmp_path, tmp_path / "second")
    assert list(tmp_path.iterdir()) == []


class TestDamage:
    """A copy that cannot be proven is not kept."""

    def require_refused(self, house: House, tmp_path: Path) -> None:
        with pytest.raises(StoreCorrupt):
            backup(house.data, tmp_path / "saved")
        assert [path.name for path in tmp_path.iterdir()] == ["data"]

    async def test_a_damaged_body(self, house: House, tmp_path: Path) -> None:
        (artifact,) = (await house.artifacts.list(ArtifactFilter(run_id="run_2"))).artifacts
        path = Bodies(folder=bodies_of(house.data)).path(artifact.digest)
        path.chmod(0o600)
        path.write_bytes(LARGE[:-1] + b"!")
        self.require_refused(house, tmp_path)

    async def test_a_body_that_is_gone(self, house: House, tmp_path: Path) -> None:
        (artifact,) = (await house.artifacts.list(ArtifactFilter(run_id="run_2"))).artifacts
        Bodies(folder=bodies_of(house.data)).path(artifact.digest).unlink()
        self.require_refused(house, tmp_path)

    @pytest.mark.parametrize(
        "harm",
        [
            "DELETE FROM chunks WHERE chunk_key = 1",
            "UPDATE chunks SET body = zeroblob(100) WHERE chunk_key = 1",
            "UPDATE commits SET body = CAST(replace(body, 'lorem', 'LOREM') AS BLOB)",
            "DELETE FROM commits",
            "UPDATE bodies SET inline = CAST('smell' AS BLOB) WHERE inline IS NOT NULL",
            "DELETE FROM bodies WHERE inline IS NOT NULL",
        ],
    )
    async def test_a_damaged_row(self, house: House, tmp_path: Path, harm: str) -> None:
        with closing(apsw.Connection(str(database_of(house.data)))) as db:
            db.execute(harm)
        self.require_refused(house, tmp_path)

    async def test_a_damaged_head(self, house: House, tmp_path: Path) -> None:
        await house.journal.keeper.seal_all()
        with closing(apsw.Connection(str(database_of(house.data)))) as db:
            db.execute("UPDATE runs SET head_hash = zeroblob(32) WHERE run_id = 'run_1'")
        self.require_refused(house, tmp_path)

    async def test_a_damaged_page(self, house: House, tmp_path: Path) -> None:
        saved = backup(house.data, tmp_path / "first")
        path = database_of(saved.path)
        path.write_bytes(path.read_bytes()[:-8192] + os.urandom(8192))
        with pytest.raises(StoreCorrupt):
            restore(saved.path, tmp_path / "second")
        assert list((tmp_path / "second").iterdir()) == []

    async def test_a_later_layout(self, house: House, tmp_path: Path) -> None:
        with closing(apsw.Connection(str(database_of(house.data)))) as db:
            db.pragma("user_version", len(migrations()) + 1)
        with pytest.raises(StoreTooNew):
            backup(house.data, tmp_path / "saved")
        assert not (tmp_path / "saved").exists()


class TestRestoring:
    """Where a backup may go."""

    async def test_a_directory_that_is_in_use_is_refused_and_left_alone(self, house: House, tmp_path: Path) -> None:
        saved = backup(house.data, tmp_path / "saved")
        before = await log_of(house, "run_1")
        with pytest.raises(Conflict, match="not empty"):
            restore(saved.path, house.data)
        assert await log_of(house, "run_1") == before

    async def test_a_directory_with_anything_in_it_is_refused_and_left_alone(
        self, house: House, tmp_path: Path
    ) -> None:
        saved = backup(house.data, tmp_path / "saved")
        second = tmp_path / "second"
        second.mkdir()
        (second / "precious").write_text("mine")
        with pytest.raises(Conflict, match="not empty"):
            restore(saved.path, second)
        assert [path.name for path in second.iterdir()] == ["precious"]

    async def test_an_empty_directory_will_do(self, house: House, tmp_path: Path) -> None:
        saved = backup(house.data, tmp_path / "saved")
        (tmp_path / "second").mkdir()
        restore(saved.path, tmp_path / "second")
        assert sorted(path.name for path in (tmp_path / "second").iterdir()) == ["bodies", "config.toml", "journal.db"]

    async def test_the_directory_of_a_store_at_rest_can_be_the_source(self, house: House, tmp_path: Path) -> None:
        """Its last commits may still lie in the log beside the database; they come along."""
        before = await log_of(house, "run_1")
        restore(house.data, tmp_path / "second")
        async with open_house(tmp_path / "second") as second:
            assert await log_of(second, "run_1") == before
