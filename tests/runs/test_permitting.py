"""The way of a call from wish to start, as the log tells it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from runwire.clock import SystemClock
from runwire.host import Go, No, ToolAsk, Verdict
from runwire.journal.journal import Journal
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.tool import ToolStarted
from runwire.runs.approval import Answer, ApprovalFilter
from runwire.runs.hosting import Held
from tests.patience import PATIENCE_S
from tests.runs.deciding import Desk, begin, held_again, log_of, opened, shell, tool, types_of

Opened = Callable[..., Desk]


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with opened(tmp_path / "journal.db") as journal:
        yield journal


@pytest.fixture
async def held(journal: Journal, tmp_path: Path) -> Held:
    return await begin(journal, tmp_path)


@pytest.fixture
def desk(journal: Journal, held: Held, tmp_path: Path) -> Opened:
    def opening(policy: object = "ask", **more: object) -> Desk:
        clock = SystemClock()
        return Desk(journal, held, policy, clock=clock, data=tmp_path / "data", **more)

    return opening


async def permitted(desk: Desk, ask: ToolAsk) -> Verdict:
    return await asyncio.wait_for(desk.permits.permit(desk.held, ask, desk.emit), 20)


async def answered(desk: Desk, ask: ToolAsk, answer: Answer) -> Verdict:
    """What becomes of a call about which somebody gives this answer as soon as it is asked."""
    async with asyncio.timeout(PATIENCE_S):
        waiting = asyncio.create_task(permitted(desk, ask))
        await desk.approvals.resolve(await pending(desk), answer)
        return await waiting


async def pending(desk: Desk) -> str:
    """The id of the question that waits, once there is one."""
    while True:
        rung = desk.journal.bell.listen("run_1", 10)
        page = await desk.approvals.list(ApprovalFilter(status="pending"), None, 1)
        if page.approvals:
            rung.cancel()
            return page.approvals[0].approval_id
        await rung


async def test_an_allowed_call_begins(desk: Opened, journal: Journal) -> None:
    ask = shell("make")
    assert await permitted(desk("default"), ask) == Go({"command": "make"}, None)
    assert await types_of(journal) == ["tool.invoked", "tool.started"]


async def test_a_call_that_only_reads_does_not_wait_for_the_disk(desk: Opened, journal: Journal) -> None:
    one = desk("default")
    assert isinstance(await permitted(one, tool("file_read", "reads", paths=["a"])), Go)
    await one.emit()
    assert await types_of(journal) == ["tool.invoked", "tool.started"]


async def test_a_denied_call_is_blocked_and_the_model_is_told_why(desk: Opened, journal: Journal) -> None:
    policy = {"rules": [{"id": "no-rm", "action": "deny", "argv": ["rm *"], "reason": "nothing is removed here"}]}
    assert await permitted(desk(policy), shell("ls; rm x")) == No("nothing is removed here")
    (told,) = await log_of(journal)
    assert isinstance(told, PolicyToolBlocked)
    assert (told.reason, told.policy_id) == ("nothing is removed here", "rule:no-rm")


async def test_a_blocked_call_to_a_server_says_so(desk: Opened, journal: Journal) -> None:
    ask = replace(tool("mcp__a__b", "network"), mcp_server="a", mcp_tool="b")
    assert isinstance(await permitted(desk("read_only"), ask), No)
    (told,) = await log_of(journal)
    assert isinstance(told, PolicyToolBlocked)
    assert (told.mcp_server, told.mcp_tool, told.result) == ("a", "b", "blocked")


async def test_an_approved_call_begins(desk: Opened, journal: Journal) -> None:
    assert await answered(desk(), shell("make"), Answer(decision="approved", by="ann")) == Go({"command": "make"}, None)
    assert await types_of(journal) == ["approval.requested", "approval.resolved", "tool.invoked", "tool.started"]


async def test_a_denied_question_lets_the_model_go_on_with_the_comment(desk: Opened, journal: Journal) -> None:
    verdict = await answered(desk(), shell("make"), Answer(decision="denied", by="ann", comment="use ninja"))
    assert verdict == No("denied: use ninja")
    *_, told = await log_of(journal)
    assert isinstance(told, PolicyToolBlocked)
    assert told.reason == "denied: use ninja"
    assert str(told.policy_id).startswith("approval:appr_")
    assert await types_of(journal) == ["approval.requested", "approval.resolved", "policy.tool_blocked"]


async def test_a_denial_can_stop_the_run(desk: Opened, journal: Journal) -> None:
    assert await answered(desk(), shell("make"), Answer(decision="denied", by="ann", stop=True)) == No(
        "denied by ann", stop=True
    )
    resolved = [one for one in await log_of(journal) if isinstance(one, ApprovalResolved)]
    assert resolved[0].stop is True


async def test_an_edited_call_begins_as_it_was_edited(desk: Opened, journal: Journal) -> None:
    edit = Answer(decision="approved", by="ann", edited_input={"command": "make -n"})
    assert await answered(desk(), shell("make"), edit) == Go({"command": "make -n"}, "ann")
    *_, told = await log_of(journal)
    assert isinstance(told, ToolStarted)
    assert (told.input, told.changed_by) == ({"command": "make -n"}, "ann")


async def test_an_edit_into_what_policy_denies_is_blocked(desk: Opened, journal: Journal) -> None:
    edit = Answer(decision="approved", by="ann", edited_input={"command": "rm -rf /"})
    verdict = await answered(desk(), shell("make"), edit)
    assert isinstance(verdict, No)
    assert await types_of(journal) == ["approval.requested", "approval.resolved", "policy.tool_blocked"]


async def test_an_edit_that_does_not_fit_the_tool_is_blocked(desk: Opened) -> None:
    verdict = await answered(desk(), shell("make"), Answer(decision="approved", by="ann", edited_input={"command": 7}))
    assert isinstance(verdict, No)
    assert "command" in verdict.told


async def test_a_question_that_nobody_answers_is_a_denial(desk: Opened, journal: Journal) -> None:
    verdict = await permitted(desk(approval_timeout_s=0.05), shell("make"))
    assert isinstance(verdict, No)
    assert verdict.told.startswith("nobody decided in ")
    assert await types_of(journal) == ["approval.requested", "approval.timed_out", "policy.tool_blocked"]


async def test_calls_that_are_the_same_wait_for_one_answer_and_each_begins(desk: Opened, journal: Journal) -> None:
    one = desk()
    both = [asyncio.create_task(permitted(one, shell("make", call=call))) for call in ("call_1", "call_2")]
    approval_id = await pending(one)
    while len((await one.approvals.get(approval_id)).body.tool_call_ids) < 2:
        await asyncio.sleep(0.01)
    await one.approvals.resolve(approval_id, Answer(decision="approved", by="ann"))
    assert all(isinstance(verdict, Go) for verdict in await asyncio.gather(*both))
    types = await types_of(journal)
    assert (types.count("approval.requested"), types.count("tool.started")) == (1, 2)


async def test_an_answer_is_good_for_one_call_only(desk: Opened, journal: Journal) -> None:
    one = desk()
    await answered(one, shell("make", call="call_1"), Answer(decision="approved", by="ann"))
    await answered(one, shell("make", call="call_2"), Answer(decision="approved", by="ann"))
    assert (await types_of(journal)).count("approval.requested") == 2


async def test_a_grant_answers_at_once_and_that_is_told_like_an_approval(desk: Opened, journal: Journal) -> None:
    one = desk()
    await answered(one, shell("git status"), Answer(decision="approved", by="ann", scope="session"))
    (grant,) = await one.grants.list()
    assert await permitted(one, shell("git status -s", call="call_3")) == Go({"command": "git status -s"}, None)
    *_, asked, resolved, _, _ = await log_of(journal)
    assert isinstance(asked, ApprovalRequested)
    assert isinstance(resolved, ApprovalResolved)
    assert asked.approval_id == resolved.approval_id
    assert (resolved.by, resolved.scope, resolved.decision) == (f"grant:{grant.grant_id}", "session", "approved")
    (grant,) = await one.grants.list()
    assert grant.used == 1


async def test_a_grant_never_lifts_a_denial(desk: Opened) -> None:
    await answered(desk(), shell("git status"), Answer(decision="approved", by="ann", scope="always"))
    policy = {"default": "ask", "rules": [{"action": "deny", "argv": ["git status*"]}]}
    assert isinstance(await permitted(desk(policy), shell("git status", call="call_2")), No)


async def test_a_revoked_grant_asks_again(desk: Opened, journal: Journal) -> None:
    one = desk()
    await answered(one, shell("git status"), Answer(decision="approved", by="ann", scope="always"))
    (grant,) = await one.grants.list()
    await one.grants.revoke(grant.grant_id)
    await answered(one, shell("git status", call="call_2"), Answer(decision="approved", by="ann"))
    assert (await types_of(journal)).count("approval.requested") == 2


async def test_a_command_beside_a_granted_one_is_asked_about(desk: Opened) -> None:
    one = desk()
    await answered(one, shell("git status"), Answer(decision="approved", by="ann", scope="always"))
    verdict = await answered(one, shell("git status && rm x", call="call_2"), Answer(decision="denied", by="ann"))
    assert isinstance(verdict, No)


async def test_a_command_beside_a_granted_one_may_be_allowed_by_a_rule(desk: Opened) -> None:
    one = desk({"default": "ask", "rules": [{"action": "allow", "argv": ["true"]}]})
    await answered(one, shell("git status"), Answer(decision="approved", by="ann", scope="always"))
    assert isinstance(await permitted(one, shell("true && git status", call="call_2")), Go)


async def again(one: Desk, policy: object, tmp_path: Path) -> Desk:
    """Another worker, which takes the run up after a restart."""
    held = await held_again(one.journal, one.held.task, one.held.workspace, "run_1")
    return Desk(one.journal, held, policy, clock=SystemClock(), data=tmp_path / "data")


async def interrupted(one: Desk, ask: ToolAsk) -> str:
    """Ask, and lose the worker while the question waits."""
    waiting = asyncio.create_task(permitted(one, ask))
    approval_id = await pending(one)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    return approval_id


async def test_after_a_restart_the_question_that_waits_is_not_asked_again(
    desk: Opened, journal: Journal, tmp_path: Path
) -> None:
    await interrupted(desk(), shell("make"))
    other = await again(desk(), "ask", tmp_path)
    assert isinstance(await answered(other, shell("make"), Answer(decision="approved", by="ann")), Go)
    assert await types_of(journal) == ["approval.requested", "approval.resolved", "tool.invoked", "tool.started"]


async def test_an_answer_given_while_no_worker_was_there_is_found(
    desk: Opened, journal: Journal, tmp_path: Path
) -> None:
    one = desk()
    approval_id = await interrupted(one, shell("make"))
    await one.approvals.resolve(approval_id, Answer(decision="approved", by="ann"))
    assert isinstance(await permitted(await again(one, "ask", tmp_path), shell("make")), Go)
    assert (await types_of(journal)).count("approval.requested") == 1


async def test_an_answer_is_bound_to_the_exact_call(desk: Opened, journal: Journal, tmp_path: Path) -> None:
    one = desk()
    approval_id = await interrupted(one, shell("make"))
    await one.approvals.resolve(approval_id, Answer(decision="approved", by="ann"))
    other = await again(one, "ask", tmp_path)
    assert isinstance(await answered(other, shell("make all"), Answer(decision="denied", by="ann")), No)
    assert (await types_of(journal)).count("approval.requested") == 2


async def test_a_question_about_a_call_that_has_changed_is_withdrawn(
    desk: Opened, journal: Journal, tmp_path: Path
) -> None:
    one = desk()
    await interrupted(one, shell("make"))
    other = await again(one, "ask", tmp_path)
    waiting = asyncio.create_task(permitted(other, shell("make all")))
    while len(await types_of(journal)) < 3:
        await journal.bell.wait("run_1", 1)
    await other.approvals.resolve(await pending(other), Answer(decision="approved", by="ann"))
    assert isinstance(await waiting, Go)
    resolved = [one for one in await log_of(journal) if isinstance(one, ApprovalResolved)]
    assert [(one.decision, one.by) for one in resolved] == [("denied", "system"), ("approved", "ann")]


@pytest.mark.parametrize("policy", ["trust", "read_only"])
async def test_a_question_that_policy_answers_by_now_is_withdrawn(
    desk: Opened, journal: Journal, tmp_path: Path, policy: str
) -> None:
    one = desk()
    await interrupted(one, shell("make"))
    await permitted(await again(one, policy, tmp_path), shell("make"))
    assert (await types_of(journal))[:2] == ["approval.requested", "approval.resolved"]
    assert (await one.approvals.list(ApprovalFilter(status="pending"), None, 5)).approvals == []
