"""Text that fits: nothing wider than it may be, nothing lost on the way, nothing that disturbs a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.client.render.cells import cells, clip, fold, wrap
from runwire.client.render.harmless import one_line, plain, plain_text, printed
from runwire.client.render.text import duration

_TEXT = st.text(st.characters(codec="utf-8"))


@given(_TEXT, st.integers(2, 60))
def test_wrapped_text_keeps_its_words(text: str, width: int) -> None:
    text = plain_text(text).replace("\t", " ")
    lines = wrap(text, width)
    assert all(cells(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(_TEXT, st.integers(2, 60))
def test_a_folded_line_is_the_line(text: str, width: int) -> None:
    pieces = fold(plain(text), width)
    assert "".join(pieces) == plain(text)
    assert all(cells(piece) <= width for piece in pieces)


@given(_TEXT, st.integers(0, 60))
def test_a_clipped_text_fits(text: str, width: int) -> None:
    assert cells(clip(plain(text), width)) <= width


def test_marks_take_no_room_of_their_own() -> None:
    # Thai and Devanagari vowels stand above and below their consonants, as accents do.
    assert [cells(text) for text in ("e\u0301", "\u0e01\u0e31", "\u0915\u0941", "漢", "❤\ufe0f")] == [1, 1, 1, 2, 1]


@given(st.text(st.sampled_from("\x1b[]0;31mKJ\x07\x9b\r\n\tab\u202e\x00\\P")))
def test_whatever_a_program_prints_is_harmless(text: str) -> None:
    for line in printed(text):
        assert plain(line) == line


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\x1b[31mred\x1b[0m", ["red"]),
        ("\x1b]0;a title\x07left", ["left"]),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["link"]),
        ("10%\r50%\r100%\n", ["100%", ""]),
        ("a\r\nb", ["a", "b"]),
        ("a\tb", ["a       b"]),
        ("\x1b[", ["\\u{1b}["]),
        ("\u202egnp.exe", ["\\u{202e}gnp.exe"]),
    ],
)
def test_colours_are_left_out_and_tricks_are_shown(text: str, lines: list[str]) -> None:
    assert printed(text) == lines


def test_one_line_has_one_line() -> None:
    assert one_line("a\n  b\x07") == "a b\\u{7}"
    assert one_line("x" * 500, 10) == "xxxxxxxxx…"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (12.4, "12 s"), (243, "4 min 3 s"), (7500, "2 h 5 min")]
)
def test_durations_are_short(seconds: float, shown: str) -> None:
    assert duration(round(seconds * 1_000_000_000)) == shown
