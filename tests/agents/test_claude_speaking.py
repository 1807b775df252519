"""What is said to Claude Code."""

import json

import pytest

from runwire.agents.claude.dialect import ClaudeDialect
from runwire.agents.dialect import Cancelled, Image, Question, Reply, Telling
from runwire.host import Answer
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand
from runwire.protocol.events.tool import ToolInvoked
from tests.agents.claude_streams import INIT, Line, asks, event, of, over, said, text, use


def spoken(dialect: ClaudeDialect) -> list[object]:
    return [json.loads(item.data) for item in dialect.teller.take() if isinstance(item, Reply)]


def driven(*lines: Line) -> ClaudeDialect:
    dialect = ClaudeDialect(Telling(agent="claude", driven=True, cwd="/workspace"))
    dialect.hello()
    greeted: Line = {"type": "control_response", "response": {"subtype": "success", "request_id": "initialize"}}
    dialect.feed(json.dumps(greeted).encode(), 0)
    for line in lines:
        dialect.feed(json.dumps(line).encode(), 0)
    return dialect


def test_it_greets_and_waits_until_it_is_greeted() -> None:
    dialect = ClaudeDialect(Telling(agent="claude", driven=True))
    dialect.hello()
    assert not dialect.ready
    greeting = {"type": "control_request", "request_id": "initialize", "request": {"subtype": "initialize"}}
    assert spoken(dialect) == [greeting]
    assert driven().ready


def test_a_prompt_is_a_line_of_the_user() -> None:
    dialect = driven()
    dialect.teller.take()
    dialect.prompt("say hello", [Image("image/png", "AAAA")])
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    content = [{"type": "text", "text": "say hello"}, {"type": "image", "source": source}]
    assert spoken(dialect) == [{"type": "user", "message": {"role": "user", "content": content}}]
    assert not dialect.ready
    dialect.feed(json.dumps(over()).encode(), 0)
    assert dialect.ready


@pytest.mark.parametrize("edited", [False, True])
def test_what_is_allowed_goes_with_the_input_that_was_approved(edited: bool) -> None:
    dialect = driven(INIT, said("a", use("t1")), asks("r1", "t1", command="ls"))
    question = of(dialect.teller.take(), Question)[0]
    assert (question.argv_text, question.tool_kind) == ("ls", "shell")
    dialect.answer("r1", Answer(allowed=True, input={"command": "ls -l"}, edited=edited))
    items = dialect.teller.take()
    command = "ls -l" if edited else "ls"
    assert of(items, ShellCommand)[0].argv[-1] == command
    reply = json.loads(of(items, Reply)[0].data)
    assert reply["response"]["response"] == {"behavior": "allow", "updatedInput": {"command": command}}


def test_what_is_denied_is_blocked_with_the_words_that_the_agent_is_told() -> None:
    dialect = driven(INIT, said("a", use("t1")), asks("r1", "t1", command="ls"))
    dialect.teller.take()
    dialect.answer("r1", Answer(allowed=False, input={}, told="not today", policy_id="rule:1"))
    items = dialect.teller.take()
    assert [(one.reason, one.policy_id) for one in of(items, PolicyToolBlocked)] == [("not today", "rule:1")]
    reply = json.loads(of(items, Reply)[0].data)
    assert reply["response"]["response"] == {"behavior": "deny", "message": "not today", "interrupt": False}
    dialect.answer("r1", Answer(allowed=True, input={}))
    assert dialect.teller.take() == []


def test_a_call_does_not_begin_before_it_was_asked_about() -> None:
    dialect = driven(INIT, said("a", use("t1")), event("message_stop"), asks("r1", "t1", command="ls"))
    assert not of(dialect.teller.take(), ToolInvoked)
    dialect.answer("r1", Answer(allowed=True, input={"command": "ls"}))
    assert len(of(dialect.teller.take(), ToolInvoked)) == 1


def test_a_choice_is_answered_with_what_was_chosen() -> None:
    question = {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": False}
    dialect = driven(INIT, asks("r1", "t1", "AskUserQuestion", questions=[question]))
    asked = of(dialect.teller.take(), Question)[0]
    assert (asked.kind, asked.choices, asked.summary) == ("choice", ["A", "B"], "Which?")
    dialect.answer("r1", Answer(allowed=True, input={"value": "B"}, edited=True))
    reply = json.loads(of(dialect.teller.take(), Reply)[0].data)
    assert reply["response"]["response"]["updatedInput"]["answers"] == {"Which?": "B"}


def test_it_is_interrupted_and_that_is_remembered() -> None:
    dialect = driven(INIT, said("a", text("One")))
    dialect.teller.take()
    assert dialect.cancel("ada", "enough")
    [sent] = spoken(dialect)
    assert isinstance(sent, dict)
    assert sent["request"] == {"subtype": "interrupt"}
    dialect.feed(json.dumps(over(subtype="error_during_execution", is_error=True)).encode(), 0)
    assert dialect.teller.outcome == Cancelled("ada", "enough")


def test_what_is_asked_of_a_host_that_does_not_know_it_is_answered_with_an_error() -> None:
    dialect = driven({"type": "control_request", "request_id": "r9", "request": {"subtype": "hook_callback"}})
    answer = spoken(dialect)[-1]
    assert isinstance(answer, dict)
    assert answer["response"]["subtype"] == "error"
