"""A run of 100,000 events is a run like any other, and the first load is small."""

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, Response, Route, expect

from bench.corpus import drafts
from bench.ours import payloads
from tests.console.browsing import Visitor
from tests.gateway.working import Working

EVENTS = 100_000
FIRST_LOAD_BYTES = 250_000
# Moves the list by most of its height in each frame, and looks after each paint whether rows stand where one looks.
# What was painted is what is there between the frame and the next one, in which the page hears of the scrolling.
SCROLLED = """async ({ from, frames, step }) => {
  const list = document.querySelector('.run-blocks');
  const { left, top, width, height } = list.getBoundingClientRect();
  const painted = () => new Promise(resolve => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    requestAnimationFrame(() => port2.postMessage(null));
  });
  list.scrollTop = from * list.scrollHeight;
  for (let frame = 0; frame < 5; frame += 1) await painted();
  let blank = 0;
  const seen = new Set();
  for (let frame = 0; frame < frames; frame += 1) {
    list.scrollTop += step * height;
    await painted();
    for (const part of [0.1, 0.5, 0.9]) {
      const row = document.elementFromPoint(left + width / 2, top + part * height)?.closest('.virtual-list-row');
      const box = row?.getBoundingClientRect();
      if (row === undefined || row === null || box.height === 0) blank += 1;
      else seen.add(row.dataset.index);
    }
  }
  return { blank, seen: seen.size };
}"""

# The row in the middle of the list, and where it stands, once the list rests.
LOOKED_AT = """async () => {
  const list = document.querySelector('.run-blocks');
  const { left, top, width, height } = list.getBoundingClientRect();
  const look = () => {
    const row = document.elementFromPoint(left + width / 2, top + height / 2).closest('.virtual-list-row');
    return { text: row.textContent, top: row.getBoundingClientRect().top, index: Number(row.dataset.index) };
  };
  for (let last = look(), same = 0; same < 5; ) {
    await new Promise(requestAnimationFrame);
    const now = look();
    same = now.text === last.text && now.top === last.top ? same + 1 : 0;
    last = now;
  }
  return look();
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def long_run(working: Working) -> AsyncIterator[str]:
    """The id of a run with so many events."""
    run_id = await working.served.run()
    journal = working.served.services.journal
    some = payloads(drafts(4_000))
    for _ in range(EVENTS // len(some)):
        await journal.append_all(run_id, some)
    await working.served.finish(run_id)
    yield run_id


async def opened(visitor: Visitor, run_id: str) -> Page:
    """The page of the run, once its end is read and seen."""
    page = await visitor.open(f"runs/{run_id}")
    await expect(page.get_by_text(re.compile(r"Event (\d+) of \1$"))).to_be_visible()
    await expect(page.get_by_role("article").filter(has_text="Completed").last).to_be_in_viewport()
    return page


async def held_back(visitor: Visitor) -> asyncio.Event:
    """Keep runs from being read from their start until this is set."""
    wanted = asyncio.Event()

    async def when_wanted(route: Route) -> None:
        await wanted.wait()
        await route.continue_()

    await visitor.context.route(re.compile(r"/events\?after_sequence=-1$"), when_wanted)
    return wanted


async def test_a_long_run_opens_at_its_end_and_is_scrolled_without_a_blank_frame(
    visitor: Visitor, long_run: str
) -> None:
    page = await opened(visitor, long_run)
    await expect(page.get_by_text(f"Event {EVENTS + 2} of {EVENTS + 2}")).to_be_visible()
    for begin, step in ((0.9, -0.9), (0.5, 0.9), (0.0, 0.5)):
        found = await page.evaluate(SCROLLED, {"from": begin, "frames": 40, "step": step})
        assert found["blank"] == 0, (begin, found)
        assert found["seen"] > 40
    await page.locator("h1").click()
    await page.keyboard.press("G")
    await expect(page.get_by_role("article").filter(has_text="Completed").last).to_be_in_viewport()


async def test_a_long_run_is_searched_replayed_and_linked_to(visitor: Visitor, long_run: str) -> None:
    page = await opened(visitor, long_run)
    slider = page.get_by_role("slider", name="Replay to event")
    for sequence in (EVENTS // 2, 3, EVENTS - 5):
        await slider.fill(str(sequence))
        await expect(page.get_by_text(f"Event {sequence} of {EVENTS + 2}")).to_be_visible()
        await expect(page.get_by_role("article").last).to_be_visible()
    await page.get_by_role("button", name="End", exact=True).click()
    await page.get_by_label("Search in this run").fill("histogram")
    await expect(page.get_by_text(re.compile(r"^\d{3,} matches$"))).to_be_visible()
    await page.evaluate("place => { location.hash = place }", f"#/runs/{long_run}?at={EVENTS // 2}")
    await expect(page.locator(".run-row.marked")).to_be_in_viewport()
    await page.evaluate("place => { location.hash = place }", f"#/runs/{long_run}?view=events&at={EVENTS // 3}")
    await expect(page.get_by_role("button", name=f"Event {EVENTS // 3} as it is stored")).to_be_in_viewport()


async def test_the_end_of_a_long_run_is_read_first_and_its_reader_is_not_moved_when_the_rest_has_come(
    visitor: Visitor, long_run: str
) -> None:
    rest = await held_back(visitor)
    page = await opened(visitor, long_run)
    slider = page.get_by_role("slider", name="Replay to event")
    await expect(page.get_by_text("Reading…")).to_be_visible()
    await expect(slider).to_be_disabled()
    await page.get_by_role("feed").hover()
    await page.mouse.wheel(0, -3_000)
    await expect(page.get_by_role("button", name="End", exact=False).filter(has_text="↓")).to_be_visible()
    before = await page.evaluate(LOOKED_AT)
    rest.set()
    await expect(slider).to_be_enabled()
    after = await page.evaluate(LOOKED_AT)
    assert (after["text"], after["top"]) == (before["text"], pytest.approx(before["top"], abs=1))
    assert after["index"] > before["index"] + 1_000


async def test_a_link_into_the_past_of_a_long_run_is_followed_when_that_has_been_read(
    visitor: Visitor, long_run: str
) -> None:
    rest = await held_back(visitor)
    page = await visitor.open(f"runs/{long_run}?at=100")
    await expect(page.get_by_role("article").filter(has_text="Completed").last).to_be_in_viewport()
    rest.set()
    await expect(page.locator(".run-row.marked")).to_be_in_viewport()


async def test_the_first_load_of_any_page_is_small(visitor: Visitor, working: Working) -> None:
    run_id = await working.served.run()
    scripts: list[Response] = []
    visitor.context.on("response", lambda got: scripts.append(got) if got.request.resource_type == "script" else None)
    for place in ("", f"runs/{run_id}", "usage", f"review/{run_id}"):
        page = await visitor.open(place)
        scripts.clear()
        await page.reload()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert scripts
        for got in scripts:
            assert (await got.all_headers())["content-encoding"] == "gzip"
        assert sum([(await got.request.sizes())["responseBodySize"] for got in scripts]) < FIRST_LOAD_BYTES
        await page.close()
