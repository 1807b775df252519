"""Codex: what is said to its server."""

import json

import pytest

from runwire.agents.codex.driving import PROFILE
from runwire.agents.codex.speaking import CodexSpeaker
from runwire.agents.dialect import Cancelled, Image, Question, Reply, Telling
from runwire.agents.profile import Wish
from runwire.host import Answer, Failed, Finished
from tests.agents.codex_streams import COMPLETED, STARTED, get_ready, hear, is_ready, new_speaker, note, sent_by
from tests.agents.transcripts import transcripts


def test_a_conversation_begins_with_a_greeting_and_a_thread() -> None:
    speaker = new_speaker()
    speaker.hello()
    assert is_ready(speaker) is False
    [greeting] = sent_by(speaker)
    assert (greeting["id"], greeting["method"]) == (1, "initialize")
    hear(speaker, {"id": 1, "result": {"userAgent": "x"}})
    assert sent_by(speaker) == [
        {"method": "initialized"},
        {
            "id": 2,
            "method": "thread/start",
            "params": {"approvalPolicy": "untrusted", "sandbox": "danger-full-access", "cwd": "/workspace"},
        },
    ]
    hear(speaker, {"id": 2, "result": {"thread": {"id": "t"}}})
    assert is_ready(speaker) is True
    speaker.prompt("do it", [Image("image/png", "AAAA")])
    assert is_ready(speaker) is False
    asked = {
        "threadId": "t",
        "input": [{"type": "text", "text": "do it"}, {"type": "image", "url": "data:image/png;base64,AAAA"}],
    }
    assert sent_by(speaker) == [{"id": 3, "method": "turn/start", "params": asked}]
    hear(speaker, {"id": 3, "result": {"turn": {"id": "u1"}}}, STARTED, COMPLETED)
    assert is_ready(speaker) is True
    assert speaker.teller.outcome == Finished()


def test_a_thread_of_an_earlier_time_is_taken_up() -> None:
    speaker = new_speaker(thread="old", model="gpt")
    speaker.hello()
    hear(speaker, {"id": 1, "result": {}})
    asked = sent_by(speaker)[-1]
    assert asked["method"] == "thread/resume"
    params = asked["params"]
    assert isinstance(params, dict)
    assert (params["threadId"], params["model"]) == ("old", "gpt")


def test_a_turn_is_interrupted_as_soon_as_it_has_a_name() -> None:
    speaker = new_speaker()
    get_ready(speaker)
    speaker.prompt("do it")
    assert speaker.cancel("alice", "enough") is True
    assert [one["method"] for one in sent_by(speaker)] == ["turn/start"]
    hear(speaker, {"id": 3, "result": {"turn": {"id": "u1"}}})
    interrupt = {"id": 4, "method": "turn/interrupt", "params": {"threadId": "t", "turnId": "u1"}}
    assert sent_by(speaker) == [interrupt]
    hear(speaker, STARTED, {"id": 4, "result": {}}, note("turn/completed", turn={"status": "interrupted"}))
    assert speaker.teller.outcome == Cancelled("alice", "enough")


def test_a_refused_turn_is_a_failure_and_another_may_follow() -> None:
    speaker = new_speaker()
    get_ready(speaker)
    speaker.teller.leg_begins()
    speaker.prompt("do it")
    hear(speaker, {"id": 3, "error": {"code": -32600, "message": "invalid thread id"}})
    assert speaker.teller.outcome == Failed("rejected", "invalid thread id")
    assert is_ready(speaker) is True


def test_a_refused_greeting_is_told_by_the_first_prompt() -> None:
    speaker = new_speaker()
    speaker.hello()
    hear(speaker, {"id": 1, "error": {"code": -32600, "message": "too old"}})
    assert is_ready(speaker) is True
    speaker.teller.leg_begins()
    speaker.prompt("do it")
    assert speaker.teller.outcome == Failed("rejected", "too old")


def test_a_request_that_nobody_knows_is_refused() -> None:
    speaker = new_speaker()
    get_ready(speaker)
    hear(speaker, {"id": 5, "method": "item/tool/call", "params": {}})
    [answer] = sent_by(speaker)
    assert answer["id"] == 5
    assert "error" in answer


def test_who_watches_says_nothing() -> None:
    speaker = CodexSpeaker(Telling(agent="codex"))
    speaker.hello()
    assert sent_by(speaker) == []


@pytest.mark.parametrize("name", ["approval_command_cancel", "interrupt_during_tool", "tool_bash", "compact"])
def test_a_recorded_server_is_answered_as_it_was(name: str) -> None:
    """The lines that are sent are those that a client sent when the stream was recorded, in their order."""
    [transcript] = [one for one in transcripts("codex-app-server-0.166.0") if one.path.stem == name]
    speaker = new_speaker()
    speaker.hello()
    methods: list[object] = [one.get("method", "answer") for one in sent_by(speaker)]
    prompted = False
    for line in transcript.raw.splitlines():
        speaker.feed(line, 0)
        told = speaker.teller.take()
        for item in told:
            if isinstance(item, Question):
                speaker.answer(item.question_id, Answer(allowed=False, input={}, stop=True))
        if speaker.ready and not prompted:
            prompted = True
            speaker.prompt("x")
        if name == "interrupt_during_tool" and speaker.teller.tools.open and speaker.teller.cancelling is None:
            speaker.cancel("alice", "")
        told += speaker.teller.take()
        methods += [json.loads(item.data).get("method", "answer") for item in told if isinstance(item, Reply)]
    expected = ["initialize", "initialized", "thread/start", "turn/start"]
    more = {"approval_command_cancel": ["answer"], "interrupt_during_tool": ["turn/interrupt"]}.get(name, [])
    assert methods == [*expected, *more]
    assert speaker.teller.outcome is not None


def test_a_model_is_named_on_the_command_line() -> None:
    assert PROFILE.arguments(Wish(model=None, workspace="/w")) == ()
    assert PROFILE.arguments(Wish(model="gpt", workspace="/w")) == ("-c", 'model="gpt"')
    assert PROFILE.arguments(Wish(model="fake:gpt", workspace="/w")) == (
        "-c",
        'model_provider="fake"',
        "-c",
        'model="gpt"',
    )
