"""Chunks in, events out: blocks are told once they are whole, and never before."""

from collections.abc import AsyncGenerator

import pytest
from msgspec.structs import replace

from runwire.native.errors import ModelFault
from runwire.native.loop.state import Call, Text, Thinking, Usage
from runwire.native.models.model import (
    CallChunk,
    Chunk,
    InputChunk,
    SignatureChunk,
    Stop,
    TextChunk,
    ThinkingChunk,
)
from runwire.native.streaming import stream_answer
from runwire.testing.host import FakeHost, run_facts

STOP = Stop("end_turn", Usage())
NAMES = frozenset({"assistant.thinking_delta", "assistant.thinking_complete", "assistant.tool_input_delta"})


async def chunks(*given: Chunk) -> AsyncGenerator[Chunk]:
    for one in given:
        yield one


async def test_blocks_are_told_when_the_next_one_begins() -> None:
    host = FakeHost(facts=replace(run_facts(), experimental=NAMES))
    call = Call("c", "echo", {})
    answer = await stream_answer(
        chunks(
            ThinkingChunk(0, "hm"),
            ThinkingChunk(0, "m"),
            SignatureChunk(0, "seal"),
            TextChunk(1, "a"),
            TextChunk(1, "b"),
            TextChunk(2, "c"),
            InputChunk("c", "echo", "{}"),
            CallChunk(call),
            STOP,
        ),
        host=host,
        turn=0,
    )

    assert answer.parts == (Thinking("hmm", "seal"), Text("ab"), Text("c"), call)
    assert [payload.type.partition(".")[2] for payload in host.payloads[3:]] == [
        "thinking_delta",
        "thinking_delta",
        "thinking_complete",
        "text_delta",
        "text_delta",
        "text_complete",
        "text_delta",
        "text_complete",
        "tool_input_delta",
    ]


async def test_an_empty_block_is_not_told() -> None:
    host = FakeHost()
    answer = await stream_answer(chunks(TextChunk(0, ""), STOP), host=host, turn=0)

    assert answer.parts == ()
    assert len(host.log) == 3


async def test_an_answer_without_an_end_is_a_failure_and_its_block_is_not_made_up() -> None:
    host = FakeHost()
    with pytest.raises(ModelFault) as fault:
        await stream_answer(chunks(TextChunk(0, "half")), host=host, turn=0)

    assert (fault.value.code, fault.value.retriable) == ("malformed_stream", True)
    assert host.types == ["run.queued", "user.message", "run.started"]


async def test_calls_stand_behind_everything_else() -> None:
    call = Call("c", "echo", {})
    answer = await stream_answer(chunks(CallChunk(call), TextChunk(0, "so"), STOP), host=FakeHost(), turn=0)

    assert answer.parts == (Text("so"), call)


async def test_hidden_reasoning_keeps_its_seal() -> None:
    host = FakeHost(facts=replace(run_facts(), experimental=NAMES))
    answer = await stream_answer(chunks(SignatureChunk(0, "seal"), TextChunk(1, "so"), STOP), host=host, turn=0)

    assert answer.parts == (Thinking("", "seal"), Text("so"))
    assert host.types[-2:] == ["assistant.thinking_complete", "assistant.text_complete"]
