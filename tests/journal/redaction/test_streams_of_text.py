"""A secret in a stream is caught wherever the stream is cut, and nothing else is changed or kept waiting."""

import json
import re
from collections.abc import Iterable
from itertools import combinations, pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.journal.redaction.redactor import Redactor
from runwire.journal.redaction.secrets import KnownValue, SecretSet
from runwire.journal.redaction.spellings import spellings
from runwire.journal.redaction.stream import StreamRedactor
from tests.journal.redaction.examples import KNOWN, SHAPED, Example
from tests.spec import spec

REDACTOR = Redactor(SecretSet(KNOWN))
KNOWN_EXAMPLES = tuple(
    # A bracket at the very end of a value stays visible: it might open a placeholder.
    Example(known.kind, "it is ", known.value.removesuffix("["), "[ yes" if known.value.endswith("[") else " yes")
    for known in KNOWN
)
PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9_.-]+\]")

FRAGMENTS = (
    *(example.text for example in SHAPED),
    *(example.secret for example in SHAPED),
    *(known.value for known in KNOWN),
    *("[redacted:jwt]", "[redacted:env.plain]", "[redacted:no-such-kind]", "[redacted:", "-----BEGIN ", "-----END "),
    *(
        "://",
        "sk-",
        "eyJ",
        "Bearer ",
        "authorization: ",
        "task-",
        "\\n",
        "%3D",
        "\x1b[0m",
        "é",
        "🔑",
        " ",
        "\n",
        "]",
        "[",
        "-",
    ),
    *("a", "aaaa", "n", "@", ":", "/", ".", "=", '"', "word", "0"),
)


def cut(text: str, places: Iterable[int]) -> list[str]:
    """The pieces of a text."""
    ends = [0, *places, len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def streamed(pieces: Iterable[str], stream: StreamRedactor | None = None) -> str:
    """What a stream of these pieces releases, all in all."""
    stream = stream or REDACTOR.stream()
    return "".join([*(stream.feed(piece) for piece in pieces), stream.close()])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Texts made of secrets, beginnings and ends of secrets, and what may stand around them."""
    pieces = []
    for _ in range(draw(st.integers(1, 6))):
        fragment = draw(st.sampled_from(FRAGMENTS))
        if draw(st.booleans()):
            start = draw(st.integers(0, len(fragment)))
            fragment = fragment[start : draw(st.integers(start, len(fragment)))]
        pieces.append(fragment)
    return "".join(pieces)


@spec("RED-4")
@pytest.mark.parametrize("example", KNOWN_EXAMPLES + SHAPED, ids=str)
def test_a_secret_is_caught_whatever_two_places_it_is_cut_at(example: Example) -> None:
    # The head decides; in the body of a long key one place is like another.
    places = sorted({*range(min(70, len(example.text))), *range(70, len(example.text), 7)})
    assert {streamed(cut(example.text, two)) for two in combinations(places, 2)} == {example.redacted}


@spec("RED-4")
@pytest.mark.parametrize("example", [KNOWN_EXAMPLES[0], KNOWN_EXAMPLES[4], KNOWN_EXAMPLES[7], SHAPED[-2]], ids=str)
def test_a_secret_is_caught_whatever_three_places_it_is_cut_at(example: Example) -> None:
    inside = range(len(example.before) - 1, len(example.before) + len(example.secret) + 2)
    assert {streamed(cut(example.text, three)) for three in combinations(inside, 3)} == {example.redacted}


@spec("RED-4")
@pytest.mark.parametrize("example", KNOWN_EXAMPLES + SHAPED, ids=str)
def test_a_secret_is_caught_character_by_character(example: Example) -> None:
    assert streamed(example.text) == example.redacted


@spec("RED-4")
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.kind)
def test_every_spelling_of_a_value_is_caught_character_by_character(known: KnownValue) -> None:
    for spelling in spellings(known.value):
        assert spelling not in streamed(f"so: {spelling} indeed")


@spec("RED-2", "RED-4")
@given(texts(), st.data())
def test_how_a_text_is_cut_does_not_change_what_is_released(text: str, data: st.DataObject) -> None:
    whole = REDACTOR.redact_text(text)
    assert streamed(text) == whole
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    assert streamed(cut(text, places)) == whole


@spec("RED-2")
@given(texts())
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = REDACTOR.redact_text(text)
    assert REDACTOR.redact_text(once) == once


@spec("RED-1")
@given(texts())
def test_no_known_value_is_left_in_a_text(text: str) -> None:
    left = PLACEHOLDER.sub("\0", REDACTOR.redact_text(text))
    assert [known.kind for known in KNOWN if known.value in left] == []


@spec("RED-4")
@given(
    st.text(st.sampled_from("ab.[c"), max_size=40), st.lists(st.text(st.sampled_from("ab.[c"), min_size=4), max_size=4)
)
def test_values_that_overlap_and_repeat_are_caught_however_they_are_cut(text: str, values: list[str]) -> None:
    redactor = Redactor(SecretSet(KnownValue(f"v{index}", value) for index, value in enumerate(values)))
    whole = redactor.redact_text(text)
    assert streamed(text, redactor.stream()) == whole
    assert redactor.redact_text(whole) == whole
    left = PLACEHOLDER.sub("\0", whole)
    assert [value for value in values if value.rstrip("[") in left and len(value.rstrip("[")) >= 4] == []


@spec("RED-4")
@pytest.mark.parametrize("example", KNOWN_EXAMPLES, ids=str)
def test_exactly_the_beginning_of_a_secret_is_held_back(example: Example) -> None:
    for seen in range(1, len(example.secret)):
        stream = REDACTOR.stream()
        if PLACEHOLDER.search(stream.feed(example.before + example.secret[:seen])):
            continue  # a shape has caught it before the value was complete
        assert stream.held == example.secret[:seen]


@spec("RED-4")
@pytest.mark.parametrize(
    "text", ["See the docs.", "x = 1\n", "https://example.com/ ", "the task-list; ", "(sk-)", "eyJ."]
)
def test_text_that_no_secret_can_begin_with_is_released_at_once(text: str) -> None:
    stream = Redactor(SecretSet()).stream()
    assert stream.feed(text) == text
    assert stream.held == ""


@spec("RED-2", "RED-4")
@pytest.mark.parametrize(
    "text",
    [
        "[redacted:jwt]starts-with-it",
        "known-percent-%3Dghp_" + "a1" * 18,
        "Authorization: Bearer abcdefghijklmnopqrstuvwx1$nope",
    ],
    ids=["bracket", "percent", "context"],
)
def test_what_stands_before_a_secret_is_read_the_same_however_it_is_cut(text: str) -> None:
    values = [KnownValue("bracket", "]starts-with-it"), KnownValue("percent", "known-percent-%3")]
    values.append(KnownValue("longer", "abcdefghijklmnopqrstuvwx1$rest"))
    redactor = Redactor(SecretSet(values))
    whole = redactor.redact_text(text)
    cuts = combinations(range(len(text) + 1), 2)
    assert {streamed(cut(text, two), redactor.stream()) for two in cuts} == {whole}
    assert redactor.redact_text(whole) == whole


@spec("RED-5")
@pytest.mark.parametrize("example", KNOWN_EXAMPLES + SHAPED, ids=str)
def test_what_was_held_back_is_released_when_the_stream_ends(example: Example) -> None:
    few = example.before + example.secret[:1]
    assert streamed(few) == few


@spec("RED-4")
def test_a_text_that_ends_in_the_middle_of_a_value_holds_the_value() -> None:
    value = KNOWN[0].value
    assert streamed(f"it is {value[:-3]}") == "it is [redacted:env.plain]"
    assert streamed(f"it is {value[:-3]} no") == f"it is {value[:-3]} no"
    assert streamed(f"it is {value[:11]}") == f"it is {value[:11]}"


@spec("RED-4")
def test_a_closed_stream_begins_anew() -> None:
    stream = REDACTOR.stream()
    value = KNOWN[0].value
    first = stream.feed(value[:5]) + stream.close()
    second = stream.feed(value[5:]) + stream.close()
    assert (first, second) == (value[:5], value[5:])


@spec("RED-1", "RED-4")
def test_a_value_registered_in_the_middle_of_a_stream_counts_from_then_on() -> None:
    secrets = SecretSet()
    stream = Redactor(secrets).stream()
    released = stream.feed("now-it-is-known, ")
    secrets.register("late", "now-it-is-known")
    released += stream.feed("now-it-is-") + stream.feed("known.") + stream.close()
    assert released == "now-it-is-known, [redacted:late]."


@spec("RED-2")
@given(texts(), st.data())
def test_the_completed_text_equals_the_deltas_of_its_block(text: str, data: st.DataObject) -> None:
    """The journal redacts deltas as a stream and the completed text as a string of a payload: both must agree."""
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    stored = json.loads(REDACTOR.redact(msgspec.json.encode({"text": text})))
    assert streamed(cut(text, places)) == stored["text"]


def test_the_stream_counts_its_placeholders() -> None:
    stream = REDACTOR.stream()
    stream.feed(f"{KNOWN[0].value} and {KNOWN[1].value} and ")
    assert stream.replaced == 2


@pytest.mark.parametrize(
    "hostile",
    [
        "eyJ" + "a" * 50_000,
        "https://u:" + "p" * 50_000,
        "-----BEGIN " + "A" * 50_000,
        "Bearer " + "a-" * 25_000,
        "eyJ" * 20_000,
    ],
    ids=lambda text: text[:10],
)
def test_a_hostile_stream_is_not_held_for_ever(hostile: str) -> None:
    stream = REDACTOR.stream()
    most = 0
    for start in range(0, len(hostile), 50):
        stream.feed(hostile[start : start + 50])
        most = max(most, len(stream.held))
    assert most < 2_000


@pytest.mark.parametrize("head", ["ghp" + "_" + "a" * 36, "AKIA" + "A" * 16, "Authorization: Bearer 12345678"])
def test_the_endless_body_of_a_token_is_dropped_not_held(head: str) -> None:
    stream = REDACTOR.stream()
    released = stream.feed("so " + head)
    for _ in range(2_000):
        released += stream.feed("A" * 50)
        assert len(stream.held) < 100
    assert len(released + stream.feed(" end") + stream.close()) < 100
