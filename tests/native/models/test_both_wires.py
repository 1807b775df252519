"""One contract for both adapters: the real SDKs against a real server, whatever the wire."""

import asyncio
from collections.abc import Callable

import pytest

from runwire.ids import Ids
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Assistant, Call, Image, Message, Text, Thinking, Told, Usage, User
from runwire.native.models.catalogue import Catalogue
from runwire.native.models.model import CallChunk, Model, TextChunk
from runwire.testing.model_server import KEY, TEXT, ModelServer
from runwire.testing.model_wires import SEAL
from tests.native.models.calls import HELLO, ask, fail, hear
from tests.patience import PATIENCE_S

ModelOf = Callable[[str], Model]
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


async def test_text_comes_in_pieces_as_it_is_written(model_of: ModelOf) -> None:
    heard = await hear(model_of("ok"), ask())
    assert heard.text == TEXT
    assert len([chunk for chunk in heard.chunks if isinstance(chunk, TextChunk)]) > 3
    assert {chunk.block for chunk in heard.chunks if isinstance(chunk, TextChunk)} == {0}
    assert heard.stop is not None
    assert heard.stop.reason == "end_turn"
    assert heard.usage == Usage(input_tokens=100, output_tokens=7)


async def test_the_key_and_the_tools_are_sent(model_of: ModelOf, server: ModelServer) -> None:
    await hear(model_of("ok"), ask())
    (asked,) = server.requests
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    tools = asked.body["tools"]
    assert isinstance(tools, list)
    assert len(tools) == 2


async def test_calls_side_by_side_keep_their_order_and_arguments(model_of: ModelOf) -> None:
    heard = await hear(model_of("parallel"), ask())
    assert [(call.name, call.input) for call in heard.calls] == [
        ("shell_exec", {"command": "uname -s"}),
        ("file_read", {"path": "größe.txt"}),
        ("todo_write", {}),
    ]
    assert heard.inputs[heard.calls[1].call_id] == '{"path": "größe.txt"}'
    assert heard.stop is not None
    assert heard.stop.reason == "tool_use"


async def test_arguments_that_are_no_json_are_kept_and_not_a_failure(model_of: ModelOf) -> None:
    heard = await hear(model_of("badargs"), ask())
    assert heard.calls == [Call(heard.calls[0].call_id, "shell_exec", {}, malformed='{"command": "uname -')]


async def test_each_call_has_an_id_of_its_own(model_of: ModelOf) -> None:
    before: tuple[Message, ...] = (
        *HELLO,
        Assistant((Call("call_0", "a", {}),)),
        Told("call_0", (Text("done"),)),
    )
    heard = await hear(model_of("same-ids"), ask(messages=before))
    assert len({"call_0", *(call.call_id for call in heard.calls)}) == 3


async def test_thinking_comes_before_the_text_when_it_is_asked_for(model_of: ModelOf) -> None:
    heard = await hear(model_of("thinking"), ask(thinking=True))
    assert heard.thinking == "The person wants a number; I take 42."
    assert heard.text == "42."
    assert [chunk.block for chunk in heard.chunks if isinstance(chunk, TextChunk)] == [1]


async def test_thinking_that_nobody_asked_for_is_left_out(model_of: ModelOf) -> None:
    heard = await hear(model_of("thinking"), ask())
    assert (heard.thinking, heard.signature, heard.text) == ("", "", "42.")


async def test_pictures_reach_the_model(model_of: ModelOf) -> None:
    messages: tuple[Message, ...] = (
        User((Text("Look."), Image("art_1", "image/png"), Image("art_gone", "image/png"))),
        Assistant((Call("call_a", "file_read", {"path": "x.png"}),)),
        Told("call_a", (Text("a picture"), Image("art_2", "image/jpeg"))),
    )
    heard = await hear(model_of("image"), ask(messages=messages, images={"art_1": PNG, "art_2": PNG}))
    assert heard.text == "I see 2 pictures."


async def test_a_whole_conversation_is_one_that_the_server_takes(model_of: ModelOf) -> None:
    messages: tuple[Message, ...] = (
        User((Text("Look around."),)),
        Assistant((Text("I will."), Call("call_a", "shell_exec", {"command": "ls"}), Call("call_b", "x", {}, "{"))),
        Told("call_a", (Text("a.txt"),)),
        Told("call_b", (), is_error=True),
        User((Text("And be quick."),)),
        Assistant((Text(""),)),
        User((Text("Go on."), Text(" "))),
        Assistant((Thinking("never sealed"), Text("Well."))),
        User((Text("Now?"),)),
    )
    assert (await hear(model_of("ok"), ask(messages=messages))).text == TEXT


async def test_caches_are_counted_the_same_way(model_of: ModelOf) -> None:
    heard = await hear(model_of("cached"), ask())
    assert heard.usage == Usage(input_tokens=1000, output_tokens=20, cache_read_tokens=800, cache_write_tokens=150)


@pytest.mark.parametrize(
    ("name", "code", "status", "retriable"),
    [
        ("400", "bad_request", 400, False),
        ("401", "auth_failed", 401, False),
        ("403", "auth_failed", 403, False),
        ("404", "bad_request", 404, False),
        ("413", "context_overflow", 413, False),
        ("429", "rate_limited", 429, True),
        ("quota", "rate_limited", 429, False),
        ("500", "model_unreachable", 500, True),
        ("503", "model_unreachable", 503, True),
        ("529", "model_unreachable", 529, True),
        ("redirect", "bad_request", 307, False),
        ("ctxlen", "context_overflow", 400, False),
        ("notools", "capability_missing", 400, False),
        ("mid", "model_unreachable", 529, True),
        ("drop", "model_unreachable", None, True),
        ("drop-early", "model_unreachable", None, True),
        ("truncated", "model_unreachable", None, True),
        ("malformed", "malformed_stream", None, True),
        ("shapeless", "malformed_stream", None, True),
        ("utf8", "malformed_stream", None, True),
        ("html", "malformed_stream", None, True),
        ("hang", "model_timeout", None, True),
        ("silent", "model_timeout", None, True),
        ("stall", "model_timeout", None, True),
        ("refusal", "model_refused", None, False),
    ],
)
async def test_every_failure_has_its_code(
    model_of: ModelOf, server: ModelServer, name: str, code: str, status: int | None, retriable: bool
) -> None:
    fault, _ = await fail(model_of(name), ask())
    assert (fault.code, fault.status, fault.retriable) == (code, status, retriable)
    assert fault.message
    assert KEY not in str(fault)
    assert len(server.requests) == 1, "the SDK tried again by itself"


@pytest.mark.parametrize(("name", "wait_s"), [("429", 7.0), ("429-ms", 1.5), ("503", 3.0), ("529", None)])
async def test_how_long_to_wait_is_what_the_server_says(model_of: ModelOf, name: str, wait_s: float | None) -> None:
    fault, _ = await fail(model_of(name), ask())
    assert fault.retry_after_s == wait_s


async def test_a_date_to_wait_for_is_turned_into_seconds(model_of: ModelOf) -> None:
    fault, _ = await fail(model_of("429-date"), ask())
    assert fault.retry_after_s is not None
    assert 0.0 <= fault.retry_after_s <= 3600.0


async def test_what_was_said_before_a_failure_is_heard(model_of: ModelOf) -> None:
    fault, heard = await fail(model_of("mid"), ask())
    assert heard.text
    assert TEXT.startswith(heard.text)
    assert fault.message == "Overloaded in the middle"


async def test_a_refusal_tells_what_it_cost(model_of: ModelOf) -> None:
    fault, _ = await fail(model_of("refusal"), ask())
    assert fault.usage == Usage(input_tokens=100, output_tokens=7)


async def test_a_server_that_recovers_answers_the_third_try(model_of: ModelOf) -> None:
    model = model_of("529x2")
    for _ in range(2):
        assert (await fail(model, ask()))[0].status == 529
    assert (await hear(model, ask())).text == TEXT


async def test_a_model_without_tools_answers_once_none_are_offered(model_of: ModelOf) -> None:
    assert (await fail(model_of("notools"), ask()))[0].code == "capability_missing"
    assert (await hear(model_of("notools"), ask(tools=()))).text == TEXT


async def test_an_answer_that_is_cut_off_says_so(model_of: ModelOf) -> None:
    heard = await hear(model_of("length"), ask())
    assert heard.stop is not None
    assert (heard.text, heard.stop.reason) == ("This is cut off by the lim", "max_tokens")


async def test_an_empty_answer_is_an_answer(model_of: ModelOf) -> None:
    heard = await hear(model_of("empty"), ask())
    assert (heard.text, heard.calls) == ("", [])


async def test_frames_that_the_network_cuts_anywhere_are_put_together(model_of: ModelOf) -> None:
    assert (await hear(model_of("split"), ask())).text == TEXT


async def test_halves_of_a_character_are_joined_and_a_lone_one_is_marked(model_of: ModelOf) -> None:
    heard = await hear(model_of("halves"), ask())
    assert heard.text == "AAAAA\U0001f600BBBBB\ufffd"
    heard.text.encode()


async def test_nothing_is_left_behind_when_a_call_is_cancelled(model_of: ModelOf, server: ModelServer) -> None:
    before = asyncio.all_tasks()
    begun = asyncio.Event()

    async def listen() -> None:
        async for _ in model_of("stall").stream(ask()):
            begun.set()

    task = asyncio.create_task(listen())
    await begun.wait()
    task.cancel("the run was cancelled")
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.until(lambda: server.connections == 0)
    assert _ours(asyncio.all_tasks()) == _ours(before)


async def test_nothing_is_left_behind_when_nobody_listens_any_more(model_of: ModelOf, server: ModelServer) -> None:
    before = asyncio.all_tasks()
    answer = model_of("stall").stream(ask())
    await anext(answer)
    await answer.aclose()
    await server.until(lambda: server.connections == 0)
    # The SDK's own generators are closed by the loop, in tasks that end by themselves.
    async with asyncio.timeout(PATIENCE_S):
        while _ours(asyncio.all_tasks()) != _ours(before):
            await asyncio.sleep(0)


async def test_a_call_is_cancelled_before_the_server_said_a_word(model_of: ModelOf, server: ModelServer) -> None:
    task = asyncio.create_task(hear(model_of("silent"), ask()))
    await server.until(lambda: len(server.requests) == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.until(lambda: server.connections == 0)


async def test_calls_run_side_by_side(model_of: ModelOf) -> None:
    answers = await asyncio.gather(*(hear(model_of("ok"), ask()) for _ in range(16)))
    assert {heard.text for heard in answers} == {TEXT}


async def test_a_connection_is_used_again(model_of: ModelOf, server: ModelServer) -> None:
    for _ in range(3):
        await hear(model_of("ok"), ask())
    assert server.connections == 1


async def test_a_server_that_is_not_there_is_unreachable(server: ModelServer, model_of: ModelOf) -> None:
    model = model_of("ok")
    await server.__aexit__(None, None, None)
    fault, _ = await fail(model, ask())
    assert (fault.code, fault.retriable) == ("model_unreachable", True)
    await server.__aenter__()


async def test_a_wrong_key_is_told_and_not_shown(server: ModelServer, wire: str, ids: Ids) -> None:
    key = "sk-wrong-9876543210"
    environ = {**server.environ(), "OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key}
    wrong = Catalogue(providers={}, environ=environ, ids=ids)
    fault, _ = await fail(wrong.model(f"{wire}:ok"), ask())
    assert fault.code == "auth_failed"
    assert key not in str(fault)
    await wrong.close()


async def test_a_model_can_go_on_after_its_own_calls(model_of: ModelOf) -> None:
    first = await hear(model_of("thinking-tool"), ask(thinking=True))
    said = Assistant((Thinking(first.thinking, first.signature or None), *first.calls))
    (call,) = (chunk.call for chunk in first.chunks if isinstance(chunk, CallChunk))
    messages: tuple[Message, ...] = (*HELLO, said, Told(call.call_id, (Text("Linux"),)))
    assert (await hear(model_of("thinking"), ask(messages=messages, thinking=True))).text == "42."


async def test_reasoning_whose_seal_is_broken_is_not_sent_back(model_of: ModelOf, wire: str) -> None:
    broken = Assistant((Thinking("the key is [redacted:env.x]", SEAL), Call("call_a", "x", {})))
    messages: tuple[Message, ...] = (*HELLO, broken, Told("call_a", (Text("Linux"),)))
    heard = await hear(model_of("thinking"), ask(messages=messages, thinking=True))
    # Without the reasoning that its last call began with, this provider's model is not asked to think.
    assert heard.thinking == ("" if wire == "anthropic" else "The person wants a number; I take 42.")
    assert heard.text == "42."


def _ours(tasks: set[asyncio.Task[object]]) -> set[str]:
    # The server's own tasks come and go with its connections.
    return {name for task in tasks if "ModelServer" not in (name := repr(task.get_coro()))}


def test_a_fault_says_what_it_is() -> None:
    assert str(ModelFault("rate_limited", "slow down")) == "rate_limited: slow down"
