"""What a model wrote can always be stored."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from runwire.native.models.mending import Mender, read_arguments


@given(st.text(alphabet=st.characters(categories=("L", "So", "Cs"))), st.lists(st.integers(0, 30)))
def test_text_is_whole_however_it_is_cut(text: str, cuts: list[int]) -> None:
    pieces = text.encode("utf-16-le", "surrogatepass")
    units = [pieces[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(pieces), 2)]
    marks = sorted({0, len(units), *(cut for cut in cuts if cut < len(units))})
    mender = Mender()
    parts = ["".join(units[start:end]) for start, end in pairwise(marks)]
    mended = "".join(mender.feed(part) for part in parts) + mender.end()
    assert mended == pieces.decode("utf-16-le", "replace")
    mended.encode()


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=3))
def test_an_object_is_read(value: dict[str, object]) -> None:
    call = read_arguments("c", "n", json.dumps(value))
    assert (call.input, call.malformed) == (value, None)


@given(st.text())
def test_anything_else_is_kept_as_it_is(text: str) -> None:
    call = read_arguments("c", "n", text)
    assert call.malformed in (None, text)


def test_arguments_that_are_deep_or_hold_half_a_character_are_malformed() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000, '{"a":"\\ud83d"}', "\ud83d", '{"a":NaN}'):
        assert read_arguments("c", "n", text).malformed == text
