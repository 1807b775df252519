"""Notifications of the browser: only when they are wanted, one for each new need."""

from playwright.async_api import Page, expect

from tests.console.browsing import Visitor
from tests.console.runs import finished, waiting
from tests.gateway.working import Working

# What the browser would show is noted instead, and nobody looks at the page.
WATCHED = """
  window.told = [];
  window.Notification = class extends EventTarget {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor(title, { body }) { super(); window.told.push(`${title} (${body})`); window.newest = this; }
    close() {}
  };
  Document.prototype.hasFocus = () => false;
"""


async def told(page: Page) -> list[str]:
    """What the browser was asked to show."""
    found: list[str] = await page.evaluate("() => window.told")
    return found


async def test_who_wants_it_is_told_of_each_new_need_once_by_one_tab(visitor: Visitor, working: Working) -> None:
    await visitor.context.add_init_script(WATCHED)
    page = await visitor.open()
    await waiting(working, prompt="Before.")
    await expect(page).to_have_title("(1) Runwire")
    assert await told(page) == []
    bell = page.get_by_role("button", name="Notify me when somebody is needed")
    await bell.click()
    await expect(bell).to_have_attribute("aria-pressed", "true")
    other = await visitor.open()
    await finished(working, prompt="Needs nobody.")
    run = await waiting(working, prompt="Ask me.")
    await page.wait_for_function("() => window.told.length > 0")
    await expect(other).to_have_title("(2) Runwire")
    (said,) = await told(page)
    assert said.startswith("native: Ask me. (")
    assert await told(other) == []
    await page.evaluate("() => window.newest.onclick()")
    await page.wait_for_url(lambda url: url.endswith(f"#/runs/{run['run_id']}"))


async def test_who_takes_it_back_is_told_no_more(visitor: Visitor, working: Working) -> None:
    await visitor.context.add_init_script(WATCHED)
    page = await visitor.open()
    bell = page.get_by_role("button", name="Notify me when somebody is needed")
    await bell.click()
    await bell.click()
    await expect(bell).to_have_attribute("aria-pressed", "false")
    await waiting(working)
    await expect(page).to_have_title("(1) Runwire")
    assert await told(page) == []
