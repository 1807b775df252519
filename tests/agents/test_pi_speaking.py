"""pi: what we say to it is what it understands."""

import json

import pytest

from runwire.agents.dialect import Cancelled, Image, Item, Question, Reply, Telling
from runwire.agents.pi.dialect import PiDialect
from runwire.host import Answer, Failed, Finished
from runwire.protocol.events.approval import ApprovalRequested
from runwire.protocol.events.turn import TurnStarted
from tests.agents.pi_streams import (
    START,
    Line,
    answer,
    bash,
    confirm,
    ended,
    of,
    turn_end,
)
from tests.agents.transcripts import FOLDER

# Speaking.


def spoken(dialect: PiDialect) -> list[Line]:
    return [json.loads(item.data) for item in dialect.teller.take() if isinstance(item, Reply)]


def driven() -> PiDialect:
    return PiDialect(Telling(agent="pi", driven=True))


def hear(dialect: PiDialect, *lines: Line) -> list[Item]:
    for line in lines:
        dialect.feed(json.dumps(line).encode(), 0)
    return dialect.teller.take()


def test_a_prompt_is_said_as_it_was_recorded() -> None:
    dialect = driven()
    dialect.prompt("say hello")
    assert spoken(dialect) == [{"id": "1", "type": "prompt", "message": "say hello"}]
    assert not dialect.ready
    dialect.prompt("look", [Image("image/png", "aGk=")])
    assert spoken(dialect)[0]["images"] == [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]


def test_what_is_greeted_says_who_will_answer() -> None:
    dialect = driven()
    dialect.hello()
    assert spoken(dialect) == [{"id": "hello", "type": "get_state"}]
    hear(
        dialect,
        {
            "type": "response",
            "id": "hello",
            "command": "get_state",
            "success": True,
            "data": {"model": {"id": "m", "provider": "p"}},
        },
    )
    assert dialect.ready
    dialect.prompt("hi")
    items = hear(
        dialect,
        {"type": "response", "id": "1", "command": "prompt", "success": True},
        *START,
        {"type": "message_end", "message": {"role": "user"}},
    )
    assert [(one.model, one.provider) for one in of(items, TurnStarted)] == [("m", "p")]


def test_a_recorded_conversation_is_answered_with_what_was_recorded() -> None:
    dialect = driven()
    dialect.prompt("remove the scratch dir [tool:danger]")
    spoken(dialect)
    items: list[Item] = []
    for line in (FOLDER / "pi-0.87.1" / "rpc_approval_allow.jsonl").read_bytes().split(b"\n"):
        if not line:
            continue
        dialect.feed(line, 0)
        items += dialect.teller.take()
        if dialect.teller.questions:
            (question,) = of(items, Question)
            dialect.answer(question.question_id, Answer(allowed=True, input=question.input))
            assert spoken(dialect) == [
                {"type": "extension_ui_response", "id": "16b4799a-0fea-42dd-a67b-bfc06e9193d5", "confirmed": True}
            ]
    (question,) = of(items, Question)
    assert (question.kind, question.tool_name, question.argv_text) == ("permission", "bash", "rm -rf ./scratch")
    assert "executes" in question.effects
    assert dialect.ready
    assert dialect.teller.outcome == Finished("The danger step is done.")
    assert not of(items, ApprovalRequested), "the run tells of approvals itself"


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        ("confirm", Answer(allowed=True, input={}), {"confirmed": True}),
        ("confirm", Answer(allowed=False, input={}), {"confirmed": False}),
        ("select", Answer(allowed=True, input={"value": "b"}, edited=True), {"value": "b"}),
        ("select", Answer(allowed=True, input={}), {"cancelled": True}),
        ("select", Answer(allowed=False, input={}), {"cancelled": True}),
        ("input", Answer(allowed=True, input={"value": "text"}, edited=True), {"value": "text"}),
        ("editor", Answer(allowed=True, input={"title": "t", "value": "as it was"}), {"value": "as it was"}),
        ("editor", Answer(allowed=False, input={"value": "x"}), {"cancelled": True}),
    ],
)
def test_every_question_of_an_extension_has_an_answer(method: str, given: Answer, said: Line) -> None:
    dialect = driven()
    dialect.prompt("x")
    items = hear(dialect, *START, confirm(method=method, options=["a", "b"], prefill="as it was"))
    (question,) = of(items, Question)
    assert question.kind == {"confirm": "permission", "select": "choice"}.get(method, "input")
    dialect.answer("q1", given)
    assert spoken(dialect) == [{"type": "extension_ui_response", "id": "q1", **said}]
    dialect.answer("q1", given)
    assert spoken(dialect) == [], "an answer is given once"


def test_an_abort_also_ends_the_waiting_of_an_extension() -> None:
    dialect = driven()
    dialect.prompt("x")
    hear(dialect, *bash("rm -rf x"), confirm())
    assert dialect.cancel("ada", "enough")
    assert spoken(dialect) == [
        {"id": "abort", "type": "abort"},
        {"type": "extension_ui_response", "id": "q1", "cancelled": True},
    ]
    hear(
        dialect,
        ended("Blocked", is_error=True),
        turn_end("toolUse"),
        {"type": "agent_end", "willRetry": False},
        {"type": "agent_settled"},
    )
    assert dialect.teller.outcome == Cancelled("ada", "enough")


def test_a_question_that_comes_too_late_is_closed() -> None:
    dialect = driven()
    dialect.prompt("x")
    hear(dialect, *START, *answer(), turn_end(), {"type": "agent_end"})
    items = hear(dialect, confirm())
    assert not of(items, Question)
    assert [json.loads(one.data) for one in of(items, Reply)] == [
        {"type": "extension_ui_response", "id": "q1", "cancelled": True}
    ]


def test_an_old_one_that_failed_is_asked_whether_that_was_all() -> None:
    dialect = driven()
    dialect.prompt("x")
    spoken(dialect)
    hear(dialect, *START, *answer("error", "401 no"), turn_end("error", "401 no"))
    items = hear(dialect, {"type": "agent_end"})
    assert [json.loads(one.data) for one in of(items, Reply)] == [{"id": "over", "type": "get_state"}]
    assert dialect.teller.outcome is None
    idle: Line = {
        "type": "response",
        "id": "over",
        "command": "get_state",
        "success": True,
        "data": {"isStreaming": False},
    }
    hear(dialect, idle)
    assert isinstance(dialect.teller.outcome, Failed)


def test_an_old_one_that_tries_again_says_so_before_it_answers() -> None:
    dialect = driven()
    dialect.prompt("x")
    idle: Line = {"type": "response", "id": "over", "command": "get_state", "success": True, "data": {}}
    busy: Line = {
        "type": "response",
        "id": "over",
        "command": "get_state",
        "success": True,
        "data": {"isStreaming": True},
    }
    hear(
        dialect,
        *START,
        *answer("error", "529 Overloaded"),
        turn_end("error", "529 Overloaded"),
        {"type": "agent_end"},
        {"type": "auto_retry_start", "attempt": 1, "maxAttempts": 2},
        idle,
        {"type": "agent_start"},
        busy,
    )
    assert dialect.teller.outcome is None


def test_a_prompt_that_an_extension_took_is_over() -> None:
    dialect = driven()
    dialect.prompt("/mine")
    taken = {"disposition": "handled"}
    hear(dialect, {"type": "response", "id": "1", "command": "prompt", "success": True, "data": taken})
    assert dialect.teller.outcome == Finished()


def test_a_prompt_that_is_refused_ends_at_once() -> None:
    dialect = driven()
    dialect.prompt("x")
    hear(dialect, {"type": "response", "id": "1", "command": "prompt", "success": False, "error": "no model"})
    assert dialect.teller.outcome == Failed("rejected", "no model")
    assert dialect.ready
