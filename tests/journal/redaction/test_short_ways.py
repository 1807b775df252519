"""The short ways through redaction come to the same end as the long one."""

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runwire.journal.redaction.document import Document
from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.scanner import compile_shapes, known_spellings
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.journal.redaction.shapes import SHAPES
from runwire.journal.redaction.sieve import Sieve
from runwire.journal.redaction.splicing import splice
from tests.journal.redaction.examples import KNOWN, SHAPED
from tests.spec import spec

REDACTOR = Redactor(SecretSet(KNOWN))
SIEVE = Sieve(known_spellings(SecretSet(KNOWN).values, {}), compile_shapes(SHAPES))
VALUE = KNOWN[0].value
PLACE = "[redacted:env.plain]"

_WHOLE = st.sampled_from([*(known.value for known in KNOWN), *(each.text for each in SHAPED)])
_CUT = st.builds(lambda text, start, end: text[start:end], _WHOLE, st.integers(0, 12), st.integers(8, 80))
_BETWEEN = st.sampled_from(
    [
        "",
        " ",
        "\n",
        '"',
        "\\",
        "/",
        ":",
        "x",
        "7",
        "é",
        "日",
        "\u00a0",
        "\x1b[0m",
        "Bearer ",
        "://",
        "sk-",
        "eyJ",
        "key",
    ]
) | st.sampled_from([PLACE, "[redacted:", "[redacted:nobody]", "Authorization: ", "-----BEGIN PRIVATE KEY-----\n"])
TEXTS = st.lists(_WHOLE | _CUT | _BETWEEN | st.text(max_size=6), max_size=6).map("".join)
NAMES = TEXTS | st.sampled_from(
    ["text", "a/b~c", 'quo"ted', "max_tokens", "password", "access_to\u212aen", "redacted_paths"]
)
LEAVES = st.none() | st.integers() | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


def encodings(value: object) -> list[bytes]:
    """The value as our encoder writes it, and as others do: with escapes and with spaces."""
    return [
        msgspec.json.encode(value),
        json.dumps(value, separators=(",", ":")).encode(),
        json.dumps(value, ensure_ascii=False, indent=1).encode(),
    ]


def thoroughly(redactor: Redactor, data: bytes) -> bytes:
    """The payload redacted string by string, and each string as a stream."""

    def streamed(text: str) -> str:
        stream = redactor.stream()
        return stream.feed(text) + stream.close()

    return Document(data, streamed).redacted()


@spec("RED-1", "RED-2", "RED-3")
@given(OBJECTS)
@example({"a": {"b": [[1, {"c": VALUE}], VALUE]}, "d": [], "e": VALUE})
@example({"a": VALUE, "access_to\u212aen": "abc"})
@example({"a": VALUE, "b": "-----BEGIN PRIVATE KEY-----\u00a0" + "A" * 40})
def test_a_payload_is_redacted_as_if_every_string_had_been_looked_at(value: dict[str, object]) -> None:
    for data in encodings(value):
        # What raises no suspicion is passed on unread; whether it should have is another question than the way taken.
        assert REDACTOR.redact(data) == (thoroughly(REDACTOR, data) if SIEVE.suspected([data]) else data)


@spec("RED-1")
@given(TEXTS)
def test_a_whole_text_is_redacted_as_its_stream_is(text: str) -> None:
    stream = REDACTOR.stream()
    assert REDACTOR.redact_text(text) == stream.feed(text) + stream.close()


@spec("RED-1", "RED-2")
@given(st.lists(OBJECTS, max_size=6))
def test_payloads_are_redacted_together_as_each_is_alone(values: list[dict[str, object]]) -> None:
    payloads = [data for value in values for data in (*encodings(value), b"")]
    expected = {number: REDACTOR.redact(data) for number, data in enumerate(payloads)}
    changed = {number: data for number, data in expected.items() if data is not payloads[number]}
    assert REDACTOR.redact_all(payloads) == changed


@pytest.mark.parametrize(
    "data",
    [
        f'{{"{VALUE}":1}}',
        f'{{"text":"{VALUE}","redacted_paths":[]}}',
        f'{{"text":"{VALUE}","access_to\u212aen":"abc"}}',
        f'["{VALUE}"]',
    ],
)
def test_the_short_way_is_not_taken_where_it_would_not_do(data: str) -> None:
    encoded = data.encode()
    assert the_short_way(encoded) is None


def test_the_short_way_finds_paths_at_every_depth() -> None:
    data = json.dumps({"n": [1, {"x": 2, "a/b~": [[], {}, VALUE]}, VALUE], "m": {}, "t": VALUE}).encode()
    assert the_short_way(data) == data.replace(VALUE.encode(), PLACE.encode())[:-1] + (
        b',"redacted_paths":["/n/1/a~1b~0/2","/n/2","/t"]}'
    )


@pytest.mark.parametrize("before", ["\\", "\\\\", '\\"', '"', '\\\\"', "\\n", '","'])
def test_the_short_way_knows_which_quotes_end_a_string(before: str) -> None:
    value = {"before": before, "text": f"{before}{VALUE}{before}"}
    redacted = the_short_way(msgspec.json.encode(value))
    assert redacted == msgspec.json.encode(
        {"before": before, "text": f"{before}{PLACE}{before}", "redacted_paths": ["/text"]}
    )


def test_a_number_that_is_written_like_a_secret_stays() -> None:
    redactor = Redactor(SecretSet([KnownValue("pin", "481516234200")]))
    data = b'{"n":481516234200,"text":"481516234200","m":481516234200}'
    assert redactor.redact(data) == (
        b'{"n":481516234200,"text":"[redacted:pin]","m":481516234200,"redacted_paths":["/text"]}'
    )


def the_short_way(data: bytes) -> bytes | None:
    """The payload with its one known value taken out the short way; None if that would not do."""
    places = [at for at in range(len(data)) if data.startswith(VALUE.encode(), at)]
    cut = splice(data, places)
    return None if cut is None else cut.joined([REDACTOR.redact_text(text) for text in cut.texts])
