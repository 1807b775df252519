"""The first page: every run at a glance, those that need somebody first, live."""

import re
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, expect

from tests.console.browsing import Visitor, visiting
from tests.console.runs import cancelled, finished, waiting
from tests.gateway.serving import V1
from tests.gateway.working import Working, at_work, says, sh

LOG = Path(__file__).parents[2] / "spec/fixtures/v1/plain_answer.jsonl"


def panes(page: Page, group: str) -> Locator:
    """The runs of a group, in order."""
    return page.get_by_role("region", name=group).get_by_role("listitem")


def titles(page: Page) -> Locator:
    """The names of all runs, in order."""
    return page.get_by_role("listitem").get_by_role("heading", level=3)


async def choose(page: Page, what: str, value: str) -> None:
    """Show only some runs."""
    await page.get_by_label(f"Only of this {what}").select_option(value)


async def test_runs_come_by_themselves_and_those_that_need_somebody_come_first(
    visitor: Visitor, working: Working
) -> None:
    page = await visitor.open()
    await expect(page.get_by_text("Nothing has run yet.")).to_be_visible()
    await finished(working, prompt="Greet.")
    await finished(working, sh("true"), prompt="Break off.")
    busy = await working.run(sh("sleep 66"), prompt="Sleep.")
    await waiting(working, prompt="Ask me.")
    await expect(titles(page)).to_have_text(["Ask me.", "Break off.", "Sleep.", "Greet."])
    await expect(panes(page, "Needs attention")).to_have_count(2)
    await expect(panes(page, "Needs attention").first).to_contain_text("blocked")
    await expect(panes(page, "Needs attention").last).to_contain_text("the script has 1 turns")
    await expect(panes(page, "At work")).to_contain_text("sleep 66")
    await expect(panes(page, "At work")).to_contain_text(re.compile(r"for \d+ s"))
    await expect(page.get_by_role("status").filter(has_text="2 runs need attention.")).to_be_attached()
    await cancelled(working, busy)
    await expect(panes(page, "Over")).to_have_count(2)
    await expect(panes(page, "At work")).to_have_count(0)


async def test_a_pane_tells_what_was_spent_of_what_may_be(visitor: Visitor, working: Working) -> None:
    dear = says(cost_micros_usd=900_000)
    await finished(working, dear, prompt="Bounded.", budget_micros_usd=1_000_000)
    await finished(working, dear, prompt="Free.")
    page = await visitor.open()
    bounded, free = (page.get_by_role("listitem").filter(has_text=name) for name in ("Bounded.", "Free."))
    await expect(bounded).to_contain_text("$0.90 of $1.00")
    await expect(bounded.get_by_role("meter", name="Budget used")).to_have_attribute("value", "0.9")
    await expect(free).to_contain_text("$0.90")
    await expect(free.get_by_role("meter")).to_have_count(0)


async def test_a_run_that_fell_silent_needs_somebody(browser: Browser, tmp_path: Path, console: Path) -> None:
    async with at_work(tmp_path, stall_s=1.0, console=console) as working, visiting(browser, working.served) as visitor:
        await working.run(says(delay_ms=3_600_000), prompt="Ponder.")
        page = await visitor.open()
        await expect(panes(page, "Needs attention")).to_contain_text("stalled")


async def test_what_is_looked_for_stands_in_the_address(visitor: Visitor, working: Working) -> None:
    await finished(working, prompt="Greet.", session_id="chat_a")
    asking = await waiting(working, prompt="Ask me.", session_id="chat_b")
    await working.http.post(f"{V1}/import", content=LOG.read_bytes(), params={"agent": "pi"})
    page = await visitor.open()
    await expect(titles(page)).to_have_count(3)
    filters: list[tuple[str, str, list[str]]] = [
        ("agent", "pi", ["Is anything wrong?"]),
        ("state", "blocked", ["Ask me."]),
        ("state", "attention", ["Ask me."]),
        ("task", asking["task_id"], ["Ask me."]),
        ("session", "chat_a", ["Greet."]),
    ]
    for what, value, names in filters:
        await choose(page, what, value)
        await expect(titles(page)).to_have_text(names)
        assert page.url.endswith(f"#/?{what}={value}")
        await page.get_by_role("button", name="Show all").click()
        await expect(titles(page)).to_have_count(3)
    await page.keyboard.press("/")
    await page.keyboard.type("gREET")
    await expect(titles(page)).to_have_text(["Greet."])
    await choose(page, "agent", "native")
    await page.reload()
    await expect(titles(page)).to_have_text(["Greet."])
    await choose(page, "state", "working")
    await expect(page.get_by_text("No run fits what is asked for.")).to_be_visible()


async def test_a_question_is_answered_without_leaving_the_page(visitor: Visitor, working: Working) -> None:
    run = await waiting(working, prompt="Ask me.")
    page = await visitor.open()
    await page.get_by_role("button", name="Decide").click()
    await page.get_by_role("dialog").get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Approved by operator")
    assert "run.finished" in await working.end(run["run_id"])


async def test_the_demonstration_is_marked_and_goes_with_one_click(visitor: Visitor, working: Working) -> None:
    await finished(working, prompt="Greet.")
    await working.post("/demo")
    page = await visitor.open()
    banner = page.get_by_role("complementary", name="Demonstration")
    await expect(banner).to_contain_text("no model is called and nothing is spent")
    await expect(page.get_by_role("listitem").get_by_text("demo", exact=True).nth(3)).to_be_visible()
    await banner.get_by_role("button", name="Remove it").click()
    await expect(banner).to_have_count(0)
    await expect(titles(page)).to_have_text(["Greet."])
    assert not (await working.get("/demo"))["exists"]


async def test_a_failed_run_that_was_seen_needs_no_attention_any_more(visitor: Visitor, working: Working) -> None:
    await finished(working, sh("true"), prompt="Break off.")
    await waiting(working, prompt="Ask me.")
    page, other = await visitor.open(), await visitor.open()
    await expect(panes(page, "Needs attention")).to_have_count(2)
    await expect(panes(page, "Needs attention").first.get_by_role("button", name="Mark as seen")).to_have_count(0)
    await page.get_by_role("button", name="Mark as seen: Break off.").click()
    for tab in (page, other):
        await expect(panes(tab, "Needs attention")).to_have_count(1)
        await expect(panes(tab, "Needs attention")).to_contain_text("Ask me.")
        await expect(panes(tab, "Over")).to_contain_text("Break off.")
    await page.reload()
    await expect(panes(page, "Over")).to_contain_text("Break off.")
    await expect(panes(page, "Needs attention")).to_have_count(1)


async def test_a_demonstration_that_is_removed_leaves_the_other_tabs_at_once(
    visitor: Visitor, working: Working
) -> None:
    # A page that only looks again from time to time would never notice.
    await visitor.context.add_init_script("window.setInterval = () => 0")
    await working.post("/demo")
    page, other, inbox = await visitor.open(), await visitor.open(), await visitor.open("approvals")
    await expect(other.get_by_role("listitem").get_by_text("demo", exact=True).nth(3)).to_be_visible()
    await expect(inbox.get_by_role("button", name="Approve")).to_be_visible()
    await page.get_by_role("button", name="Remove it").click()
    await expect(other.get_by_text("Nothing has run yet.")).to_be_visible()
    await expect(other.get_by_role("complementary", name="Demonstration")).to_have_count(0)
    await expect(inbox.get_by_text("Nobody waits for an answer.")).to_be_visible()
