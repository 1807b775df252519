"""What a tool of Agno's returned: JSON, a Python value, or text. It is read and never run."""

import ast
import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.agents.agno.literals import DEPTH_MAX, LITERAL_MAX, readable


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("{'success': True, 'b': None}", '{"success":true,"b":null}'),
        ('{"a": 1,  "b": [1, 2]}', '{"a":1,"b":[1,2]}'),
        ("[1, 'it\\'s \"A\"', (2, 3)]", '[1,"it\'s \\"A\\"",[2,3]]'),
        ("True", "true"),
        ("None", "null"),
        ("7", "7"),
        ("-1.5", "-1.5"),
        ("{1: 'a'}", '{"1":"a"}'),
        ("'quoted'", '"quoted"'),
        ("deleted 5", "deleted 5"),
        ("", ""),
        ("2025-12-19 22:29:49", "2025-12-19 22:29:49"),
        ('a=1 b="x\'y"', 'a=1 b="x\'y"'),
        ("b'\\x00'", "b'\\x00'"),
        ("{1, 2}", "{1, 2}"),
        ("1+2j", "1+2j"),
        ("1e999", "1e999"),
        ("'\\ud800'", "'\\ud800'"),
        ("__import__('os').getcwd()", "__import__('os').getcwd()"),
        ("[open('x')]", "[open('x')]"),
        ({"a": 1}, '{"a":1}'),
        (None, None),
    ],
)
def test_a_result_is_told_as_what_it_is(result: object, told: str | None) -> None:
    assert readable(result) == told


@pytest.mark.parametrize(
    "text",
    [
        "[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1) + " ",
        "['" + "x" * LITERAL_MAX + "']",
        "[" + "1+" * 20_000 + "1]",
        "-" * 20_000 + "1",
        "[" * 30_000,
        "(" + "not " * 10_000 + "1)",
        "1" * 6_000 + "_0",
    ],
)
def test_what_is_too_long_or_too_deep_stays_text(text: str) -> None:
    told = readable(text)
    assert told in {text, text.strip()}


def test_text_that_only_looks_like_a_value_warns_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert readable("'\\d' is a digit") == "'\\d' is a digit"
        assert readable("[1](2)") == "[1](2)"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_what_python_shows_is_read_back(value: object) -> None:
    told = readable(repr(value))
    assert told is not None
    assert json.loads(told) == value


@given(st.text())
def test_any_text_is_told_as_something_that_can_be_sent(text: str) -> None:
    told = readable(text)
    assert told is not None
    told.encode()


_TOKENS = [
    "'",
    "'a'",
    "'it is'",
    '"',
    "\\",
    "True",
    "None",
    "true",
    "0",
    "-0",
    "7",
    "-1.50",
    "007",
    "1e5",
    "[",
    "]",
    "{",
    "}",
]
_TOKENS += [",", ", ", ":", ": ", " ", "(", ")", "\t", "{'a': 1}", "[1, 'b']", "12345678901234567890", "0.1", "\x00"]


@given(st.lists(st.sampled_from(_TOKENS), max_size=9).map("".join))
def test_a_value_is_what_python_takes_it_for(text: str) -> None:
    try:
        value: object = json.loads(text)
    except ValueError:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = ast.literal_eval(text.strip())
            told = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        except (ValueError, TypeError, SyntaxError):
            told = text
        assert readable(text) == told
