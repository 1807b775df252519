"""Codex: what its server asks to be allowed, and what comes of the answer."""

import json

import pytest

from runwire.agents.dialect import Question, Reply
from runwire.host import Answer, Finished
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand
from runwire.protocol.events.tool import ToolInvoked
from tests.agents.codex_streams import (
    COMPLETED,
    STARTED,
    Frame,
    approval_frame,
    command_frame,
    get_ready,
    hear,
    new_speaker,
    note,
    raw_of,
    sent_by,
    told_of,
)
from tests.agents.transcripts import watched


def test_a_call_begins_when_it_was_allowed() -> None:
    items, _ = told_of(
        STARTED,
        command_frame("started"),
        approval_frame(),
        note("serverRequest/resolved", requestId=0),
        note("thread/status/changed", status={"type": "active", "activeFlags": []}),
        command_frame("completed", status="completed", aggregatedOutput="", exitCode=0),
        COMPLETED,
    )
    order = [type(item) for item in items if isinstance(item, (ApprovalRequested, ApprovalResolved, ShellCommand))]
    assert order == [ApprovalRequested, ApprovalResolved, ShellCommand]
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["approved"]


def test_a_call_that_was_declined_never_began() -> None:
    items, outcome = told_of(
        STARTED,
        command_frame("started"),
        approval_frame(),
        note("serverRequest/resolved", requestId=0),
        command_frame("completed", status="declined"),
        COMPLETED,
    )
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["denied"]
    assert [item.tool_call_id for item in items if isinstance(item, PolicyToolBlocked)] == ["c1"]
    assert not [item for item in items if isinstance(item, ToolInvoked)]
    assert isinstance(outcome, Finished)


def test_the_name_of_a_declined_call_may_come_again() -> None:
    items, _ = told_of(
        STARTED,
        command_frame("started"),
        approval_frame(),
        command_frame("completed", status="declined"),
        command_frame("started", processId="7"),
        command_frame("completed", status="completed", exitCode=0),
        COMPLETED,
    )
    assert [item.tool_call_id for item in items if isinstance(item, ToolInvoked)] == ["c1~2"]


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (Answer(allowed=True, input={}), "accept"),
        (Answer(allowed=True, input={}, scope="always"), "accept"),
        (Answer(allowed=False, input={}), "decline"),
        (Answer(allowed=False, input={}, stop=True), "cancel"),
    ],
)
def test_a_question_is_answered_in_its_own_words(answer: Answer, decision: str) -> None:
    speaker = new_speaker()
    get_ready(speaker)
    speaker.prompt("do it")
    hear(speaker, STARTED, command_frame("started"), approval_frame(request_id=0))
    questions = [item for item in speaker.teller.take() if isinstance(item, Question)]
    assert [(one.question_id, one.tool_call_id, one.argv_text, one.reason) for one in questions] == [
        ("0", "c1", "make", "it writes")
    ]
    assert questions[0].effects == {"executes"}
    speaker.answer("0", answer)
    told = speaker.teller.take()
    assert [json.loads(item.data) for item in told if isinstance(item, Reply)] == [
        {"id": 0, "result": {"decision": decision}}
    ]
    assert bool([item for item in told if isinstance(item, ToolInvoked)]) is answer.allowed
    assert not speaker.teller.questions
    speaker.answer("0", answer)
    speaker.answer("9", answer)
    assert len(sent_by(speaker)) == 0


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("/bin/bash -lc 'git push && rm -rf x'", "git push && rm -rf x"),
        ('/usr/bin/zsh -lc "echo \'it\\"s\'"', "echo 'it\"s'"),
        ("bash -c 'ls' extra", "bash -c 'ls' extra"),
        ("/opt/tool -c 'ls'", "/opt/tool -c 'ls'"),
        ("bash -lc 'open", "bash -lc 'open"),
    ],
)
def test_rules_and_grants_see_the_script_that_a_shell_is_given(command: str, script: str) -> None:
    speaker = new_speaker()
    get_ready(speaker)
    speaker.prompt("do it")
    params = {"threadId": "t", "itemId": "c1", "command": command}
    hear(speaker, STARTED, {"id": 0, "method": "item/commandExecution/requestApproval", "params": params})
    (question,) = [item for item in speaker.teller.take() if isinstance(item, Question)]
    assert (question.argv_text, question.summary) == (script, command)


def test_what_we_declined_does_not_begin_whatever_comes_next() -> None:
    speaker = new_speaker()
    get_ready(speaker)
    speaker.prompt("do it")
    hear(speaker, STARTED, command_frame("started"), approval_frame())
    speaker.answer("0", Answer(allowed=False, input={}, told="not here", policy_id="approval:1"))
    active = note("thread/status/changed", status={"type": "active", "activeFlags": []})
    hear(speaker, note("serverRequest/resolved", requestId=0), active, command_frame("completed", status="declined"))
    told = speaker.teller.take()
    assert not [item for item in told if isinstance(item, ToolInvoked)]
    blocked = [item for item in told if isinstance(item, PolicyToolBlocked)]
    assert [(item.reason, item.policy_id) for item in blocked] == [("not here", "approval:1")]


def test_the_pane_waits_no_longer_once_a_request_is_resolved() -> None:
    asked: Frame = {**note("item/commandExecution/requestApproval", itemId="c1", command="make"), "id": 0}
    resolved = note("serverRequest/resolved", requestId=0)
    frames = [STARTED, command_frame("started"), asked, resolved]
    assert [state for _, state in watched("codex", raw_of(frames))] == ["working", "working", "blocked", "working"]
