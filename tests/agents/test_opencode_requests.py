"""opencode: what is said to its server."""

import pytest

from runwire.agents.dialect import Image
from runwire.agents.opencode import requests
from runwire.agents.opencode.requests import Request
from runwire.host import Answer
from tests.agents.opencode_streams import Frame


def test_a_prompt_is_a_request_that_does_not_wait() -> None:
    assert requests.prompt("s/1", "do it", [Image("image/png", "AAAA")], model="fake/fake-1") == Request(
        "POST",
        "/session/s%2F1/prompt_async",
        {
            "parts": [
                {"type": "text", "text": "do it"},
                {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
            ],
            "model": {"providerID": "fake", "modelID": "fake-1"},
        },
    )
    assert requests.prompt("s", "x", model="fake:a").body == {
        "parts": [{"type": "text", "text": "x"}],
        "model": {"providerID": "fake", "modelID": "a"},
    }


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (Answer(allowed=True, input={}), {"reply": "once"}),
        (Answer(allowed=True, input={}, scope="task"), {"reply": "always"}),
        (Answer(allowed=False, input={}), {"reply": "reject"}),
        (Answer(allowed=False, input={}, told="not that"), {"reply": "reject", "message": "not that"}),
    ],
)
def test_a_permission_is_answered_in_its_own_words(answer: Answer, body: Frame) -> None:
    assert requests.reply("per", answer) == Request("POST", "/permission/per/reply", body)


def test_the_other_requests_are_what_the_server_takes() -> None:
    assert (requests.EVENTS.method, requests.EVENTS.path, requests.EVENTS.body) == ("GET", "/event", None)
    assert requests.new_session("run") == Request("POST", "/session", {"title": "run"})
    assert requests.abort("s") == Request("POST", "/session/s/abort")
    assert requests.summarize("s", provider="p", model="m").body == {"providerID": "p", "modelID": "m"}
    assert requests.answers("q", [["red"]]) == Request("POST", "/question/q/reply", {"answers": [["red"]]})
    assert requests.refusal("q") == Request("POST", "/question/q/reject")
