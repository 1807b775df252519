"""What a claim promises: one holder at a time, and the one before it can write no more."""

import asyncio
from pathlib import Path

import apsw
import pytest

from runwire.errors import Conflict, RunFinished, RunNotFound, RunwireError, StaleLease
from runwire.journal.journal import Journal
from runwire.journal.records import Claimed, RunBirth, RunInfo
from runwire.protocol.chain import GENESIS
from runwire.protocol.chain import link as chain
from runwire.protocol.envelope import decode_envelope
from runwire.protocol.events.run import RunCancelled, RunQueued, RunStarted
from runwire.protocol.payload import Payload
from runwire.protocol.verify import verify
from tests.journal.conftest import SECRET, opened
from tests.journal.reading import note, whole_feed, whole_log
from tests.spec import spec

QUEUED = RunQueued(kind="shell", model=None, provider=None, workspace_path=None, workspace_mode=None)


def started(_: RunInfo) -> list[Payload]:
    return [RunStarted(worker_id="worker_1")]


def nothing(_: apsw.Connection, __: int) -> None:
    """No rows go with the claim."""


async def born(journal: Journal, run_id: str = "run_a") -> None:
    await journal.create_run(RunBirth(run_id, "task_1"), [QUEUED])


async def test_a_claim_moves_the_lease_and_tells_of_it_at_once(journal: Journal) -> None:
    await born(journal)
    claimed = await journal.claim("run_a", started, also=nothing)
    assert (claimed.generation, claimed.stored.sequence) == (1, 1)
    assert (claimed.info.head_sequence, claimed.info.story.run.status, claimed.info.lease_generation) == (
        0,
        "queued",
        0,
    )
    info = await journal.reader.run("run_a")
    assert (info.head_sequence, info.story.run.status, info.lease_generation) == (1, "running", 1)
    assert (await journal.append("run_a", note(), lease=claimed.generation)).sequence == 2


async def test_a_claim_is_told_of_everything_that_was_said_before_it(journal: Journal) -> None:
    await born(journal)
    told: list[RunInfo] = []

    def tell(info: RunInfo) -> list[Payload]:
        told.append(info)
        return started(info)

    said = [journal.append("run_a", note(str(number))) for number in range(3)]
    claimed = await journal.claim("run_a", tell, also=nothing)
    assert [(await one).sequence for one in said] == [1, 2, 3]
    before = (await whole_log(journal, "run_a"))[:4]
    link = GENESIS
    for envelope in before:
        link = chain(link, envelope)
    assert [(info.head_sequence, info.head_hash) for info in [*told, claimed.info]] == [(3, link)] * 2


async def test_what_runs_say_in_turns_lies_side_by_side_and_each_is_told_its_own_place(journal: Journal) -> None:
    await born(journal)
    await born(journal, "run_b")
    commits = journal.figures().commits
    asked = [("run_a", "1"), ("run_b", "2"), ("run_a", "3"), ("run_b", "4"), ("run_a", "5")]
    stored = await asyncio.gather(*(journal.append(run_id, note(text)) for run_id, text in asked))
    assert journal.figures().commits == commits + 1
    feed = await whole_feed(journal)
    for (run_id, text), one in zip(asked, stored, strict=True):
        event = decode_envelope(feed[one.position])
        assert (event.run_id, event.sequence, event.event_id) == (run_id, one.sequence, one.event_id)
        assert bytes(event.data) == b'{"text":"%b"}' % text.encode()
    for run_id in ("run_a", "run_b"):
        assert list(verify(await whole_log(journal, run_id), live=True)) == []


@spec("SEQ-3")
async def test_whoever_held_the_run_before_is_refused_from_then_on(journal: Journal) -> None:
    await born(journal)
    first = await journal.claim("run_a", started, also=nothing)
    await journal.append("run_a", note("first"), lease=first.generation)
    second = await journal.claim("run_a", started, also=nothing)
    for late in (journal.append, lambda run_id, one, lease: journal.append_all(run_id, [one, one], lease=lease)):
        with pytest.raises(StaleLease):
            await late("run_a", note("late"), lease=first.generation)
    assert (await journal.append("run_a", note("second"), lease=second.generation)).sequence == 4
    assert list(verify(await whole_log(journal, "run_a"), live=True)) == []


@spec("SEQ-3")
async def test_the_order_of_requests_decides_within_one_commit(journal: Journal) -> None:
    await born(journal)
    holder = await journal.claim("run_a", started, also=nothing)
    before = journal.append("run_a", note("before"), lease=holder.generation)
    taken = journal.claim("run_a", started, also=nothing)
    after = journal.append("run_a", note("after"), lease=holder.generation)
    mine = journal.append("run_a", note("mine"), lease=holder.generation + 1)
    by_a_person = journal.append("run_a", note("by a person"))
    results = await asyncio.gather(before, taken, after, mine, by_a_person, return_exceptions=True)
    assert [type(result).__name__ for result in results] == ["Stored", "Claimed", "StaleLease", "Stored", "Stored"]
    log = [decode_envelope(stored) for stored in await whole_log(journal, "run_a")]
    assert [one.sequence for one in log] == list(range(6))
    assert [one.event_id for one in log] == sorted(one.event_id for one in log)
    assert list(verify(await whole_log(journal, "run_a"), live=True)) == []


async def test_a_run_can_be_claimed_before_its_birth_is_durable(journal: Journal) -> None:
    birth = journal.create_run(RunBirth("run_a"), [QUEUED])
    claimed = await journal.claim("run_a", started, also=nothing)
    assert (await birth).sequence == 0
    assert (claimed.generation, claimed.stored.sequence, claimed.info.head_sequence) == (1, 1, 0)


async def test_the_rows_know_the_generation_and_go_with_the_claim(journal: Journal) -> None:
    await born(journal)

    def take(db: apsw.Connection, generation: int) -> None:
        db.execute("INSERT INTO workers VALUES ('worker_1', ?, 'here', 0, 0)", (generation,))

    def refuse(db: apsw.Connection, generation: int) -> None:
        take(db, generation)
        raise Conflict("another worker was faster")

    with pytest.raises(Conflict, match="faster"):
        await journal.claim("run_a", started, also=refuse)
    claimed = await journal.claim("run_a", started, also=take)
    rows = await journal.reader.query(lambda db: db.execute("SELECT pid FROM workers").fetchall())
    assert rows == [(claimed.generation,)] == [(1,)]
    assert len(await whole_log(journal, "run_a")) == 2


async def test_a_refused_claim_leaves_the_holder_in_possession(journal: Journal) -> None:
    await born(journal)
    holder = await journal.claim("run_a", started, also=nothing)

    def refuse(_: RunInfo) -> list[Payload]:
        raise RunwireError("no")

    with pytest.raises(RunwireError, match="no"):
        await journal.claim("run_a", refuse, also=nothing)
    with pytest.raises(Conflict, match="nothing to tell"):
        await journal.claim("run_a", lambda _: [], also=nothing)
    assert (await journal.append("run_a", note(), lease=holder.generation)).sequence == 2


async def test_a_refused_claim_does_not_spoil_the_group(journal: Journal) -> None:
    await born(journal)
    results = await asyncio.gather(
        journal.append("run_a", note("one")),
        journal.claim("run_missing", started, also=nothing),
        journal.append("run_a", note("two")),
        return_exceptions=True,
    )
    assert [type(result) for result in results if isinstance(result, Exception)] == [RunNotFound]
    assert len(await whole_log(journal, "run_a")) == 3


async def test_a_run_that_is_over_is_not_claimed(journal: Journal) -> None:
    await journal.create_run(RunBirth("run_a"), [QUEUED, RunCancelled(by="operator")])
    with pytest.raises(RunFinished):
        await journal.claim("run_a", started, also=nothing)
    assert (await journal.reader.run("run_a")).lease_generation == 0


async def test_a_claim_may_end_the_run(journal: Journal) -> None:
    await born(journal)
    await journal.claim("run_a", lambda _: [RunCancelled(by="operator")], also=nothing)
    assert (await journal.reader.run("run_a")).story.run.status == "cancelled"


@spec("RED-1")
async def test_what_a_claim_tells_holds_no_secret(journal: Journal) -> None:
    await born(journal)
    await journal.claim("run_a", lambda _: [note("clean"), note(SECRET), note("clean")], also=nothing)
    log = await whole_log(journal, "run_a")
    assert len(log) == 4
    assert SECRET.encode() not in b"".join(log)
    assert list(verify(log, live=True)) == []


async def test_a_claim_whose_commit_fails_has_moved_nothing(journal: Journal) -> None:
    await born(journal)
    holder = await journal.claim("run_a", started, also=nothing)

    def explode(_: apsw.Connection) -> None:
        raise ZeroDivisionError

    results = await asyncio.gather(
        journal.claim("run_a", started, also=nothing),
        journal.append("run_a", note(), lease=holder.generation + 1),
        journal.append("run_a", note(), also=explode),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [ZeroDivisionError] * 3
    assert (await journal.append("run_a", note(), lease=holder.generation)).sequence == 2


async def test_a_claim_that_its_caller_gave_up_on_counts_all_the_same(journal: Journal) -> None:
    await born(journal)
    given_up = asyncio.ensure_future(journal.claim("run_a", started, also=nothing))  # noqa: TID251 - it is given up
    given_up.cancel()
    with pytest.raises(StaleLease):
        await journal.append("run_a", note(), lease=0)


async def test_of_many_who_claim_one_run_in_two_processes_one_has_it(path: Path) -> None:
    async with opened(path) as one, opened(path) as two:
        for number in range(20):
            await one.create_run(RunBirth(f"run_{number}", f"task_{number}"), [QUEUED])
        await one.write(
            lambda db: db.execute(
                "INSERT INTO queue (run_id, task_id, state, queued_ns, workspace, workspace_mode) "
                "SELECT run_id, task_id, 'ready', 0, '', '' FROM runs"
            )
        )

        async def claim(journal: Journal, run_id: str) -> Claimed | Conflict:
            def take(db: apsw.Connection, generation: int) -> None:
                row = "UPDATE queue SET state = 'running', generation = ? WHERE run_id = ? AND state = 'ready'"
                db.execute(row, (generation, run_id))
                if not db.changes():
                    raise Conflict("another worker was faster")

            try:
                return await journal.claim(run_id, started, also=take)
            except Conflict as lost:
                return lost

        for number in range(20):
            run_id = f"run_{number}"
            results = await asyncio.gather(*(claim(journal, run_id) for journal in (one, two, one, two)))
            won = [result for result in results if isinstance(result, Claimed)]
            assert [claimed.generation for claimed in won] == [1]
        assert len(await whole_feed(one)) == 40


@spec("SEQ-3")
async def test_a_claim_in_another_process_counts_for_every_run_at_the_next_append(path: Path) -> None:
    async with opened(path) as holder, opened(path) as thief:
        for run_id in ("run_a", "run_b"):
            await born(holder, run_id)
            await holder.claim(run_id, started, also=nothing)
        await thief.claim("run_a", started, also=nothing)
        await thief.claim("run_b", started, also=nothing)
        # The first append learns of both claims; the second run must not be forgotten over it.
        for run_id in ("run_a", "run_b"):
            with pytest.raises(StaleLease):
                await holder.append(run_id, note("late"), lease=1)
