"""A mouse in front of `top`: a click chooses, a second one opens, the wheel moves."""

from textual import events

from runwire.tui.pager import Pager
from runwire.tui.panes import PaneRows
from runwire.tui.rows import Rows
from runwire.tui.run_view import RunView
from tests.gateway.serving import QUEUED, STARTED
from tests.gateway.working import Working
from tests.tui.driving import Seen, looking_at


async def _turn(seen: Seen, rows: Rows, wheel: type[events.MouseScrollUp | events.MouseScrollDown]) -> None:
    """Turn the wheel by one step over some rows."""
    at = rows.region.offset
    seen.top.screen.post_message(
        wheel(rows, at.x, at.y, 0, 0, 0, shift=False, meta=False, ctrl=False, screen_x=at.x, screen_y=at.y)
    )
    await seen.pilot.pause()


async def test_a_click_chooses_a_run_and_a_second_one_opens_it(working: Working) -> None:
    for run_id in ("run_1", "run_2"):
        await working.served.run(QUEUED, STARTED, run_id=run_id)
    async with looking_at(working.served) as seen:
        await seen.shows("run_1", "run_2")
        listed = seen.top.screen.query_one(PaneRows)
        chosen = "run_2" if listed.run_id == "run_1" else "run_1"
        await seen.pilot.click(PaneRows, offset=(5, 1))
        await seen.until(lambda: listed.run_id == chosen, "the choice")
        assert not isinstance(seen.top.screen, RunView)
        await seen.pilot.click(PaneRows, offset=(5, 1), times=2)
        await seen.until(lambda: isinstance(seen.top.screen, RunView), "the run")
        assert seen.view.run_id == chosen


async def test_the_wheel_moves_through_events_and_a_double_click_shows_one(working: Working) -> None:
    served = working.served
    run_id = await served.run(QUEUED, STARTED)
    await served.say(run_id, *(f"note {number}" for number in range(60)))
    await served.finish(run_id)
    async with looking_at(served) as seen:
        await seen.shows(run_id)
        timeline = await seen.open("run.finished")
        last = timeline.cursor
        await _turn(seen, timeline, events.MouseScrollUp)
        await seen.until(lambda: timeline.cursor == last - 3, "the way up")
        await _turn(seen, timeline, events.MouseScrollDown)
        await seen.until(lambda: timeline.cursor == last, "the way down")
        top = timeline.seen.start
        await seen.pilot.click(type(timeline), offset=(10, 4), times=2)
        await seen.until(lambda: isinstance(seen.top.screen, Pager), "the event")
        await seen.shows(f'"sequence": {timeline.record.sequence(top + 4)}')
