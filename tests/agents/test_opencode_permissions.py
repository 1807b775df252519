"""opencode: what its server asks a person, and what comes of the answer."""

import json

from runwire.agents.dialect import Question, Telling
from runwire.agents.opencode.serve import ServeDialect
from runwire.host import Finished
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.shell import ShellCommand
from runwire.protocol.events.tool import ToolInvoked
from tests.agents.opencode_streams import IDLE, PERMISSION, asks, event, told_of, tool_event


def test_a_call_begins_when_it_was_allowed() -> None:
    items, _ = told_of(
        *asks(),
        tool_event("running"),
        PERMISSION,
        event("permission.replied", requestID="per", reply="once"),
        tool_event("completed", output="", metadata={"exit": 0}),
        IDLE,
    )
    order = [type(item) for item in items if isinstance(item, (ApprovalRequested, ApprovalResolved, ShellCommand))]
    assert order == [ApprovalRequested, ApprovalResolved, ShellCommand]
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["approved"]


def test_a_call_that_was_rejected_never_began() -> None:
    items, outcome = told_of(
        *asks(),
        tool_event("running"),
        PERMISSION,
        event("permission.replied", requestID="per", reply="reject"),
        tool_event("error", error="The user rejected permission to use this specific tool call."),
        IDLE,
    )
    assert [item.decision for item in items if isinstance(item, ApprovalResolved)] == ["denied"]
    assert [item.tool_call_id for item in items if isinstance(item, PolicyToolBlocked)] == ["c"]
    assert not [item for item in items if isinstance(item, ToolInvoked)]
    assert isinstance(outcome, Finished)


def test_a_permission_becomes_a_question_that_can_be_decided() -> None:
    dialect = ServeDialect(Telling(agent="opencode", driven=True))
    for frame in (*asks(), tool_event("running"), PERMISSION):
        dialect.feed(json.dumps(frame).encode(), 0)
    [question] = [item for item in dialect.teller.take() if isinstance(item, Question)]
    assert (question.question_id, question.tool_call_id, question.tool_kind) == ("per", "c", "shell")
    assert question.argv_text == "make"
    assert question.effects == {"executes"}


def test_a_question_to_a_person_has_its_choices() -> None:
    dialect = ServeDialect(Telling(agent="opencode", driven=True))
    options = [{"label": "red"}, {"label": "blue"}]
    asked = event("question.asked", id="q", questions=[{"question": "Which?", "options": options}])
    for frame in (*asks(), asked):
        dialect.feed(json.dumps(frame).encode(), 0)
    [question] = [item for item in dialect.teller.take() if isinstance(item, Question)]
    assert (question.kind, question.summary, question.choices) == ("choice", "Which?", ["red", "blue"])
    dialect.feed(json.dumps(event("question.rejected", requestID="q")).encode(), 0)
    assert not dialect.teller.questions
