"""Questions that wait for an answer: one is asked once, answered once, and survives whoever asked it."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Literal

import pytest

from runwire.clock import SystemClock
from runwire.errors import AlreadyResolved, InvalidBody, InvalidContent
from runwire.host import ToolAsk
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.run import RunCancelled
from runwire.runs.approval import Answer, Approval, ApprovalFilter, Question, digest_of
from runwire.runs.approvals import Approvals
from runwire.runs.errors import ApprovalNotFound, EditDenied
from runwire.runs.grants import Asker
from runwire.runs.shellwords import read
from runwire.testing.clock import ManualClock
from tests.runs.deciding import PLACE, SECRET, Desk, begin, ids_of, log_of, opened, shell, types_of

ASKER = Asker(agent="native", workspace="/ws", task_id="task_1", session_id="chat_1")
YES = Answer(decision="approved", by="ann")
NO = Answer(decision="denied", by="bob")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def desk(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Desk]:
    async with opened(tmp_path / "journal.db", clock) as journal:
        yield Desk(journal, await begin(journal, tmp_path), "ask", clock=clock, data=tmp_path / "data")


def question(ask: ToolAsk, timeout_s: float | None = 300) -> Question:
    return Question(
        run_id="run_1",
        ask=ask,
        reading=None if ask.argv_text is None else read(ask.argv_text),
        asker=ASKER,
        digest=digest_of(ask, ASKER, PLACE),
        reason="policy requires approval",
        timeout_s=timeout_s,
    )


async def asked(desk: Desk, command: str = "make", call: str = "call_1", timeout_s: float | None = 300) -> Approval:
    return await desk.approvals.request(question(shell(command, call=call), timeout_s), desk.emit)


async def test_a_question_shows_the_exact_call_and_when_it_expires(desk: Desk) -> None:
    approval = await asked(desk, "git commit -m x")
    (told,) = await log_of(desk.journal)
    assert isinstance(told, ApprovalRequested)
    assert (told.approval_id, told.tool_call_id, told.kind) == (approval.approval_id, "call_1", "shell_exec")
    assert told.input == {"command": "git commit -m x"}
    assert told.input_digest == f"sha256:{approval.digest.hex()}"
    assert told.effects == ["executes", "reads", "writes"]
    assert told.expires_at == "2026-05-03T09:28:45.123456789Z"
    rule = approval.body.proposed_rule
    assert rule is not None
    assert rule.argv is not None
    assert rule.argv[0].argv == ["git", "commit"]


async def test_the_same_question_that_waits_already_is_not_asked_twice(desk: Desk) -> None:
    several = await asyncio.gather(*(asked(desk, call=f"call_{number}") for number in range(5)))
    assert len({one.approval_id for one in several}) == 1
    assert await types_of(desk.journal) == ["approval.requested"]
    approval = await desk.approvals.get(several[0].approval_id)
    assert sorted(approval.body.tool_call_ids) == [f"call_{number}" for number in range(5)]
    await desk.approvals.resolve(approval.approval_id, YES)
    again = await asked(desk, call="call_9")
    assert again.approval_id != approval.approval_id


async def test_another_call_is_another_question(desk: Desk) -> None:
    one, other = await asked(desk, "make a"), await asked(desk, "make b", call="call_2")
    assert one.digest != other.digest
    assert one.approval_id != other.approval_id


async def test_the_first_answer_stands(desk: Desk) -> None:
    approval = await asked(desk)
    settled, decided = await desk.approvals.resolve(approval.approval_id, YES)
    assert (settled.status, decided) == ("approved", True)
    again, decided = await desk.approvals.resolve(
        approval.approval_id, Answer(decision="approved", by="eve", comment="!")
    )
    assert (again.answer, decided) == (settled.answer, False)
    for other in (
        NO,
        Answer(decision="approved", by="ann", scope="task"),
        Answer(decision="approved", by="ann", edited_input={}),
    ):
        with pytest.raises(AlreadyResolved) as wrong:
            await desk.approvals.resolve(approval.approval_id, other)
        assert wrong.value.details["decision"] == "approved"
    assert await types_of(desk.journal) == ["approval.requested", "approval.resolved"]


async def test_many_answers_at_once_make_one_fact(desk: Desk) -> None:
    approval = await asked(desk)
    answers = [YES if number % 2 else NO for number in range(20)]
    found = await asyncio.gather(
        *(desk.approvals.resolve(approval.approval_id, answer) for answer in answers), return_exceptions=True
    )
    decided = [one for one in found if not isinstance(one, BaseException) and one[1]]
    assert len(decided) == 1
    winner = decided[0][0].answer
    assert winner is not None
    for answer, outcome in zip(answers, found, strict=True):
        assert isinstance(outcome, AlreadyResolved) == (answer.decision != winner.decision)
    assert (await types_of(desk.journal)).count("approval.resolved") == 1


def _answer(path: str, approval_id: str, decision: Literal["approved", "denied"], start: Barrier) -> str:
    async def answering() -> str:
        clock = SystemClock()
        async with opened(Path(path)) as journal:
            approvals = Approvals(journal=journal, clock=clock, ids=ids_of(clock))
            start.wait(30)
            try:
                _, decided = await approvals.resolve(approval_id, Answer(decision=decision, by=decision))
            except AlreadyResolved:
                return "409"
            return "decided" if decided else "200"

    return asyncio.run(answering())


async def test_two_processes_that_answer_at_once_make_one_fact(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    clock = SystemClock()
    async with opened(path) as journal:
        desk = Desk(journal, await begin(journal, tmp_path), "ask", clock=clock, data=tmp_path / "data")
        ids = [(await asked(desk, f"make {number}", call=f"call_{number}")).approval_id for number in range(6)]
        waiting = [asyncio.create_task(desk.approvals.wait(one)) for one in ids]
        spawn = multiprocessing.get_context("spawn")
        with spawn.Manager() as shared, spawn.Pool(2) as pool:
            for approval_id in ids:
                start = shared.Barrier(2)
                both = [
                    pool.apply_async(_answer, (str(path), approval_id, decision, start))
                    for decision in ("approved", "denied")
                ]
                outcomes = [await asyncio.to_thread(one.get, 60) for one in both]
                assert sorted(outcomes) == ["409", "decided"]
        settled = await asyncio.wait_for(asyncio.gather(*waiting), 30)
        assert all(not one.pending for one in settled)
        await journal.foreign()
        resolved = [one for one in await log_of(journal) if isinstance(one, ApprovalResolved)]
        assert sorted(one.approval_id for one in resolved) == sorted(ids)
        assert {one.approval_id: one.decision for one in resolved} == {
            one.approval_id: one.answer.decision for one in settled if one.answer is not None
        }


async def test_whoever_waits_hears_the_answer_at_once(desk: Desk) -> None:
    approval = await asked(desk)
    waiting = asyncio.create_task(desk.approvals.wait(approval.approval_id))
    await asyncio.sleep(0)
    await desk.approvals.resolve(approval.approval_id, NO)
    assert (await asyncio.wait_for(waiting, 2)).answer is not None


async def test_a_question_outlives_the_process_that_asked(tmp_path: Path) -> None:
    clock = SystemClock()
    async with opened(tmp_path / "journal.db") as journal:
        desk = Desk(journal, await begin(journal, tmp_path), "ask", clock=clock, data=tmp_path)
        approval = await asked(desk)
    async with opened(tmp_path / "journal.db") as journal:
        approvals = Approvals(journal=journal, clock=clock, ids=ids_of(clock))
        found = await approvals.of_call("run_1", "call_1")
        assert found is not None
        assert (found.approval_id, found.digest, found.pending) == (approval.approval_id, approval.digest, True)
        await approvals.resolve(found.approval_id, YES)
    async with opened(tmp_path / "journal.db") as journal:
        approvals = Approvals(journal=journal, clock=clock, ids=ids_of(clock))
        settled = await approvals.wait(approval.approval_id)
        assert settled.answer is not None
        assert settled.answer.decision == "approved"


async def test_nobody_decides_in_time(desk: Desk, clock: ManualClock) -> None:
    approval = await asked(desk, timeout_s=60)
    clock.advance(59)
    assert await desk.approvals.expire(clock.now_ns()) == 0
    clock.advance(1)
    assert await asyncio.gather(*(desk.approvals.expire(clock.now_ns()) for _ in range(3))) != [0, 0, 0]
    *_, told = await log_of(desk.journal)
    assert told == ApprovalTimedOut(approval_id=approval.approval_id, after_seconds=60)
    assert (await types_of(desk.journal)).count("approval.timed_out") == 1
    with pytest.raises(AlreadyResolved) as wrong:
        await desk.approvals.resolve(approval.approval_id, YES)
    assert wrong.value.details["decision"] == "timed_out"


async def test_whoever_waits_past_the_time_settles_it(tmp_path: Path) -> None:
    clock = SystemClock()
    async with opened(tmp_path / "journal.db") as journal:
        desk = Desk(journal, await begin(journal, tmp_path), "ask", clock=clock, data=tmp_path)
        approval = await asked(desk, timeout_s=0.05)
        settled = await asyncio.wait_for(desk.approvals.wait(approval.approval_id), 10)
        assert settled.status == "timed_out"


async def test_a_question_of_a_run_that_is_gone_falls_due_once(desk: Desk, clock: ManualClock) -> None:
    await asked(desk, timeout_s=60)
    await desk.journal.write(lambda db: db.execute("UPDATE approvals SET run_id = 'run_gone'"))
    clock.advance(60)
    assert [await desk.approvals.expire(clock.now_ns()) for _ in range(2)] == [1, 0]


async def test_a_question_may_wait_for_ever(desk: Desk, clock: ManualClock) -> None:
    approval = await asked(desk, timeout_s=None)
    clock.advance(10**7)
    assert await desk.approvals.expire(clock.now_ns()) == 0
    assert (await desk.approvals.get(approval.approval_id)).pending


async def test_an_answer_wakes_a_run_that_gave_its_worker_back(desk: Desk) -> None:
    approval = await asked(desk)
    await desk.journal.write(
        lambda db: db.execute(
            "INSERT INTO queue (run_id, task_id, state, queued_ns, workspace, workspace_mode) "
            "VALUES ('run_1', 'task_1', 'parked', 0, '/ws', 'in_place')"
        )
    )
    rung = desk.journal.bell.listen("queue", 10)
    await desk.approvals.resolve(approval.approval_id, YES)
    assert await rung
    states = await desk.journal.reader.query(lambda db: db.execute("SELECT state FROM queue").fetchall())
    assert states == [("ready",)]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(decision="denied", by="x", edited_input={"command": "ls"}),
        Answer(decision="approved", by="x", stop=True),
    ],
)
async def test_an_answer_that_contradicts_itself_is_refused(desk: Desk, answer: Answer) -> None:
    approval = await asked(desk)
    with pytest.raises(InvalidBody):
        await desk.approvals.resolve(approval.approval_id, answer)
    assert (await desk.approvals.get(approval.approval_id)).pending


@pytest.mark.parametrize("command", [f"curl -H {SECRET}", "curl -H [redacted:test]"])
async def test_an_edit_cannot_carry_a_secret_or_what_stands_for_one(desk: Desk, command: str) -> None:
    approval = await asked(desk)
    with pytest.raises(InvalidContent):
        await desk.approvals.resolve(
            approval.approval_id, Answer(decision="approved", by="x", edited_input={"command": command})
        )


async def test_secrets_of_a_call_are_kept_nowhere(desk: Desk) -> None:
    approval = await asked(desk, f"curl -u me:{SECRET} x")
    assert SECRET not in str(approval.body)
    assert approval.body.proposed_rule is None
    settled, _ = await desk.approvals.resolve(approval.approval_id, Answer(decision="approved", by="x", scope="always"))
    assert settled.grant_id is None
    *_, told = await log_of(desk.journal)
    assert isinstance(told, ApprovalResolved)
    assert told.scope == "once"
    dump = await desk.journal.reader.query(lambda db: repr(db.execute("SELECT * FROM approvals").fetchall()))
    assert SECRET not in dump


async def test_an_answer_for_longer_makes_a_grant_with_it(desk: Desk) -> None:
    approval = await asked(desk, "git status")
    settled, _ = await desk.approvals.resolve(approval.approval_id, Answer(decision="approved", by="ann", scope="task"))
    (grant,) = await desk.grants.list()
    assert (grant.grant_id, grant.scope, grant.scope_id) == (settled.grant_id, "task", "task_1")
    assert (grant.made_by, grant.approval_id) == ("ann", approval.approval_id)
    *_, told = await log_of(desk.journal)
    assert isinstance(told, ApprovalResolved)
    assert told.scope == "task"


async def test_a_denial_grants_nothing(desk: Desk) -> None:
    approval = await asked(desk, "git status")
    await desk.approvals.resolve(approval.approval_id, Answer(decision="denied", by="ann", scope="always"))
    assert await desk.grants.list() == []


class _Edits:
    """Takes what is text and lets nothing be removed."""

    async def read(self, approval: Approval, edited: object) -> ToolAsk | None:  # noqa: ARG002 - the Protocol's
        assert isinstance(edited, dict)
        if not isinstance(edited.get("command"), str):
            raise InvalidBody("edited_input: command is not text")
        if "rm" in edited["command"]:
            raise EditDenied("no removing")
        return shell(edited["command"])


async def test_an_edit_is_looked_at_before_it_is_taken_and_a_grant_is_for_the_edit(
    desk: Desk, clock: ManualClock
) -> None:
    approvals = Approvals(journal=desk.journal, clock=clock, ids=ids_of(clock), edits=_Edits())
    approval = await asked(desk, "git push")

    def edit(command: object) -> Answer:
        return Answer(decision="approved", by="ann", scope="task", edited_input={"command": command})

    with pytest.raises(InvalidBody):
        await approvals.resolve(approval.approval_id, edit(7))
    with pytest.raises(EditDenied):
        await approvals.resolve(approval.approval_id, edit("rm x"))
    await approvals.resolve(approval.approval_id, edit("git status"))
    (grant,) = await desk.grants.list()
    assert grant.rule.argv is not None
    assert grant.rule.argv[0].argv == ["git", "status"]


async def test_an_edit_of_an_unknown_tool_is_good_for_once_only(desk: Desk) -> None:
    approval = await asked(desk, "git status")
    answer = Answer(decision="approved", by="ann", scope="always", edited_input={"command": "git push"})
    settled, _ = await desk.approvals.resolve(approval.approval_id, answer)
    assert settled.grant_id is None


async def test_what_waits_in_a_run_is_denied_with_the_event_that_ends_it(desk: Desk) -> None:
    one, other = await asked(desk, "make a"), await asked(desk, "make b", call="call_2")
    payloads, effect = await desk.approvals.closing("run_1", by="ann", comment="run cancelled")
    await desk.approvals.resolve(one.approval_id, YES)
    cancelled = RunCancelled(by="ann", reason="")
    with pytest.raises(Exception, match="faster"):
        await desk.journal.append_all("run_1", [*payloads, cancelled], also=effect)
    payloads, effect = await desk.approvals.closing("run_1", by="ann", comment="run cancelled")
    await desk.journal.append_all("run_1", [*payloads, cancelled], also=effect)
    assert await types_of(desk.journal) == [
        "approval.requested",
        "approval.requested",
        "approval.resolved",
        "approval.resolved",
        "run.cancelled",
    ]
    assert (await desk.approvals.get(other.approval_id)).status == "denied"


async def test_approvals_are_listed_by_what_is_asked_for(desk: Desk) -> None:
    several = [await asked(desk, f"make {number}", call=f"call_{number}") for number in range(5)]
    await desk.approvals.resolve(several[0].approval_id, YES)
    page = await desk.approvals.list(ApprovalFilter(status="pending", task_id="task_1"), None, 3)
    assert [one.approval_id for one in page.approvals] == [one.approval_id for one in reversed(several[2:])]
    rest = await desk.approvals.list(ApprovalFilter(status="pending", run_id="run_1"), page.next_cursor, 3)
    assert [one.approval_id for one in rest.approvals] == [several[1].approval_id]
    assert rest.next_cursor is None
    assert (await desk.approvals.list(ApprovalFilter(run_id="run_2"), None, 3)).approvals == []


async def test_an_approval_that_is_not_there_is_not_found(desk: Desk) -> None:
    with pytest.raises(ApprovalNotFound):
        await desk.approvals.resolve("appr_none", YES)
