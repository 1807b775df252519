"""What Agno lets pass, three times over: the real server asked directly, the same through our driver, and our own /agno.

The first of each three pins what the server of this release does, for that is why the other two are as they are. Executions
are read from the server's own ledger: a call is made once, or never.
"""

import pytest

from tests.gateway.agno.client import AGNO, names, refusal
from tests.gateway.serving import error_of
from tests.real.agno_driven import Driven
from tests.real.agno_raw import Raw, confirmed

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAYS_HELLO = "Hello from Agno."


# Input.


async def test_an_empty_message(raw: Raw, driven: Driven) -> None:
    refused = await raw.start("")
    assert (refused.status, b"Field required" in refused.body) == (422, True)
    assert (await driven.working.post("/tasks", {"prompt": "", "agent": "agno:clerk"})).status_code == 422
    assert await driven.client.refused("", {"message": ""}) == (422, "invalid_form")


async def test_a_message_of_blanks(raw: Raw, driven: Driven) -> None:
    """The server starts a run and has its model called; here nobody is bothered."""
    heard = await raw.start(" \n\t ")
    assert (heard.status, heard.names) == (200, ["RunStarted", "ModelRequestStarted", "RunError"])
    answer = await driven.working.post("/tasks", {"prompt": " \n\t ", "agent": "agno:clerk"})
    assert (answer.status_code, error_of(answer)["code"]) == (422, "task_invalid")
    assert await driven.client.refused("", {"message": " \n\t "}) == (422, "invalid_form")


MESSAGES = {
    "long": "0123456789" * 1_000,
    "unicode": "中文 عربي 🎉 e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "injection": "<script>alert(1)</script> '; DROP TABLE runs; -- ${jndi:ldap://x} {{7*7}} ../../etc/passwd",
    "newlines": "one\ntwo\r\nthree\rfour\n\n\nfive",
    "separators": "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg",
    "frames": "x\n\nevent: RunCompleted\ndata: {}\n\n",
    "form": "a&stream=false&b=c%26d+e",
}


@pytest.mark.parametrize("kind", MESSAGES)
async def test_messages_that_are_none_of_the_servers_business(raw: Raw, driven: Driven, kind: str) -> None:
    said = MESSAGES[kind]
    heard = await raw.start(f"echo {said}")
    assert (heard.status, heard.names[-1], heard.text) == (200, "RunCompleted", said)
    if kind == "separators":
        # Raw inside of the data: who splits lines where Unicode does gets half a frame.
        assert len(heard.body.decode().splitlines()) > heard.body.count(b"\n")
    told = await driven.end(await driven.start(f"echo {said}"))
    assert (told.last["type"], told.texts) == ("run.finished", [said])
    assert told.of("agent.unparsed") == []
    frames = await driven.client.stream("", {"message": f"echo {said}"})
    assert (names(frames)[-1], frames[-1].data["content"]) == ("RunCompleted", said)


async def test_a_message_that_is_too_large(raw: Raw, driven: Driven) -> None:
    """The server counts a field as it is encoded, so that most of the world's letters count ninefold."""
    wide = "中" * 150_000
    for multipart, status in ((False, 400), (True, 200)):
        heard = await raw.post("", {"message": f"echo {wide}", "stream": "true"}, multipart=multipart)
        assert heard.status == status
    assert (await raw.start("x" * (1 << 20))).status == 400
    told = await driven.end(await driven.start(f"echo {wide}"))
    assert (told.last["type"], told.texts) == ("run.finished", [wide])
    huge = await driven.working.post("/tasks", {"prompt": "x" * (1 << 20), "agent": "agno:clerk"})
    assert (huge.status_code, error_of(huge)["code"]) == (413, "body_too_large")
    assert await driven.client.refused("", {"message": "x" * (1 << 20)}) == (413, "body_too_large")


# Users and sessions.


@pytest.mark.parametrize("user_id", ["", "nobody-knows-them", "' OR 1=1 --", "中" * 300])
async def test_any_user(raw: Raw, driven: Driven, user_id: str) -> None:
    """Whoever says so is that user there. Here a token says who it is, and what a form says is only handed on."""
    assert (await raw.start("hello", user_id=user_id)).names[-1] == "RunCompleted"
    frames = await driven.client.stream("", {"message": "hello", "user_id": user_id})
    assert names(frames)[-1] == "RunCompleted"


async def test_an_empty_session(raw: Raw, driven: Driven) -> None:
    assert (await raw.start("hello", session_id="")).last["session_id"]
    frames = await driven.client.stream("", {"message": "hello", "session_id": ""})
    assert frames[-1].data["session_id"].startswith("chat_")


async def test_the_session_of_another_user(raw: Raw, driven: Driven) -> None:
    assert (await raw.start("hello", session_id="chat_alice", user_id="alice")).status == 200
    assert (await raw.start("hello", session_id="chat_alice", user_id="bob")).status == 404
    told = await driven.end(await driven.start("hello", session_id="chat_alice"))
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "http_404")


# The rest.


async def test_a_stream_that_nobody_asked_for(raw: Raw, driven: Driven) -> None:
    """What it means to say nothing has changed there, so our driver always says it."""
    heard = await raw.post("", {"message": "hello"})
    assert (heard.status, heard.names[-1]) == (200, "RunCompleted")
    assert names(await driven.client.stream("", {"message": "hello"}))[-1] == "RunCompleted"
    whole = await driven.client.post("", {"message": "hello", "stream": "false"})
    assert (whole.json()["status"], whole.json()["content"]) == ("COMPLETED", SAYS_HELLO)


@pytest.mark.parametrize(
    ("dependencies", "last"),
    [("{not json", "RunCompleted"), ("[]", "RunCompleted"), ("null", "RunCompleted"), ("7", "RunError")],
)
async def test_dependencies_that_are_none(raw: Raw, driven: Driven, dependencies: str, last: str) -> None:
    assert (await raw.start("hello", dependencies=dependencies)).names[-1] == last
    frames = await driven.client.stream("", {"message": "hello", "dependencies": dependencies})
    assert names(frames)[-1] == "RunCompleted"


async def test_ending_a_run_that_is_not_there(raw: Raw, driven: Driven) -> None:
    """The server says yes to everything, and remembers it: a run that is started under that id later ends at once."""
    heard = await raw.cancel("not-yet")
    assert (heard.status, heard.body) == (200, b"{}")
    poisoned = await raw.start("hello", run_id="not-yet")
    assert poisoned.names == ["RunStarted", "RunCancelled", "RunCompleted"]
    assert await driven.client.refused("/nobody/cancel") == (404, "run_not_found")
    assert await driven.working.refused("/tasks/task_nobody/runs/run_nobody/cancel") == (404, "run_not_found")


async def test_ending_a_run_that_is_over(raw: Raw, driven: Driven) -> None:
    over = (await raw.start("hello", session_id="done")).last
    assert (await raw.cancel(over["run_id"])).status == 200
    assert await raw.status(over["run_id"], "done") == "COMPLETED"
    run_id = await driven.start("hello")
    await driven.end(run_id)
    assert refusal(await driven.cancel(run_id)) == (409, "run_finished")
    assert await driven.client.refused(f"/{run_id}/cancel") == (409, "run_finished")


async def test_a_run_that_somebody_ends_at_the_server_is_not_told_as_done(raw: Raw, driven: Driven) -> None:
    """The server says that it was cancelled, and then that it is completed."""
    run_id = await driven.start("slow")
    await driven.working.until(run_id, "assistant.text_delta")
    assert (await raw.cancel(run_id)).status == 200
    told = await driven.end(run_id)
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "agent_stopped")
    assert "word399" not in told.texts[-1]


async def test_a_pause_that_somebody_ends_at_the_server(raw: Raw, driven: Driven) -> None:
    """It stays paused there, and ends only when it is told to go on."""
    run_id = await driven.start("create ended-elsewhere")
    question = await driven.question(run_id)
    await raw.cancel(run_id)
    session_id = (await driven.working.get(f"/runs/{run_id}"))["task_id"]
    assert await raw.status(run_id, session_id) == "PAUSED"
    await driven.answer(question)
    told = await driven.end(run_id)
    assert (told.last["type"], told.last["data"]["code"]) == ("run.failed", "agent_stopped")
    assert told.of("tool.completed") == []
    assert driven.made("ended-elsewhere") == []


async def test_a_pause_that_is_ended_here(driven: Driven) -> None:
    run_id = await driven.start("create ended-here")
    question = await driven.question(run_id)
    assert (await driven.cancel(run_id)).status_code in {200, 202}
    assert (await driven.end(run_id)).last["type"] == "run.cancelled"
    assert (await driven.resolve(question, {"decision": "approved"})).status_code == 409
    assert driven.made("ended-here") == []


async def test_a_message_while_a_decision_is_waited_for(raw: Raw, driven: Driven) -> None:
    """The server starts another run beside the one that waits. Here it waits for its turn, in the same run."""
    pause = await raw.paused("create while-raw")
    assert (await raw.start("hello", session_id=pause["session_id"])).names[-1] == "RunCompleted"
    assert (await raw.go_on(pause, confirmed(pause))).names[-1] == "RunCompleted"

    run_id = await driven.start("create while-driven")
    question = await driven.question(run_id)
    await driven.say(run_id, "create said-later")
    await driven.answer(question)
    later = await driven.question(run_id)
    assert later["input"] == {"title": "said-later"}
    await driven.answer(later)
    told = await driven.end(run_id)
    assert (told.last["type"], told.texts) == ("run.finished", [SAYS_HELLO, SAYS_HELLO])
    assert [len(driven.made(title)) for title in ("while-raw", "while-driven", "said-later")] == [1, 1, 1]
    again = (await driven.working.http.get(f"{AGNO}/agents/agno:clerk/runs/{run_id}")).json()
    assert again["status"] == "COMPLETED"
