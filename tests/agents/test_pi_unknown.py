"""pi: whatever comes, nothing is harmed and what is not known is kept."""

import random

import pytest

from tests.agents.pi_streams import START, Line, answer, raw, told, turn_end, update
from tests.agents.transcripts import Transcript, breaches_of, kept, transcripts

# Whatever comes.


@pytest.mark.parametrize("transcript", transcripts("pi-0.87.1")[::6], ids=lambda one: one.name)
def test_a_stream_that_is_cut_anywhere_keeps_the_rules(transcript: Transcript) -> None:
    stream = transcript.raw
    chance = random.Random(1)
    for _ in range(12):
        assert breaches_of("pi", [stream[: chance.randrange(len(stream) + 1)]]) == []


def test_lines_of_streams_that_are_mixed_keep_the_rules() -> None:
    chance = random.Random(2)
    streams = [one.raw.split(b"\n") for one in transcripts("pi-0.73.1", "pi-0.87.1") if len(one.raw) < 60_000]
    for _ in range(25):
        lines = [*chance.choice(streams), *chance.choice(streams)]
        chance.shuffle(lines)
        assert breaches_of("pi", [b"\n".join(lines)]) == []


@pytest.mark.parametrize(
    "junk",
    [
        b"null",
        b"[]",
        b"{}",
        b'"x"',
        b"\xff\xfe",
        b'{"type":"message_update"}',
        b'{"type":"message_update","assistantMessageEvent":null}',
        b'{"type":"message_end","message":{"role":"assistant","content":7}}',
        b'{"type":"tool_execution_end","toolCallId":"x","result":{"content":[],"details":"text","structuredContent":[1]}}',
        b'{"type":"tool_execution_update","toolCallId":"x","toolName":"bash","partialResult":{"content":[{"type":"text","text":"a"}],"details":{"truncation":{"truncated":true,"totalBytes":-5}}}}',
        b'{"type":"extension_ui_request","id":"q","method":"select","options":[1]}',
        b'{"type":"turn_end"}',
        b'{"type":"response","command":"get_state","success":true,"data":[]}',
    ],
)
def test_junk_harms_nothing(junk: bytes) -> None:
    assert (
        breaches_of("pi", [raw(START), junk + b"\n", raw([*answer(), turn_end(), {"type": "agent_end"}]), junk]) == []
    )


# What is not known.


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (update("brand_new"), "no piece of a message is called 'brand_new'"),
        ({"type": "message_start", "message": {"role": "brand_new"}}, "no role is called 'brand_new'"),
        ({"type": "message_end", "message": {"role": "brand_new"}}, "no role is called 'brand_new'"),
        (answer(content=[{"type": "brand_new"}])[1], "no block is called 'brand_new'"),
        (
            {"type": "message_end", "message": {"role": "user", "content": [{"type": "brand_new"}]}},
            "no block is called 'brand_new'",
        ),
        (
            {"type": "tool_execution_end", "toolCallId": "c1", "result": {"content": [{"type": "brand_new"}]}},
            "no block is called 'brand_new'",
        ),
        (
            {"type": "extension_ui_request", "id": "e", "method": "brand_new"},
            "no method of an extension is called 'brand_new'",
        ),
    ],
)
def test_what_is_of_a_kind_that_nobody_knows_is_kept(line: Line, why: str) -> None:
    items, _ = told(*START, line)
    assert kept(items) == [why]


@pytest.mark.parametrize(
    "line",
    [
        *map(update, ("start", "text_start", "text_end", "toolcall_start", "toolcall_delta", "toolcall_end", "done")),
        {"type": "message_start", "message": {"role": "toolResult"}},
        {"type": "message_end", "message": {"role": "system", "content": "x"}},
        {"type": "extension_ui_request", "id": "e", "method": "setStatus"},
    ],
)
def test_what_tells_nothing_is_passed_over(line: Line) -> None:
    items, _ = told(*START, line)
    assert kept(items) == []
