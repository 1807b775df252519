"""What is peculiar to Chat Completions, and to the many servers that took it over."""

import secrets
import time

import msgspec

from runwire.config import ModelProvider
from runwire.ids import Ids
from runwire.native.loop.state import Usage
from runwire.native.models.catalogue import Catalogue
from runwire.testing.model_server import ModelServer, Plan
from tests.native.models.calls import Heard, ask, hear


async def _heard(*deltas: dict[str, object], finish: str = "stop", thinking: bool = False) -> tuple[Heard, ModelServer]:
    """What is heard of a local server that sends exactly this."""
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    frames = [b": keep-alive\n\n", *(b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks)]
    ids = Ids(now_ns=time.time_ns, random_bytes=secrets.token_bytes)
    async with ModelServer(plans={"m": Plan(frames=frames)}) as server:
        local = ModelProvider(base_url=server.base_url("openai"), api_key_env="LOCAL_KEY")
        environ = {"LOCAL_KEY": server.environ()["OPENAI_API_KEY"]}
        catalogue = Catalogue(providers={"local": local}, environ=environ, ids=ids)
        heard = await hear(catalogue.model("local:m"), ask(thinking=thinking))
        await catalogue.close()
        return heard, server


async def test_a_server_that_tells_no_usage_counts_none() -> None:
    heard, _ = await _heard({"content": "hi"})
    assert (heard.text, heard.usage) == ("hi", Usage())


async def test_reasoning_is_heard_under_either_of_its_names() -> None:
    for name in ("reasoning", "reasoning_content"):
        heard, _ = await _heard({name: "hm"}, {"content": "hi"}, thinking=True)
        assert (heard.thinking, heard.text) == ("hm", "hi")


async def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    one = {"index": 0, "id": "a", "function": {"name": "x", "arguments": '{"n":1}'}}
    two = {"index": 0, "id": "b", "function": {"name": "y", "arguments": '{"n":2}'}}
    heard, _ = await _heard({"tool_calls": [one]}, {"tool_calls": [two]}, finish="tool_calls")
    assert [(call.name, call.input) for call in heard.calls] == [("x", {"n": 1}), ("y", {"n": 2})]


async def test_a_call_without_an_id_or_arguments_is_a_call() -> None:
    heard, _ = await _heard({"tool_calls": [{"index": 0, "function": {"name": "x"}}]})
    (call,) = heard.calls
    assert (call.name, call.input, call.malformed) == ("x", {}, None)
    assert call.call_id.startswith("call_")
    assert heard.stop is not None
    assert heard.stop.reason == "tool_use", "a server that says `stop` after a call means the call"


async def test_arguments_that_are_json_but_no_object_are_malformed() -> None:
    heard, _ = await _heard({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": "[1]"}}]})
    assert heard.calls[0].malformed == "[1]"


async def test_servers_that_are_not_openai_get_the_older_name_of_the_limit() -> None:
    _, server = await _heard({"content": "hi"})
    assert server.requests[0].body["max_tokens"] == 4096
    assert "max_completion_tokens" not in server.requests[0].body


async def test_openai_gets_the_newer_name_of_the_limit(catalogue: Catalogue, server: ModelServer) -> None:
    await hear(catalogue.model("openai:ok"), ask())
    assert server.requests[0].body["max_completion_tokens"] == 4096
    assert "max_tokens" not in server.requests[0].body
