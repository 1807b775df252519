"""Much to look at, counted by what was done and not by the time it took."""

from collections.abc import AsyncIterator

import pytest

from runwire.tui.board import Board
from runwire.tui.log import HELD_EVENTS
from runwire.tui.rows import Piece
from runwire.tui.telling import event_pieces
from runwire.tui.timeline import Timeline
from tests.client.logs import log
from tests.gateway.serving import QUEUED, STARTED
from tests.gateway.working import Working
from tests.tui.driving import Seen, looking_at

EVENTS = 100_000
RUN = "run_01JC00000000000000000100K0"
SCREEN_ROWS = 24


async def _lines() -> AsyncIterator[bytes]:
    lines = log(RUN, EVENTS - 3)
    for start in range(0, len(lines), 1000):
        yield b"\n".join(lines[start : start + 1000]) + b"\n"


class Counter:
    """Counts how often something real is done."""

    def __init__(self) -> None:
        self.times = 0


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """How many events were decoded for the screen."""
    counter = Counter()

    def counted(envelope: bytes, width: int) -> list[Piece]:
        counter.times += 1
        return event_pieces(envelope, width)

    monkeypatch.setattr("runwire.tui.timeline.event_pieces", counted)
    return counter


async def test_a_log_of_100_000_events_is_read_and_decoded_only_where_somebody_looks(
    working: Working, decoded: Counter
) -> None:
    async with looking_at(working.served) as seen:
        await seen.client.import_log(_lines())
        await seen.shows("done")
        timeline = await seen.open("run.finished", "100000/100000")
        assert sum(seen.client.reads) <= 256
        assert decoded.times <= 20 * SCREEN_ROWS
        read, drawn = sum(seen.client.reads), decoded.times
        await seen.press("home")
        await seen.shows("run.queued", "     0 ")
        for _ in range(10):
            await seen.press("right")
        await seen.shows("10001/100000", " 10000 ")
        # Eleven places were looked at: a screen of each and some around it, not what lies between.
        assert sum(seen.client.reads) - read <= 11 * 256
        assert decoded.times - drawn <= 11 * 10 * SCREEN_ROWS
        assert len(timeline.record._held) <= HELD_EVENTS
        read, pages = sum(seen.client.reads), len(seen.client.reads)
        for _ in range(20):
            await seen.press("pagedown")
        await seen.until(lambda: timeline.envelope is not None, "the event at the cursor")
        assert sum(seen.client.reads) - read <= 20 * SCREEN_ROWS + 256
        assert len(seen.client.reads) - pages <= 20
        await _seek_everywhere(seen, timeline)


async def _seek_everywhere(seen: Seen, timeline: Timeline) -> None:
    """A filter goes through all of them, and keeps numbers and not events."""
    await seen.press("slash")
    await seen.type("7")
    await seen.press("enter")
    await seen.shows("filter: 7  4", "of 100000 events")
    await seen.until(lambda: "read" not in seen.text().splitlines()[1], "the end of the search")
    assert timeline.count == sum("7" in str(number) for number in range(EVENTS - 3))
    assert len(timeline.record._held) <= HELD_EVENTS
    await seen.press("end")
    await seen.shows('"n":99987')


async def test_200_runs_are_drawn_as_far_as_they_are_seen(working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(200):
        await working.served.run(QUEUED, STARTED, run_id=f"run_{number:03}", task_id=None)
    drawn: list[str] = []
    real = Board.pieces

    def counted(board: Board, run_id: str, width: int, now_ns: int) -> list[Piece]:
        drawn.append(run_id)
        return real(board, run_id, width, now_ns)

    monkeypatch.setattr(Board, "pieces", counted)
    async with looking_at(working.served) as seen:
        await seen.shows("200 runs", "run_199")
        assert len(set(drawn)) <= 2 * SCREEN_ROWS
        drawn.clear()
        await seen.press("end")
        await seen.shows("run_000")
        for _ in range(5):
            await seen.press("pageup")
        assert len(set(drawn)) <= 6 * SCREEN_ROWS
        drawn.clear()
        await working.served.finish("run_150")
        await seen.until(lambda: seen.top.board.panes["run_150"].state == "done", "the news")
        await seen.pilot.pause(0.2)
        assert len(set(drawn)) <= SCREEN_ROWS
