"""What a run of a real AgentOS can wait for beside a confirmation, and teams and workflows, whose runs wait in other words."""

import pytest

from tests.gateway.serving import error_of
from tests.real.agno_driven import Driven

pytestmark = pytest.mark.asyncio(loop_scope="module")


# Teams and workflows.

WHO = [
    ("office", "create leader-{}", "leader-{}"),
    ("office", "delegate create member-{}", "member-{}"),
    ("process", "create step-{}", "step-{}"),
]
every_one = pytest.mark.parametrize(("who", "prompt", "title"), WHO, ids=["leader", "member", "step"])


@every_one
async def test_a_call_that_was_approved_is_made_once(driven: Driven, who: str, prompt: str, title: str) -> None:
    title = title.format("yes")
    run_id = await driven.start(prompt.format("yes"), who)
    question = await driven.question(run_id)
    assert (question["tool_name"], question["input"]) == ("create_document", {"title": title})
    assert driven.made(title) == []
    await driven.answer(question)
    if who == "process":
        await driven.answer(await driven.question(run_id))
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert driven.made(title)[0] == f"create_document {title}"
    assert driven.agno.executions().count(f"create_document {title}") == 1
    (made,) = [one for one in told.of("tool.completed") if one["tool_name"] == "create_document"]
    assert made["tool_call_id"] == "call_create"
    assert told.texts


@every_one
async def test_a_call_that_was_denied_is_never_made(driven: Driven, who: str, prompt: str, title: str) -> None:
    run_id = await driven.start(prompt.format("no"), who)
    await driven.answer(await driven.question(run_id), "denied", comment="not here")
    if who == "process":
        await driven.answer(await driven.question(run_id))
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert f"create_document {title.format('no')}" not in driven.agno.executions()
    assert [one["tool_name"] for one in told.of("policy.tool_blocked")] == ["create_document"]
    assert "create_document" not in [one["tool_name"] for one in told.of("tool.invoked")]


@pytest.mark.parametrize(("decision", "said"), [("approved", "Published."), ("denied", "Hello from Agno.")])
async def test_a_step_itself_is_asked_about(driven: Driven, decision: str, said: str) -> None:
    run_id = await driven.start(f"reviewed-{decision}", "process")
    question = await driven.question(run_id)
    assert (question["kind"], question["summary"]) == ("step", "Publish it?")
    assert question["effects"] == ["executes", "network", "writes"]
    assert driven.made(f"reviewed-{decision}") == []
    edited = await driven.resolve(question, {"decision": "approved", "edited_input": {"step_name": "another"}})
    assert (edited.status_code, error_of(edited)["code"]) == (422, "edit_denied")
    await driven.answer(question, decision)
    told = await driven.end(run_id)
    assert (told.last["type"], told.texts[-1]) == ("run.finished", said)
    published = [f"publish reviewed-{decision}"]
    assert driven.made(f"reviewed-{decision}") == (published if decision == "approved" else [])


async def test_a_step_that_is_done_again_is_asked_about_again(driven: Driven) -> None:
    run_id = await driven.start("hello", "drafting")
    first = await driven.question(run_id)
    assert (first["summary"], first["effects"]) == ("Is it good?", [])
    await driven.answer(first, "denied", comment="say more")
    second = await driven.question(run_id)
    assert second["input"]["retry_count"] == 1
    await driven.answer(second)
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert [one["decision"] for one in told.of("approval.resolved")] == ["denied", "approved"]


# Other questions than whether a call may be made.


async def test_what_only_a_person_knows_is_filled_in(driven: Driven) -> None:
    run_id = await driven.start("send greetings")
    question = await driven.question(run_id)
    assert question["tool_name"] == "send_mail"
    await driven.answer(question, edited_input={"value": "ann@example.org"})
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert driven.made("ann@example.org") == ["send_mail greetings ann@example.org"]
    (sent,) = told.of("tool.completed")
    assert sent["output"] == "sent to ann@example.org"


async def test_an_answer_that_does_not_fit_is_asked_for_again_and_never_sent(driven: Driven) -> None:
    run_id = await driven.start("send thrice")
    await driven.answer(await driven.question(run_id))
    again = await driven.question(run_id)
    assert again["summary"].startswith("call_send: to is not filled in")
    await driven.answer(again, edited_input={"value": '{"nobody": "asked"}'})
    last = await driven.question(run_id)
    assert last["summary"].startswith("call_send: it asks for no 'nobody'")
    await driven.answer(last, edited_input={"value": "carl"})
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert driven.made("carl") == ["send_mail thrice carl"]
    assert len(told.of("approval.resolved")) == 3


async def test_who_gives_no_answer_that_fits_ends_the_run(driven: Driven) -> None:
    run_id = await driven.start("send never")
    for _ in range(3):
        await driven.answer(await driven.question(run_id))
    told = await driven.end(run_id)
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "answer_refused")
    assert not [line for line in driven.agno.executions() if line.startswith("send_mail never")]


async def test_many_things_are_filled_in_by_name(driven: Driven) -> None:
    run_id = await driven.start("send named")
    value = '{"to": "bob", "subject": "another"}'
    await driven.answer(await driven.question(run_id), edited_input={"value": value})
    assert (await driven.end(run_id)).last["type"] == "run.finished"
    assert driven.made("bob") == ["send_mail another bob"]


async def test_what_cannot_be_refused_ends_the_run_when_it_is(driven: Driven) -> None:
    run_id = await driven.start("send nothing")
    await driven.answer(await driven.question(run_id), "denied", comment="I know nobody")
    told = await driven.end(run_id)
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "approval_denied")
    assert not [line for line in driven.agno.executions() if line.startswith("send_mail nothing")]


async def test_a_person_chooses(driven: Driven) -> None:
    run_id = await driven.start("choose")
    await driven.answer(await driven.question(run_id), edited_input={"value": "green"})
    again = await driven.question(run_id)
    assert again["summary"].startswith("call_choose: 'green' is none of blue, red")
    await driven.answer(again, edited_input={"value": "blue"})
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    (chosen,) = told.of("tool.completed")
    assert chosen["tool_name"] == "ask_user"


async def test_what_is_done_elsewhere_is_told_with_its_result(driven: Driven) -> None:
    run_id = await driven.start("remote elsewhere")
    await driven.answer(await driven.question(run_id), edited_input={"value": "it worked"})
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert driven.made("elsewhere") == []
    assert [one["tool_name"] for one in told.of("tool.completed")] == ["run_elsewhere"]


async def test_what_was_not_done_elsewhere_is_said_not_to_be(driven: Driven) -> None:
    run_id = await driven.start("remote undone")
    await driven.answer(await driven.question(run_id), "denied", comment="nobody is there")
    told = await driven.end(run_id)
    assert told.last["type"] == "run.finished"
    assert told.of("tool.completed") == []
    assert [one["tool_name"] for one in told.of("policy.tool_blocked")] == ["run_elsewhere"]
