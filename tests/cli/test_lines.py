"""One event on one line, whatever the event holds."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from runwire.cli.lines import event_line, plain
from tests.client.logs import RUN, envelope


def test_a_line_names_the_run_the_place_the_time_the_type_and_the_data() -> None:
    line = event_line(envelope(7, "tool.shell.exited", b'{"exit_code":0}'), with_run=True)
    assert line.split() == [RUN, "7", "2025-11-15T22:00:00.350Z", "tool.shell.exited", '{"exit_code":0}']
    assert not event_line(envelope(7), with_run=False).startswith(RUN)


def test_long_data_is_cut_and_says_so() -> None:
    line = event_line(envelope(0, data=b'{"text":"' + "é".encode() * 100_000 + b'"}'), with_run=False)
    assert len(line) < 250
    assert line.endswith("é…")


@given(st.text())
def test_no_text_can_take_over_the_terminal(text: str) -> None:
    shown = plain(text)
    assert [mark for mark in shown if unicodedata.category(mark) in {"Cc", "Zl", "Zp"}] == []
    assert [
        mark for mark in shown if unicodedata.bidirectional(mark) in {"LRE", "RLE", "LRO", "RLO", "LRI", "RLI"}
    ] == []


def test_escape_sequences_are_shown_as_numbers() -> None:
    assert plain("\x1b[2J\x9b31m\u202eevil") == "\\u{1b}[2J\\u{9b}31m\\u{202e}evil"
