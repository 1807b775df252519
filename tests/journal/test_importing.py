"""A file of envelopes becomes a run, byte for byte, or nothing of it stays."""

import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from runwire.clock import SystemClock
from runwire.errors import ImportConflict, ImportInvalid, RunNotFound, SecretInImport
from runwire.ids import Ids
from runwire.journal.importing import Importer
from runwire.journal.journal import Journal, open_journal
from runwire.journal.records import RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from runwire.protocol.events.run import RunFinished
from tests.journal.conftest import SECRET, opened
from tests.journal.reading import note, whole_feed, whole_log
from tests.journal.test_streams import text
from tests.spec import spec

FINISHED = RunFinished(final_status="completed", turns=0, cost_micros_usd=0, duration_ms=1)


@pytest.fixture
async def log(tmp_path: Path) -> list[bytes]:
    """What another store exported."""
    async with opened(tmp_path / "other.db") as other:
        await other.create_run(RunBirth("run_a", "task_1"), [note(str(number)) for number in range(1_000)])
        await other.append("run_a", FINISHED)
        return await whole_log(other, "run_a")


@pytest.fixture
def save(tmp_path: Path) -> Callable[[list[bytes]], Path]:
    def write(lines: list[bytes]) -> Path:
        file = tmp_path / "log.jsonl"
        file.write_bytes(b"\n".join(lines) + b"\n")
        return file

    return write


Save = Callable[[list[bytes]], Path]


@spec("CHAIN-4")
async def test_ids_sequences_and_bytes_are_kept(journal: Journal, log: list[bytes], save: Save) -> None:
    assert await Importer(journal=journal).take(save(log)) == "run_a"
    assert await whole_log(journal, "run_a") == log
    info = await journal.reader.run("run_a")
    assert (info.birth.task_id, info.head_sequence, info.story.run.status) == ("task_1", 1_000, "completed")


async def test_an_imported_run_has_its_place_in_the_feed_before_and_after_sealing(
    journal: Journal, log: list[bytes], save: Save
) -> None:
    await journal.create_run(RunBirth("run_b"), [note("before")])
    await Importer(journal=journal).take(save(log))
    await journal.append("run_b", note("after"))
    feed = await whole_feed(journal)
    assert feed[1:-1] == log
    await journal.keeper.seal_all()
    await journal.forget("run_b")
    assert await whole_feed(journal) == feed


async def test_the_same_file_again_changes_nothing(journal: Journal, log: list[bytes], save: Save) -> None:
    importer = Importer(journal=journal)
    await importer.take(save(log))
    assert await importer.take(save(log)) == "run_a"
    assert await whole_log(journal, "run_a") == log


@spec("CHAIN-4")
async def test_other_bytes_for_a_run_that_is_here_are_refused(journal: Journal, log: list[bytes], save: Save) -> None:
    importer = Importer(journal=journal)
    await importer.take(save(log))
    changed = [*log[:500], log[500].replace(b'"text":"500"', b'"text":"501"'), *log[501:]]
    with pytest.raises(ImportConflict) as refusal:
        await importer.take(save(changed))
    assert refusal.value.details["sequence"] == 500
    assert await whole_log(journal, "run_a") == log


@pytest.mark.parametrize(
    "spoil",
    [
        lambda log: log[:3] + log[4:],
        lambda log: [log[1], log[0], *log[2:]],
        lambda log: [*log, log[-1]],
        lambda log: [*log[:2], b"not json", *log[3:]],
        lambda log: [*log[:2], log[2].replace(b"run_a", b"run_b"), *log[3:]],
        lambda log: [*log[:2], log[2][:-1] + b" }", *log[3:]],
        lambda _: [b""],
        lambda log: log[5:],
    ],
    ids=["hole", "order", "twice terminal", "garbage", "two runs", "white space", "empty", "late start"],
)
async def test_a_log_that_breaks_a_rule_leaves_nothing_behind(
    journal: Journal, log: list[bytes], save: Save, spoil: Callable[[list[bytes]], list[bytes]]
) -> None:
    with pytest.raises(ImportInvalid):
        await Importer(journal=journal).take(save(spoil(log)))
    with pytest.raises(RunNotFound):
        await journal.reader.run("run_a")
    assert await whole_feed(journal) == []


async def test_a_file_with_a_secret_of_this_process_is_refused(journal: Journal, log: list[bytes], save: Save) -> None:
    log[7] = log[7].replace(b'"text":"7"', b'"text":"%b"' % SECRET.encode())
    with pytest.raises(SecretInImport) as refusal:
        await Importer(journal=journal).take(save(log))
    assert refusal.value.details["line"] == 8
    assert SECRET not in str(refusal.value)


async def test_a_live_run_goes_on_after_its_import(journal: Journal, log: list[bytes], save: Save) -> None:
    await Importer(journal=journal).take(save(log[:10]))
    assert (await journal.append("run_a", note("and on"))).sequence == 10
    assert (await whole_log(journal, "run_a"))[:10] == log[:10]


async def test_a_secret_that_lies_across_the_pieces_of_a_stream_is_found(tmp_path: Path, save: Save) -> None:
    """The process that wrote the file did not know the secret; this one does."""
    clock = SystemClock()
    ids = Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)
    async with open_journal(tmp_path / "other.db", redactor=Redactor(SecretSet()), clock=clock, ids=ids) as other:
        await other.create_run(RunBirth("run_a"), [note()])
        for half in (SECRET[:9], SECRET[9:] + ", and so it ends."):
            await other.offer("run_a", text(half))
            await other.flush("run_a")
        log = await whole_log(other, "run_a")
    async with opened(tmp_path / "journal.db") as journal:
        with pytest.raises(SecretInImport) as refusal:
            await Importer(journal=journal).take(save(log))
        assert refusal.value.details["line"] == len(log)


async def test_a_hole_is_named_by_the_line_where_it_is(journal: Journal, log: list[bytes], save: Save) -> None:
    with pytest.raises(ImportInvalid) as refusal:
        await Importer(journal=journal).take(save(log[:3] + log[4:]))
    assert refusal.value.details["line"] == 4
