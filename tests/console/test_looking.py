"""Whoever may only look is told so, and is offered nothing that would be refused."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.console.browsing import Visitor, visiting
from tests.console.runs import finished, proposing, waiting
from tests.gateway.working import Working

# Presses whatever can be pressed, but for what shows a stored event in front of all the rest.
PRESS = "() => document.querySelectorAll('main button:not(:disabled, .card-raw)').forEach(one => one.click())"
# Whatever does something somewhere.
KEYS = "sxcrbRaAzdyne"


@pytest_asyncio.fixture(loop_scope="session")
async def reader(browser: Browser, working: Working) -> AsyncIterator[Visitor]:
    """Somebody whose token is good for looking only."""
    made = await working.served.services.tokens.create("reader", {"read"})
    async with visiting(browser, replace(working.served, token=made.secret)) as opened:
        yield opened


async def pressed(page: Page) -> None:
    """Press every button and every key of the page."""
    await page.evaluate(PRESS)
    await page.locator("h1").first.click()
    for key in KEYS:
        await page.keyboard.press(key)
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_head_says_that_one_may_only_look(reader: Visitor, visitor: Visitor) -> None:
    page = await reader.open()
    await expect(page.get_by_text("Read only")).to_be_visible()
    await expect(page.get_by_text("token create --name NAME --scope operate")).to_be_attached()
    menu = page.get_by_role("navigation", name="Pages")
    await expect(menu.get_by_role("link", name="Agents")).to_be_visible()
    await expect(menu.get_by_role("link", name="New task")).to_have_count(0)
    await page.evaluate("() => { location.hash = '#/new' }")
    await expect(page.get_by_role("alert")).to_contain_text("Your token does not allow this.")
    other = await visitor.open()
    await expect(other.get_by_role("navigation", name="Pages").get_by_role("link", name="New task")).to_be_visible()
    await expect(other.get_by_text("Read only")).to_have_count(0)


async def test_nothing_is_offered_that_would_be_refused(reader: Visitor, working: Working) -> None:
    changed, over, asking = await proposing(working), await finished(working), await waiting(working, prompt="Ask me.")
    granted = await waiting(working, "echo for ever")
    await working.post(f"/approvals/{granted['approval_id']}/resolve", {"decision": "approved", "scope": "always"})
    await working.end(granted["run_id"])
    await working.post("/demo")
    sent: list[str] = []
    reader.context.on("request", lambda asked: None if asked.method == "GET" else sent.append(asked.url))
    page = await reader.open()
    await expect(page.get_by_text("Read only")).to_be_visible()
    places = {
        "": page.get_by_role("complementary", name="Demonstration"),
        "approvals": page.get_by_text("shell_exec may run `echo for ever`"),
        f"runs/{asking['run_id']}": page.get_by_text("It waits for somebody whose token allows an answer."),
        f"runs/{over}": page.get_by_text("Completed"),
        f"review/{changed}": page.get_by_role("button", name="Download diff"),
    }
    for place, seen in places.items():
        await page.evaluate("place => { location.hash = place }", f"#/{place}")
        await expect(seen.first).to_be_visible()
        await pressed(page)
    assert sent == []
