"""What is said to an agent that speaks ACP."""

import json

import pytest

from runwire.agents.acp.dialect import AcpDialect
from runwire.agents.dialect import Cancelled, Image, Item, Question, Reply, Telling
from runwire.host import Answer, Failed
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.tool import ToolFailed, ToolInvoked
from tests.agents.acp_streams import GREETED, Frame, asks, fault, of, result, update

SHELL: Frame = {"title": "rm -rf ./scratch", "kind": "execute", "status": "pending"}


def feed(dialect: AcpDialect, *frames: Frame) -> None:
    for frame in frames:
        dialect.feed(json.dumps(frame).encode(), 0)


def spoken(items: list[Item]) -> list[Frame]:
    return [json.loads(item.data) for item in items if isinstance(item, Reply)]


def greeted(*, methods: list[object] | None = None) -> AcpDialect:
    dialect = AcpDialect(Telling(agent="acp:x", driven=True, cwd="/workspace"))
    dialect.hello()
    feed(dialect, GREETED | {"id": 1, "result": {"protocolVersion": 1, "authMethods": methods or []}})
    return dialect


def at_work(*frames: Frame) -> AcpDialect:
    dialect = greeted()
    feed(dialect, result(2, sessionId="s1"))
    dialect.prompt("say hello")
    dialect.teller.take()
    feed(dialect, *frames)
    return dialect


def test_the_handshake_follows_the_answers() -> None:
    dialect = greeted()
    hello, new = spoken(dialect.teller.take())
    assert (hello["method"], new["method"]) == ("initialize", "session/new")
    assert isinstance(hello["params"], dict)
    assert hello["params"]["protocolVersion"] == 1
    offered = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    assert hello["params"]["clientCapabilities"] == offered
    assert new["params"] == {"cwd": "/workspace", "mcpServers": []}
    assert not dialect.ready
    feed(dialect, result(2, sessionId="s1"))
    assert dialect.ready


def test_it_signs_in_with_a_key_when_that_is_asked_for() -> None:
    methods: list[object] = [{"id": "oauth-personal"}, {"id": "gemini-api-key"}, {"id": "t", "type": "terminal"}]
    dialect = greeted(methods=methods)
    dialect.teller.take()
    feed(dialect, fault(2, -32000, "Authentication required"))
    [signing_in] = spoken(dialect.teller.take())
    assert (signing_in["method"], signing_in["params"]) == ("authenticate", {"methodId": "gemini-api-key"})
    feed(dialect, result(3))
    assert [one["method"] for one in spoken(dialect.teller.take())] == ["session/new"]
    feed(dialect, fault(4, -32000, "Authentication required"))
    assert dialect.teller.outcome == Failed("rejected", "Authentication required")


def test_another_version_of_the_protocol_is_not_spoken() -> None:
    dialect = AcpDialect(Telling(agent="acp:x", driven=True))
    dialect.hello()
    feed(dialect, result(1, protocolVersion=2))
    assert isinstance(dialect.teller.outcome, Failed)


def test_a_prompt_is_over_with_its_answer_and_with_no_other() -> None:
    dialect = greeted()
    feed(dialect, result(2, sessionId="s1"))
    dialect.teller.take()
    dialect.prompt("say hello", [Image("image/png", "AAAA")])
    [asked] = spoken(dialect.teller.take())
    prompt = [{"type": "text", "text": "say hello"}, {"type": "image", "mimeType": "image/png", "data": "AAAA"}]
    assert (asked["method"], asked["params"]) == ("session/prompt", {"sessionId": "s1", "prompt": prompt})
    assert not dialect.ready
    feed(dialect, result(3, stopReason="end_turn"))
    assert dialect.ready


@pytest.mark.parametrize(("allowed", "option"), [(True, "once"), (False, "no")])
def test_a_question_is_answered_with_the_option_that_means_the_decision(allowed: bool, option: str) -> None:
    dialect = at_work(asks(0, "c1", SHELL))
    question = of(dialect.teller.take(), Question)[0]
    assert (question.argv_text, question.tool_kind) == ("rm -rf ./scratch", "shell")
    dialect.answer(question.question_id, Answer(allowed=allowed, input=question.input, scope="always"))
    items = dialect.teller.take()
    answer = {"outcome": {"outcome": "selected", "optionId": option}}
    assert spoken(items) == [{"jsonrpc": "2.0", "id": 0, "result": answer}]
    assert (len(of(items, ToolInvoked)), len(of(items, PolicyToolBlocked))) == ((1, 0) if allowed else (0, 1))
    dialect.answer(question.question_id, Answer(allowed=True, input={}))
    assert dialect.teller.take() == []


def test_a_question_waits_for_our_answer_whatever_is_told_of_its_call() -> None:
    works = update("tool_call_update", toolCallId="c1", **SHELL | {"status": "in_progress"})
    dialect = at_work(update("tool_call", toolCallId="c1", **SHELL), asks(0, "c1", SHELL), works, works)
    assert not of(dialect.teller.take(), ToolInvoked)
    dialect.answer("0", Answer(allowed=True, input={}))
    items = dialect.teller.take()
    assert len(spoken(items)) == 1
    assert len(of(items, ToolInvoked)) == 1


def test_an_input_that_somebody_changed_is_not_let_go_unchanged() -> None:
    dialect = at_work(asks(0, "c1", SHELL))
    dialect.teller.take()
    dialect.answer("0", Answer(allowed=True, input={"command": "ls"}, edited=True))
    items = dialect.teller.take()
    assert [one.reason for one in of(items, PolicyToolBlocked)] == ["its input cannot be changed"]


def test_a_question_without_a_way_to_say_no_is_cancelled() -> None:
    dialect = at_work(asks(0, "c1", SHELL, [{"optionId": "y", "kind": "allow_once", "name": "Yes"}]))
    dialect.answer("0", Answer(allowed=False, input={}))
    [answer] = spoken(dialect.teller.take())
    assert answer["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_denial_of_a_call_that_is_at_work_ends_it() -> None:
    works = update("tool_call", toolCallId="c1", **SHELL | {"status": "in_progress"})
    dialect = at_work(works, asks(0, "c1", SHELL))
    dialect.answer("0", Answer(allowed=False, input={}, told="not today"))
    assert [one.message for one in of(dialect.teller.take(), ToolFailed)] == ["not today"]


def test_a_cancel_answers_what_is_still_asked() -> None:
    dialect = at_work(asks("perm-1", "c1", SHELL))
    dialect.teller.take()
    assert dialect.cancel("ada", "enough")
    cancel, answer = spoken(dialect.teller.take())
    assert cancel == {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}}
    assert (answer["id"], answer["result"]) == ("perm-1", {"outcome": {"outcome": "cancelled"}})
    feed(dialect, result(3, stopReason="cancelled"))
    assert dialect.teller.outcome == Cancelled("ada", "enough")


@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create"])
def test_what_was_never_offered_is_refused_as_the_protocol_wants(method: str) -> None:
    dialect = at_work({"jsonrpc": "2.0", "id": 5, "method": method, "params": {"sessionId": "s1", "path": "/a"}})
    [answer] = spoken(dialect.teller.take())
    assert isinstance(answer["error"], dict)
    assert (answer["id"], answer["error"]["code"]) == (5, -32601)
