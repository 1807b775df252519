"""Tools in words: what an answer asks for, and what a model without tools is shown."""

from itertools import count

import pytest

from runwire.host import ToolSpec
from runwire.native.loop.simulated import correction, instructions, plain, read
from runwire.native.loop.state import Assistant, Call, Text, Told, User


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "echo", "input": {"word": "ho"}}',
        '  \n{"tool": "echo", "input": {"word": "ho"}}\nthat is all',
        'Sure:\n```json\n{"tool": "echo", "input": {"word": "ho"}}\n```\n',
        '```\n[{"tool": "echo", "input": {"word": "ho"}}]\n```',
    ],
)
def test_a_call_is_found_in_an_answer(text: str) -> None:
    assert read(text, lambda: "call_1") == ((Call("call_1", "echo", {"word": "ho"}),), "")


def test_several_calls_have_ids_of_their_own() -> None:
    numbers = count()
    calls, _ = read('[{"tool": "a"}, {"tool": "b"}]', lambda: f"call_{next(numbers)}")

    assert [(call.call_id, call.name) for call in calls] == [("call_0", "a"), ("call_1", "b")]


@pytest.mark.parametrize("text", ["I am done.", '{"answer": 42}', "{ not a call", '```json\n{"name": "x"}\n```', ""])
def test_plain_words_are_no_call(text: str) -> None:
    assert read(text, lambda: "c") == ((), "")


@pytest.mark.parametrize(
    "text", ['{"tool": "echo", ', '{"tool": 3}', '[{"tool": "a"}, 3]', '{"tool": "a", "input": 1}']
)
def test_a_call_that_was_meant_and_missed_is_said_to_be(text: str) -> None:
    calls, error = read(text, lambda: "c")

    assert calls == ()
    assert error


def test_a_model_without_tools_sees_neither_calls_nor_results() -> None:
    shown = plain(
        [
            User((Text("go"),)),
            Assistant((Text('{"tool": "echo"}'), Call("1", "echo", {}))),
            Told("1", (Text("ho"),)),
            Assistant((Call("2", "echo", {"word": "x"}),)),
        ]
    )

    assert shown == (
        User((Text("go"),)),
        Assistant((Text('{"tool": "echo"}'),)),
        User((Text("[result of echo]\n"), Text("ho"))),
        Assistant((Text('{"tool":"echo","input":{"word":"x"}}'),)),
    )


def test_the_instructions_name_every_tool() -> None:
    text = instructions([ToolSpec("echo", "Say a word.", {"type": "object"})])

    assert "- echo: Say a word." in text
    assert '{"type":"object"}' in text


def test_a_correction_says_what_was_wrong() -> None:
    (part,) = correction("not JSON").parts
    assert isinstance(part, Text)
    assert "not JSON" in part.text
