"""What pruning takes, what it leaves, and how it says so."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwire.errors import RunNotFound
from runwire.ids import Ids
from runwire.journal.journal import Journal, JournalSettings, open_journal
from runwire.journal.records import RunBirth
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import SecretSet
from runwire.journal.retention import Policy, Retention
from runwire.protocol.catalogue import decode_payload
from runwire.protocol.envelope import data_of, event_id_of, sequence_of, type_of
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.gap import GapEventsPruned
from runwire.protocol.events.run import RunFinished
from runwire.protocol.verify import verify
from runwire.testing.clock import ManualClock
from tests.journal.reading import note, whole_feed, whole_log
from tests.journal.test_streams import text
from tests.spec import spec

FINISHED = RunFinished(final_status="completed", turns=0, cost_micros_usd=0, duration_ms=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ids(clock: ManualClock) -> Ids:
    return Ids(now_ns=clock.now_ns, random_bytes=secrets.token_bytes)


@pytest.fixture
async def journal(path: Path, clock: ManualClock, ids: Ids) -> AsyncIterator[Journal]:
    settings = JournalSettings(settle_s=3600)
    async with open_journal(path, redactor=Redactor(SecretSet()), clock=clock, ids=ids, settings=settings) as journal:
        yield journal


@pytest.fixture
def retention(journal: Journal, clock: ManualClock, ids: Ids) -> Retention:
    return Retention(journal=journal, clock=clock, ids=ids)


def marker_of(envelope: bytes) -> GapEventsPruned:
    payload = decode_payload(type_of(envelope), data_of(envelope))
    assert isinstance(payload, GapEventsPruned)
    return payload


@spec("GAP-1", "GAP-3", "GAP-4")
async def test_a_pruned_prefix_ends_in_a_marker_in_the_place_of_the_last_pruned_event(
    journal: Journal, retention: Retention
) -> None:
    await journal.create_run(RunBirth("run_a"), [note(str(number)) for number in range(10)])
    before = await whole_log(journal, "run_a")
    head = (await journal.reader.run("run_a")).head_hash
    await retention.prune("run_a", 6)
    after = await whole_log(journal, "run_a")
    marker = marker_of(after[0])
    assert (marker.first_pruned_sequence, marker.last_pruned_sequence, marker.reason) == (0, 6, "operator")
    assert sequence_of(after[0]) == 6
    assert event_id_of(after[0]) not in {event_id_of(envelope) for envelope in before}
    assert after[1:] == before[7:]
    info = await journal.reader.run("run_a")
    assert (info.first_sequence, info.head_sequence, info.head_hash) == (6, 9, head)
    assert list(verify(after, head=head, live=True)) == []
    assert await whole_log(journal, "run_a", after=3) == after
    assert await whole_log(journal, "run_a", after=6) == before[7:]


@spec("GAP-2")
async def test_terminal_facts_approvals_and_markers_outlive_pruning(journal: Journal, retention: Retention) -> None:
    asked = ApprovalRequested(
        approval_id="appr_1", tool_call_id="call_1", kind="shell_exec", summary="ls", policy_reason="asked"
    )
    answered = ApprovalResolved(approval_id="appr_1", decision="approved", by="operator", comment="", scope="once")
    await journal.create_run(RunBirth("run_a"), [note(), note(), asked, note(), answered, note(), note()])
    await retention.prune("run_a", 1)
    await journal.append("run_a", FINISHED)
    head = (await journal.reader.run("run_a")).head_hash
    await retention.apply(Policy(max_age_s=0.000_001), dry_run=True)
    await retention.prune("run_a", 7)
    log = await whole_log(journal, "run_a")
    assert [(sequence_of(envelope), type_of(envelope)) for envelope in log] == [
        (1, "gap.events_pruned"),
        (2, "approval.requested"),
        (4, "approval.resolved"),
        (6, "gap.events_pruned"),
        (7, "run.finished"),
    ]
    assert list(verify(log, head=head)) == []


async def test_events_past_their_age_go_and_younger_ones_stay(
    journal: Journal, retention: Retention, clock: ManualClock
) -> None:
    await journal.create_run(RunBirth("run_a"), [note("old") for _ in range(5)])
    clock.advance(100)
    await journal.append_all("run_a", [note("young") for _ in range(3)])
    clock.advance(10)
    (pruned,) = await retention.apply(Policy(max_age_s=50))
    assert (pruned.events, pruned.through, pruned.reason) == (5, 4, "retention_window")
    assert [type_of(envelope) for envelope in await whole_log(journal, "run_a")] == [
        "gap.events_pruned",
        *["external.note"] * 3,
    ]
    assert await retention.apply(Policy(max_age_s=50)) == []


async def test_text_pieces_go_before_facts_do(journal: Journal, retention: Retention) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    for _ in range(6):
        await journal.offer("run_a", text("piece of text "))
        await journal.append("run_a", note("fact"))
    assert len(await whole_log(journal, "run_a")) == 13
    await retention.apply(Policy(max_events=9))
    log = await whole_log(journal, "run_a")
    assert len(log) == 9
    assert sum(type_of(envelope) == "external.note" for envelope in log) == 7
    assert list(verify(log, head=(await journal.reader.run("run_a")).head_hash, live=True)) == []


async def test_no_more_than_so_many_events_stay(journal: Journal, retention: Retention) -> None:
    await journal.create_run(RunBirth("run_a"), [note(str(number)) for number in range(100)])
    await retention.apply(Policy(max_events=10))
    log = await whole_log(journal, "run_a")
    assert [sequence_of(envelope) for envelope in log] == list(range(90, 100))
    assert marker_of(log[0]).first_pruned_sequence == 0


async def test_finished_runs_shrink_until_the_store_fits(journal: Journal, retention: Retention) -> None:
    for run_id in ("run_old", "run_new", "run_live"):
        await journal.create_run(RunBirth(run_id), [note(secrets.token_hex(200)) for _ in range(200)])
    for run_id in ("run_old", "run_new"):
        await journal.append(run_id, FINISHED)
    await retention.apply(Policy(max_bytes=1))
    assert [type_of(envelope) for envelope in await whole_log(journal, "run_old")] == [
        "gap.events_pruned",
        "run.finished",
    ]
    assert len(await whole_log(journal, "run_live")) == 200


async def test_a_dry_run_tells_and_leaves_everything(journal: Journal, retention: Retention) -> None:
    await journal.create_run(RunBirth("run_a"), [note() for _ in range(20)])
    before = await whole_log(journal, "run_a")
    (told,) = await retention.apply(Policy(max_events=5), dry_run=True)
    assert told.through == 15
    assert await whole_log(journal, "run_a") == before


async def test_the_feed_skips_what_is_gone_and_nothing_else(journal: Journal, retention: Retention) -> None:
    await journal.create_run(RunBirth("run_a"), [note() for _ in range(5)])
    await journal.create_run(RunBirth("run_b"), [note() for _ in range(5)])
    await retention.prune("run_a", 3)
    await journal.append("run_a", note())
    expected = await whole_log(journal, "run_a", after=-1)
    feed = await whole_feed(journal, limit=2)
    assert [envelope for envelope in feed if b'"run_a"' in envelope] == expected
    assert len(feed) == len(expected) + 5


async def test_a_deleted_run_is_gone_and_its_neighbours_are_not(journal: Journal, retention: Retention) -> None:
    await journal.create_run(RunBirth("run_a"), [note()])
    await journal.create_run(RunBirth("run_b"), [note()])
    await retention.delete("run_a")
    with pytest.raises(RunNotFound):
        await journal.reader.run("run_a")
    assert len(await whole_feed(journal)) == 1
