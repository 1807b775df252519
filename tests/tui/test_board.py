"""Panes in order, and rows that fit and cannot disturb a terminal."""

import pytest
from rich.cells import cell_len

from runwire.client.answers import Pane
from runwire.client.render.harmless import plain
from runwire.clock import rfc3339
from runwire.tui.board import Board
from runwire.tui.rows import fitted, folded
from runwire.tui.telling import ago, event_pieces, patches_of
from tests.client.logs import envelope

HOSTILE = "\x1b[2J\x1b]8;;http://x\x07漢字\u202e👩‍👩‍👧 \x9b31m\nnext [bold]line[/bold]\t"
NOW_NS = 1_763_244_000_000_000_000


def pane(run_id: str, state: str, since_s: int = 0, **facts: object) -> Pane:
    """A pane in a state, since so many seconds."""
    attention = state in {"blocked", "error"} or bool(facts.get("stalled"))
    since = rfc3339(NOW_NS - since_s * 1_000_000_000)
    return Pane(run_id=run_id, state=state, attention=attention, since=since, **facts)  # type: ignore[arg-type]  # a shorthand of this test


def test_attention_comes_first_and_the_latest_of_those_alike() -> None:
    board = Board()
    for one in (
        pane("run_done", "done", 1),
        pane("run_idle", "idle", 2),
        pane("run_old", "working", 60),
        pane("run_new", "working", 5),
        pane("run_error", "error", 9),
        pane("run_silent", "working", 90_000, stalled=True),
        pane("run_asks", "blocked", 300),
        pane("run_strange", "levitating", 0),
    ):
        board.take(one)
    board.sort()
    assert board.shown == [
        "run_asks",
        "run_silent",
        "run_error",
        "run_new",
        "run_old",
        "run_idle",
        "run_done",
        "run_strange",
    ]
    board.keep({"run_asks", "run_new"})
    board.sort()
    assert board.shown == ["run_asks", "run_new"]


@pytest.mark.parametrize("width", [40, 80, 140])
def test_a_row_fills_the_width_exactly_whatever_is_in_it(width: int) -> None:
    board = Board()
    facts = {"agent": HOSTILE, "doing": HOSTILE, "task_id": "task_1", "cost_micros_usd": 1_234_567}
    board.take(pane("run_1", "working", 7300, **facts))
    board.entitle("task_1", HOSTILE * 20)
    text = "".join(piece for piece, _ in board.pieces("run_1", width, NOW_NS))
    assert text == plain(text)
    assert width >= 57 or cell_len(text) >= width
    assert width < 57 or cell_len(text) == width
    assert "2h" in text
    assert "$1.23" in text


@pytest.mark.parametrize("width", [20, 80, 140])
@pytest.mark.parametrize("kind", ["external.note", "assistant.text_delta", "run.failed", "from.the_future"])
def test_an_event_is_one_safe_line(width: int, kind: str) -> None:
    data = b'{"text":"\\u001b[2J\xe2\x80\xae \xc2\x9b31m","delta":3}'
    text = "".join(piece for piece, _ in event_pieces(envelope(7, kind, data), width))
    assert text == plain(text)
    assert "\\u{202e}" in text or width < 140
    assert patches_of(envelope(7, kind, data)) == ()


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-5, "0s"), (59, "59s"), (60, "1m"), (7199, "1h"), (90_000, "1d"), (86_400 * 400, "400d")]
)
def test_times_are_short(seconds: float, shown: str) -> None:
    assert ago(seconds) == shown


def test_text_is_cut_and_folded_by_cells() -> None:
    assert fitted("abc", 5) == "abc  "
    assert fitted("abcdef", 4) == "abc…"
    assert fitted("漢字漢字", 5) == "漢字…"
    assert fitted("anything", 0) == ""
    assert folded("abcdef", 4) == ["abcd", "ef"]
    assert folded("", 4) == [""]
    assert "".join(folded("漢字漢字x", 4)) == "漢字漢字x"
    assert max(cell_len(part) for part in folded("漢字漢字x", 4)) <= 4
