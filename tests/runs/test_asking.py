"""Calls that another agent asks about: who decides, what is stored, and what the agent is told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from runwire.clock import SystemClock
from runwire.host import Answer, ToolAsk, ToolInputInvalid
from runwire.journal.journal import Journal
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.runs import approval
from runwire.runs.approval import ApprovalFilter
from runwire.runs.hosting import Held
from tests.patience import PATIENCE_S
from tests.runs.deciding import Desk, begin, held_again, log_of, opened, shell, tool, types_of

Opened = Callable[..., Desk]
ASKED = ["approval.requested", "approval.resolved"]


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with opened(tmp_path / "journal.db") as journal:
        yield journal


@pytest.fixture
async def held(journal: Journal, tmp_path: Path) -> Held:
    return await begin(journal, tmp_path, agent="claude")


@pytest.fixture
def desk(journal: Journal, held: Held, tmp_path: Path) -> Opened:
    def opening(policy: object = "ask", **more: object) -> Desk:
        return Desk(journal, held, policy, clock=SystemClock(), data=tmp_path / "data", **more)

    return opening


def insisting(command: str = "make", *, call: str = "call_1") -> ToolAsk:
    """A command that the agent itself asks about."""
    return replace(shell(command, call=call), insists=True)


def choice(*choices: str) -> ToolAsk:
    """A question with choices, which is no call at all."""

    def recheck(given: Mapping[str, object]) -> ToolAsk:
        if given.get("choice") not in choices:
            raise ToolInputInvalid(f"choice: is none of {', '.join(choices)}")
        return replace(question, input=given)

    question = replace(
        tool("ask_user"), input={"choices": list(choices)}, kind="question", needs_person=True, recheck=recheck
    )
    return question


async def asked(desk: Desk, ask: ToolAsk) -> Answer:
    return await asyncio.wait_for(desk.permits.ask(desk.held, ask, desk.emit), 20)


async def answered(desk: Desk, ask: ToolAsk, answer: approval.Answer) -> Answer:
    """What comes of a question that somebody answers as soon as it is asked."""
    async with asyncio.timeout(PATIENCE_S):
        waiting = asyncio.create_task(asked(desk, ask))
        await desk.approvals.resolve(await pending(desk), answer)
        return await waiting


async def pending(desk: Desk) -> str:
    while True:
        rung = desk.journal.bell.listen("run_1", 10)
        page = await desk.approvals.list(ApprovalFilter(status="pending"), None, 1)
        if page.approvals:
            rung.cancel()
            return page.approvals[0].approval_id
        await rung


def yes(**more: object) -> approval.Answer:
    return approval.Answer(**{"decision": "approved", "by": "ann", **more})  # type: ignore[arg-type] # the test names fields that there are


def no(**more: object) -> approval.Answer:
    return yes(decision="denied", **more)


async def test_what_policy_allows_is_allowed_without_a_word(desk: Opened, journal: Journal) -> None:
    answer = await asked(desk("default"), shell("make"))
    assert answer == Answer(allowed=True, input={"command": "make"}, by="policy", policy_id="preset:default")
    assert await types_of(journal) == []


async def test_what_policy_denies_is_denied_without_a_word_and_the_agent_is_told_why(
    desk: Opened, journal: Journal
) -> None:
    policy = {"rules": [{"id": "no-rm", "action": "deny", "argv": ["rm *"], "reason": "nothing is removed here"}]}
    answer = await asked(desk(policy), insisting("rm x"))
    assert (answer.allowed, answer.told, answer.policy_id) == (False, "nothing is removed here", "rule:no-rm")
    assert await types_of(journal) == []


@pytest.mark.parametrize(
    "policy", ["default", {"effects": {"executes": "allow"}}, {"default": "ask", "reads": "allow"}]
)
async def test_what_is_merely_not_forbidden_is_asked_about_when_the_agent_insists(
    desk: Opened, journal: Journal, policy: object
) -> None:
    answer = await answered(desk(policy), insisting(), yes())
    assert (answer.allowed, answer.by) == (True, "ann")
    assert await types_of(journal) == ASKED


@pytest.mark.parametrize(
    "policy",
    [
        "trust",
        "allow",
        {"shell_exec": "allow"},
        {"rules": [{"action": "allow", "argv": ["make"]}]},
        {"reads": "allow", "writes": "allow", "executes": "allow"},
    ],
)
async def test_what_somebody_allowed_by_name_is_allowed_also_when_the_agent_insists(
    desk: Opened, journal: Journal, policy: object
) -> None:
    assert (await asked(desk(policy), insisting())).by == "policy"
    assert await types_of(journal) == []


async def test_an_approval_is_told_and_nothing_else(desk: Opened, journal: Journal) -> None:
    answer = await answered(desk(), shell("make"), yes())
    requested, resolved = await log_of(journal)
    assert isinstance(requested, ApprovalRequested)
    assert isinstance(resolved, ApprovalResolved)
    assert (requested.kind, requested.summary, requested.tool_call_id) == ("shell_exec", "make", "call_1")
    assert answer == Answer(
        allowed=True, input={"command": "make"}, by="ann", policy_id=f"approval:{requested.approval_id}"
    )


async def test_an_edit_is_what_the_agent_gets(desk: Opened, journal: Journal) -> None:
    answer = await answered(desk(), shell("make"), yes(edited_input={"command": "make -n"}))
    assert (answer.allowed, answer.edited, answer.input) == (True, True, {"command": "make -n"})
    assert await types_of(journal) == ASKED


async def test_an_edit_into_what_policy_denies_is_a_denial(desk: Opened) -> None:
    answer = await answered(desk(), shell("make"), yes(edited_input={"command": "rm -rf /"}))
    assert not answer.allowed
    assert "not allowed" in answer.told


async def test_a_denial_carries_the_comment_and_may_end_the_run(desk: Opened, journal: Journal) -> None:
    answer = await answered(desk(), shell("make"), no(comment="use ninja", stop=True))
    assert (answer.allowed, answer.told, answer.stop, answer.by) == (False, "denied: use ninja", True, "ann")
    assert await types_of(journal) == ASKED


async def test_what_nobody_decides_is_denied_by_the_system(desk: Opened, journal: Journal) -> None:
    answer = await asked(desk(approval_timeout_s=0.05), shell("make"))
    assert (answer.allowed, answer.by) == (False, "system")
    assert await types_of(journal) == ["approval.requested", "approval.timed_out"]


async def test_a_grant_answers_the_next_question_and_only_this_agents(
    desk: Opened, journal: Journal, tmp_path: Path
) -> None:
    one = desk("default")
    first = await answered(one, insisting("make all"), yes(scope="always"))
    assert first.scope == "always"
    again = await asked(one, insisting("make all", call="call_2"))
    assert (again.allowed, again.scope) == (True, "always")
    assert again.by.startswith("grant:perm_")
    assert await types_of(journal) == ASKED * 2
    other = Desk(
        journal,
        await begin(journal, tmp_path, run_id="run_2", agent="codex"),
        "default",
        clock=SystemClock(),
        data=tmp_path / "data",
        approval_timeout_s=0.05,
    )
    assert not (await asked(other, insisting("make all"))).allowed


async def test_only_a_person_answers_a_choice(desk: Opened, journal: Journal) -> None:
    one = desk({"default": "trust", "rules": [{"action": "allow", "tools": ["*"]}]})
    answer = await answered(one, choice("red", "blue"), yes(scope="always", edited_input={"choice": "blue"}))
    assert (answer.allowed, answer.edited, answer.input, answer.scope) == (True, True, {"choice": "blue"}, "once")
    assert await one.grants.list() == []
    assert await types_of(journal) == ASKED


async def test_an_answer_that_is_none_of_the_choices_is_a_denial(desk: Opened) -> None:
    answer = await answered(desk(), choice("red", "blue"), yes(edited_input={"choice": "green"}))
    assert not answer.allowed
    assert "red, blue" in answer.told


async def test_a_question_that_is_approved_without_an_answer_leaves_the_choice_to_the_agent(desk: Opened) -> None:
    answer = await answered(desk(), choice("red", "blue"), yes())
    assert (answer.allowed, answer.edited) == (True, False)


async def test_where_everything_is_denied_nobody_is_asked(desk: Opened, journal: Journal) -> None:
    assert not (await asked(desk("deny"), choice("red", "blue"))).allowed
    assert await types_of(journal) == []


async def test_a_question_of_an_earlier_worker_is_taken_up_again(
    desk: Opened, journal: Journal, tmp_path: Path
) -> None:
    one = desk()
    waiting = asyncio.create_task(asked(one, shell("make")))
    question = await pending(one)
    waiting.cancel()
    later = desk()
    later.held = await held_again(journal, one.held.task, tmp_path, "run_1")
    answer = await answered(later, shell("make"), yes())
    assert answer.policy_id == f"approval:{question}"
    assert await types_of(journal) == ASKED


async def test_an_answer_that_came_while_nobody_worked_is_used(desk: Opened, journal: Journal, tmp_path: Path) -> None:
    one = desk()
    waiting = asyncio.create_task(asked(one, shell("make")))
    question = await pending(one)
    waiting.cancel()
    await one.approvals.resolve(question, no(comment="not now"))
    later = desk()
    later.held = await held_again(journal, one.held.task, tmp_path, "run_1")
    assert (await asked(later, shell("make"))).told == "denied: not now"
    assert await types_of(journal) == ASKED


async def test_an_agent_that_asks_twice_in_the_same_words_is_answered_twice(desk: Opened, journal: Journal) -> None:
    one = desk()
    assert (await answered(one, shell("make"), yes())).allowed
    assert not (await answered(one, shell("make"), no())).allowed
    assert await types_of(journal) == ASKED * 2
