"""A script is played turn by turn, and says plainly what is wrong with it."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from runwire.ids import Ids
from runwire.native.errors import ModelFault
from runwire.native.loop.state import Call, Text, Usage, User
from runwire.native.models.catalogue import Catalogue
from runwire.native.models.model import Model, TextChunk
from runwire.native.models.scripted import Script, Scripts, parse_script
from tests.native.models.calls import ask, fail, hear

FROM_THE_CONTRACT = (
    b'{"turns":[{"text":"...","thinking":"...","tools":[{"name":"shell_exec","input":{"command":"uname -s"}}],'
    b'"usage":{"input":10,"output":5},"delay_ms":0,"error":{"status":529,"message":"...","times":2}}]}'
)


@pytest.fixture
def catalogue(ids: Ids) -> Catalogue:
    return Catalogue(providers={}, environ={}, ids=ids)


def _model(catalogue: Catalogue, folder: Path, **script: object) -> Model:
    path = folder / "script.json"
    path.write_bytes(msgspec.json.encode(script))
    return catalogue.model(f"scripted:{path}")


def test_the_form_of_the_contract_is_read() -> None:
    (turn,) = parse_script(FROM_THE_CONTRACT).turns
    assert turn.tools[0].input == {"command": "uname -s"}
    assert turn.error is not None
    assert turn.error.times == 2


async def test_each_call_takes_the_turn_that_it_has_come_to(catalogue: Catalogue, tmp_path: Path) -> None:
    model = _model(catalogue, tmp_path, turns=[{"text": "one"}, {"text": "two"}])
    assert (await hear(model, ask(ordinal=1))).text == "two"
    assert (await hear(model, ask(ordinal=0))).text == "one"
    assert (await hear(model, ask(ordinal=0))).text == "one"


async def test_text_comes_in_pieces_and_with_its_usage(catalogue: Catalogue, tmp_path: Path) -> None:
    text = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich."
    usage = {"input": 10, "output": 5, "cache_read": 4, "cache_write": 1}
    heard = await hear(_model(catalogue, tmp_path, turns=[{"text": text, "usage": usage}]), ask())
    assert heard.text == text
    assert len([chunk for chunk in heard.chunks if isinstance(chunk, TextChunk)]) == 3
    assert heard.usage == Usage(input_tokens=10, output_tokens=5, cache_read_tokens=4, cache_write_tokens=1)
    assert heard.stop is not None
    assert (heard.stop.reason, heard.stop.cost_micros_usd) == ("end_turn", 0)


async def test_tools_get_fresh_ids_unless_they_have_one(catalogue: Catalogue, tmp_path: Path) -> None:
    tools = [{"name": "a"}, {"name": "b", "id": "call_mine", "input": {"x": 1}}, {"name": "c", "arguments": "{"}]
    heard = await hear(_model(catalogue, tmp_path, turns=[{"tools": tools}]), ask())
    fresh = heard.calls[0].call_id
    assert fresh.startswith("call_")
    assert heard.calls[:2] == [Call(fresh, "a", {}), Call("call_mine", "b", {"x": 1})]
    assert heard.calls[2].malformed == "{"
    assert heard.inputs["call_mine"] == '{"x":1}'
    assert heard.stop is not None
    assert heard.stop.reason == "tool_use"


async def test_thinking_and_media_have_blocks_of_their_own(catalogue: Catalogue, tmp_path: Path) -> None:
    turn = {"thinking": "hm", "text": "there", "media": [{"mime": "image/png", "base64": "aGk="}]}
    heard = await hear(_model(catalogue, tmp_path, turns=[turn]), ask(thinking=True))
    assert (heard.thinking, heard.text) == ("hm", "there")
    assert [(media.block, media.mime, media.body) for media in heard.media] == [(2, "image/png", b"hi")]
    assert (await hear(_model(catalogue, tmp_path, turns=[turn]), ask())).thinking == ""


async def test_a_turn_fails_as_often_as_it_says(catalogue: Catalogue, tmp_path: Path) -> None:
    error = {"status": 529, "message": "Overloaded", "times": 2, "retry_after_s": 0.5}
    model = _model(catalogue, tmp_path, turns=[{"text": "at last", "error": error}])
    for attempt in (1, 2):
        fault, heard = await fail(model, ask(attempt=attempt))
        assert (fault.code, fault.status, fault.retriable) == ("model_unreachable", 529, True)
        assert (fault.message, fault.retry_after_s, heard.text) == ("Overloaded", 0.5, "")
    assert (await hear(model, ask(attempt=3))).text == "at last"


async def test_a_failure_without_a_number_of_times_never_ends(catalogue: Catalogue, tmp_path: Path) -> None:
    model = _model(catalogue, tmp_path, turns=[{"error": {"status": 401, "message": "no"}}])
    assert (await fail(model, ask(attempt=99)))[0].code == "auth_failed"


async def test_a_failure_can_come_in_the_middle(catalogue: Catalogue, tmp_path: Path) -> None:
    model = _model(catalogue, tmp_path, turns=[{"text": "half of it", "error": {"mid_stream": True}}])
    fault, heard = await fail(model, ask())
    assert (fault.code, fault.status, heard.text) == ("model_unreachable", None, "half ")


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (429, "slow down", "rate_limited"),
        (400, "prompt is too long: 9 tokens > 8 maximum", "context_overflow"),
        (400, "this model does not support tools", "capability_missing"),
        (400, "no", "bad_request"),
    ],
)
async def test_a_scripted_status_means_what_a_real_one_does(
    catalogue: Catalogue, tmp_path: Path, status: int, message: str, code: str
) -> None:
    model = _model(catalogue, tmp_path, turns=[{"error": {"status": status, "message": message}}])
    assert (await fail(model, ask()))[0].code == code


async def test_a_script_that_is_at_its_end_says_so(catalogue: Catalogue, tmp_path: Path) -> None:
    fault, _ = await fail(_model(catalogue, tmp_path, turns=[{"text": "x"}]), ask(ordinal=1))
    assert (fault.code, fault.retriable) == ("script_exhausted", False)


async def test_money_is_what_the_turn_says_or_what_the_named_model_takes(catalogue: Catalogue, tmp_path: Path) -> None:
    turns = [{"text": "x", "cost_micros_usd": 1234}, {"text": "y", "usage": {"input": 1000, "output": 10}}]
    model = _model(catalogue, tmp_path, turns=turns, price_as="anthropic:claude-sonnet-4-5")
    costs = [(await hear(model, ask(ordinal=ordinal))).stop for ordinal in (0, 1)]
    assert [stop.cost_micros_usd for stop in costs if stop] == [1234, 3150]


async def test_a_script_can_say_what_its_model_cannot_do(catalogue: Catalogue, tmp_path: Path) -> None:
    able = _model(catalogue, tmp_path, turns=[], capabilities={"tool_use": False, "window_tokens": 900}).capabilities
    assert (able.tool_use, able.images, able.window_tokens) == (False, True, 900)


async def test_a_delay_can_be_cancelled(catalogue: Catalogue, tmp_path: Path) -> None:
    model = _model(catalogue, tmp_path, turns=[{"text": "late", "delay_ms": 3_600_000}])
    task = asyncio.create_task(hear(model, ask()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"turns":[{"txet":"x"}]}', "txet"),
        (b'{"turns":[{"tools":[{"name":"a","inputs":{}}]}]}', "inputs"),
        (b'{"turns":[{"tools":[{}]}]}', "name"),
        (b'{"turns":[{"usage":{"input":-1}}]}', "usage.input"),
        (b"{}", "turns"),
        (b"not json", "malformed"),
        (b'{"turns":[{"text":"\xff"}]}', ""),
        (b"[" * 100_000, ""),
    ],
)
def test_a_script_that_is_wrong_says_where(body: bytes, says: str) -> None:
    with pytest.raises(ModelFault) as caught:
        parse_script(body)
    assert caught.value.code == "model_unknown"
    assert says in caught.value.message


def test_only_a_file_is_played(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "gone.json", Path("/dev/zero"), tmp_path / "a\0b"):
        with pytest.raises(ModelFault) as caught:
            Scripts().read(str(path))
        assert caught.value.code == "model_unknown"


def test_a_script_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    scripts, path = Scripts(), tmp_path / "s.json"
    path.write_bytes(b'{"turns":[]}')
    first = scripts.read(str(path))
    assert scripts.read(str(path)) is first
    path.write_bytes(b'{"turns":[{}]}')
    second: Script = scripts.read(str(path))
    assert len(second.turns) == 1


@pytest.mark.parametrize(("pace_ms", "expected"), [(1, ["others", "piece"]), (0, ["piece"])])
async def test_others_may_work_while_a_turn_takes_its_time(
    catalogue: Catalogue, tmp_path: Path, pace_ms: int, expected: list[str]
) -> None:
    model = _model(catalogue, tmp_path, turns=[{"text": "x", "pace_ms": pace_ms}])
    seen: list[str] = []
    asyncio.get_running_loop().call_soon(seen.append, "others")
    model_says = model.stream(ask())
    assert isinstance(await anext(model_says), TextChunk)
    seen.append("piece")
    await model_says.aclose()
    assert seen == expected


async def test_a_conversation_that_begins_with_a_prompt_of_its_own_has_turns_of_its_own(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    part = {"Say hello.": [{"text": "Hello from a part."}]}
    model = _model(catalogue, tmp_path, turns=[{"text": "The whole."}], children=part)
    assert (await hear(model, ask())).text == "Hello from a part."
    other = ask(messages=[User((Text("Something else."),))])
    assert (await hear(model, other)).text == "The whole."
    fault, _ = await fail(model, ask(ordinal=1))
    assert fault.code == "script_exhausted"
