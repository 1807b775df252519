"""What an append promises."""

import asyncio
from contextlib import suppress

import apsw
import pytest

from runwire.errors import RunExists, RunFinished, RunNotFound, RunwireError, StaleLease
from runwire.journal.journal import Journal
from runwire.journal.records import RunBirth
from runwire.protocol.chain import GENESIS, link
from runwire.protocol.envelope import decode_envelope, sequence_of
from runwire.protocol.events.assistant import AssistantTextDelta
from runwire.protocol.events.run import RunCancelled, RunStarted
from runwire.protocol.events.run import RunFinished as Finished
from runwire.protocol.events.tool import ToolInvoked
from runwire.protocol.payload import Opaque
from tests.journal.reading import note, whole_feed, whole_log
from tests.spec import spec

STARTED = RunStarted(worker_id="worker-1", lease_until="2026-11-15T00:00:30.000000000Z")
FINISHED = Finished(final_status="completed", turns=0, cost_micros_usd=0, duration_ms=1)


@spec("SEQ-1", "SEQ-2")
async def test_many_producers_on_many_runs_get_numbers_from_0_without_a_hole(journal: Journal) -> None:
    runs = [f"run_{number}" for number in range(8)]
    await asyncio.gather(*(journal.create_run(RunBirth(run_id), [note()]) for run_id in runs))

    async def produce(run_id: str) -> list[int]:
        return [(await journal.append(run_id, note())).sequence for _ in range(20)]

    given = await asyncio.gather(*(produce(run_id) for run_id in runs for _ in range(3)))
    for at, run_id in enumerate(runs):
        mine = sorted(number for taken in given[at * 3 : at * 3 + 3] for number in taken)
        assert mine == list(range(1, 61))
        assert [sequence_of(envelope) for envelope in await whole_log(journal, run_id)] == list(range(61))


@spec("CHAIN-1")
async def test_the_head_is_the_chain_over_the_stored_bytes(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note("one"), note("two")])
    await journal.append("run_a", note("three"))
    expected = GENESIS
    for envelope in await whole_log(journal, "run_a"):
        expected = link(expected, envelope)
    assert (await journal.reader.run("run_a")).head_hash == expected


@spec("SEQ-3")
async def test_a_writer_that_lost_its_lease_is_refused_and_leaves_no_trace(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    await journal.write(lambda db: db.execute("UPDATE runs SET lease_generation = 2 WHERE run_id = 'run_a'"))
    await journal.forget("run_a")
    before = await whole_log(journal, "run_a")
    with pytest.raises(StaleLease):
        await journal.append("run_a", note("late"), lease=1)
    assert await whole_log(journal, "run_a") == before
    assert (await journal.append("run_a", note("in time"), lease=2)).sequence == 1


@spec("SEQ-3")
async def test_a_lease_taken_by_another_connection_counts_at_once(journal: Journal, path: object) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    await journal.append("run_a", note(), lease=0)
    other = apsw.Connection(str(path))
    other.execute("UPDATE runs SET lease_generation = 1 WHERE run_id = 'run_a'")
    with pytest.raises(StaleLease):
        await journal.append("run_a", note("late"), lease=0)
    other.close()


async def test_one_refused_request_does_not_spoil_the_group(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    answers = await asyncio.gather(
        journal.append("run_a", note("one")),
        journal.append("run_missing", note()),
        journal.create_run(RunBirth("run_a"), [note()]),
        journal.append("run_a", note("two")),
        return_exceptions=True,
    )
    assert [type(answer).__name__ for answer in answers] == ["Stored", "RunNotFound", "RunExists", "Stored"]
    assert len(await whole_log(journal, "run_a")) == 3


@spec("LIF-1")
async def test_the_first_terminal_event_wins(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [STARTED])
    answers = await asyncio.gather(
        journal.append("run_a", FINISHED),
        journal.append("run_a", RunCancelled(by="operator", reason="")),
        return_exceptions=True,
    )
    assert isinstance(answers[1], RunFinished)
    info = await journal.reader.run("run_a")
    assert (info.story.run.status, info.head_sequence) == ("completed", 1)


@spec("LIF-8")
async def test_after_the_end_only_edits_artifacts_approvals_and_gaps_may_follow(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [STARTED, FINISHED])
    with pytest.raises(RunFinished):
        await journal.append("run_a", note())
    with pytest.raises(RunFinished):
        await journal.append_all("run_a", [Opaque.of("artifact.future", b"{}"), note()])
    assert (await journal.append("run_a", Opaque.of("artifact.future", b"{}"))).sequence == 2


async def test_events_after_a_terminal_one_in_the_same_batch_are_refused_with_it(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [STARTED])
    with pytest.raises(RunFinished):
        await journal.append_all("run_a", [FINISHED, note()])
    assert (await journal.reader.run("run_a")).story.run.status == "running"


@spec("SEQ-8")
async def test_state_and_event_are_one_transaction(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])

    def refuse(db: apsw.Connection) -> None:
        db.execute("UPDATE runs SET agent = 'changed' WHERE run_id = 'run_a'")
        raise RunwireError("no")

    with pytest.raises(RunwireError, match="no"):
        await journal.append("run_a", note("never"), also=refuse)
    with pytest.raises(RunwireError, match="no"):
        await journal.create_run(RunBirth("run_b"), [note()], also=refuse)
    rows = await journal.reader.query(lambda db: db.execute("SELECT run_id, agent FROM runs").fetchall())
    assert rows == [("run_a", "external")]
    assert len(await whole_log(journal, "run_a")) == 1


async def test_a_failure_that_nobody_foresaw_reaches_the_requester(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])

    def explode(_: apsw.Connection) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await journal.append("run_a", note(), also=explode)
    assert (await journal.append("run_a", note())).sequence == 1


async def test_an_unknown_run_is_not_found(journal: Journal) -> None:
    with pytest.raises(RunNotFound):
        await journal.append("run_missing", note())
    with pytest.raises(RunNotFound):
        await journal.reader.run("run_missing")


async def test_a_run_is_born_once(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    with pytest.raises(RunExists):
        await journal.create_run(RunBirth("run_a"), [note()])


async def test_an_append_that_its_caller_gave_up_on_is_stored_all_the_same(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            await journal.append("run_a", note("mine"))
    assert (await journal.append("run_a", note("next"))).sequence == 2


async def test_stream_text_must_be_offered(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    with pytest.raises(ValueError, match="offer"):
        await journal.append("run_a", AssistantTextDelta(turn_index=0, block_index=0, delta="hi"))


@spec("FEED-1")
async def test_positions_follow_the_order_of_commits_across_runs(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [note("a0")])
    await journal.create_run(RunBirth("run_b"), [note("b0")])
    stored = await asyncio.gather(*(journal.append(run, note(run)) for run in ("run_a", "run_b", "run_a")))
    assert sorted(each.position for each in stored) == [2, 3, 4]
    feed = await whole_feed(journal)
    assert len(feed) == 5
    for each in stored:
        assert decode_envelope(feed[each.position]).event_id == each.event_id


async def test_the_state_of_a_run_is_the_fold_of_its_events(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a", "task_1", "chat_1", "native"), [STARTED])
    await journal.append(
        "run_a", ToolInvoked(tool_call_id="call_1", tool_name="shell_exec", kind="shell", turn_index=0)
    )
    info = await journal.reader.run("run_a")
    assert info.story.run.status == "running"
    assert [tool.tool_call_id for tool in info.story.run.open_tools] == ["call_1"]
    assert info.birth == RunBirth("run_a", "task_1", "chat_1", "native")
