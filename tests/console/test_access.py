"""The console for everybody: no finding of axe on any page, and everything that matters without a mouse."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, ViewportSize, expect

from tests.console.browsing import PHONE, WIDE, Visitor, visiting
from tests.console.runs import finished, proposing, waiting
from tests.gateway.working import Working, says, sh, uses

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
# Headings that agents write stand in the order in which they wrote them.
LOOK = """async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
    .filter(({ id, impact }) => impact !== 'minor' && id !== 'heading-order')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`))"""
PROSE = "## A heading\n\nSome *prose* with `code`, a [link](https://example.org/) and\n\n```\na block\n```\n\n> a quote"
# What has the focus, or what stands for it, has an outline.
MARKED = """() => { for (let one = document.activeElement; one !== null && one.tagName !== 'MAIN'; one = one.parentElement) {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    if (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) return true } return false }"""

FOCUSED = f"() => [document.activeElement.outerHTML.slice(0, 160), ({MARKED})()]"


@pytest_asyncio.fixture(loop_scope="session")
async def places(working: Working) -> AsyncIterator[dict[str, str]]:
    """Every page with something on it, and by what one sees that it is all there."""
    changed = await proposing(working)
    used = {"usage": {"input": 1200, "output": 34}, "cost_micros_usd": 900_000}
    todos = [{"content": "Look", "status": "completed"}, {"content": "Act", "status": "in_progress"}]
    told = await finished(
        working,
        {**uses("todo_write", todos=todos), **used},
        sh(r"printf '\033[31mred\033[32mgreen\033[33myellow\033[34mblue\033[0m\n'; exit 1"),
        *[sh("echo the same again")] * 2,
        uses("grep", pattern="line"),
        says(PROSE, **used),
        budget_micros_usd=2_000_000,
    )
    await finished(working, sh("true"))
    await waiting(working)
    asked = await waiting(working)
    yield {
        "": ".home-decide",
        "approvals": ".decide-buttons",
        "new": "input[value=native]",
        "audit": "td",
        "usage": "canvas",
        f"runs/{told}": ".card-end",
        f"runs/{told}?view=events": "[role=cell]",
        f"runs/{told}?view=figures": "canvas",
        f"runs/{asked['run_id']}": ".decide-buttons",
        f"review/{changed}": ".draw-diff",
    }


async def settled(page: Page, place: str, seen: str) -> None:
    """Go there and wait until all is there."""
    await page.evaluate("place => { location.hash = place }", f"#/{place}")
    await expect(page.locator(seen).first).to_be_visible()
    await expect(page.get_by_text("Loading…")).to_have_count(0)


async def findings(page: Page, where: str) -> list[str]:
    """What axe finds that somebody could not live with."""
    await page.evaluate(AXE.read_text())
    found: list[Any] = await page.evaluate(LOOK)
    return [f"{where}: {one}" for one in found]


async def tabbed_to(page: Page, wanted: Locator) -> None:
    """Press Tab until something has the focus."""
    await wanted.wait_for()
    for _ in range(20):
        if await wanted.evaluate("one => one === document.activeElement"):
            return
        await page.keyboard.press("Tab")
    raise AssertionError(f"no way leads to {wanted}")


@pytest.mark.parametrize(("size", "is_dark"), [(WIDE, True), (PHONE, False)])
async def test_no_page_has_a_finding(
    browser: Browser, working: Working, places: dict[str, str], size: ViewportSize, is_dark: bool
) -> None:
    found: list[str] = []
    async with visiting(browser, working.served, size=size, is_dark=is_dark, bypass_csp=True) as visitor:
        page = await visitor.open()
        for place, seen in places.items():
            await settled(page, place, seen)
            await page.evaluate(
                "() => document.querySelectorAll('.card-toggle[aria-expanded=false]').forEach(one => one.click())"
            )
            found += await findings(page, place)
            wider = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert await page.evaluate(wider) == 0, place
        await page.keyboard.press("?")
        found += await findings(page, "the overlay")
    assert found == []


async def test_a_question_is_found_and_answered_by_keys_alone(visitor: Visitor, working: Working) -> None:
    run = await waiting(working, "touch made", prompt="Ask me.")
    page = await visitor.open()
    await expect(page.get_by_role("link", name="Ask me.")).to_be_visible()
    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name="Ask me.")).to_be_focused()
    assert await page.evaluate(MARKED)
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda url: run["run_id"] in url)
    await expect(page.get_by_role("button", name="Approve")).to_be_visible()
    await page.keyboard.type("ga")
    await expect(page.get_by_role("button", name="Approve")).to_be_visible()
    await page.keyboard.press("e")
    await expect(page.get_by_label("command", exact=True)).to_be_focused()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("touch changed")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_text("With another input:")).to_be_visible()
    await working.end(run["run_id"])
    assert (working.folder / "changed").exists()


async def test_changes_are_read_and_decided_by_keys_alone(visitor: Visitor, working: Working) -> None:
    run_id = await proposing(working)
    page = await visitor.open(f"runs/{run_id}")
    await expect(page.get_by_role("link", name="Review (")).to_be_visible()
    await page.keyboard.press("v")
    files = page.get_by_role("navigation", name="Files").get_by_role("link")
    await expect(files).to_have_count(2)
    for key in ("m", "m"):
        await page.keyboard.press(key)
    await expect(files.nth(0)).to_contain_text("read")
    await page.keyboard.press("a")
    await expect(files.nth(1)).to_contain_text("applied")
    await page.keyboard.press("k")
    await expect(page.get_by_role("button", name="Reject")).to_be_enabled()
    await page.keyboard.press("x")
    await tabbed_to(page, page.get_by_label("Why"))
    await page.keyboard.type("no")
    await tabbed_to(page, page.get_by_role("dialog").get_by_role("button", name="Reject"))
    assert await page.evaluate(MARKED)
    await page.keyboard.press("Enter")
    await expect(files.nth(0)).to_contain_text("rejected")
    await page.keyboard.press("Escape")
    await page.wait_for_url(lambda url: url.endswith(f"#/runs/{run_id}"))


async def test_whatever_takes_the_focus_shows_it(visitor: Visitor, working: Working, places: dict[str, str]) -> None:
    page = await visitor.open()
    for place, seen in places.items():
        await settled(page, place, seen)
        names: set[str] = set()
        for _ in range(40):
            await page.keyboard.press("Tab")
            name, is_marked = await page.evaluate(FOCUSED)
            if name.startswith("<body"):
                break
            names.add(name)
            assert is_marked, f"{place}: {name}"
        assert names
    assert (await working.get("/approvals", status="pending"))["data"] != []
