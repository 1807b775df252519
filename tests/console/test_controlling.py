"""Steering, ending and taking up runs from their page."""

import asyncio
import re

from playwright.async_api import Page, Route, expect

from tests.console.browsing import Visitor
from tests.console.test_starting import opened_run
from tests.gateway.working import Json, Working, says, sh

ASKS = {"default": "ask"}


async def waiting_run(working: Working, *turns: Json) -> Json:
    """A run that waits for an answer about its first command, and the question."""
    run = await working.run(sh("echo hello"), *turns, policy=ASKS)
    return {**run, **await working.until(run["run_id"], "approval.requested")}


async def other_run(page: Page, known: str) -> str:
    """The run that is opened in place of one that is known."""
    await page.wait_for_url(lambda url: known not in url)
    return await opened_run(page)


async def test_what_is_said_to_a_live_run_is_heard(visitor: Visitor, working: Working) -> None:
    run = await waiting_run(working, says())
    page = await visitor.open(f"runs/{run['run_id']}")
    await page.get_by_role("button", name="Say").click()
    await page.get_by_label("Message").fill("And be quick.")
    await page.keyboard.press("Control+Enter")
    await expect(page.get_by_role("status").filter(has_text="before its next turn")).to_be_visible()
    await working.post(f"/approvals/{run['approval_id']}/resolve", {"decision": "approved"})
    assert (await working.end(run["run_id"])).count("user.message") == 2
    await expect(page.get_by_text("And be quick.").first).to_be_visible()


async def test_a_run_is_cancelled_only_after_one_more_question(visitor: Visitor, working: Working) -> None:
    run = await waiting_run(working)
    page = await visitor.open(f"runs/{run['run_id']}")
    await expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    await page.keyboard.press("x")
    await page.get_by_role("button", name="Keep it running").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert (await working.get(f"/runs/{run['run_id']}"))["status"] == "awaiting_approval"
    await page.keyboard.press("x")
    await page.get_by_label("Why").fill("enough")
    await page.get_by_role("button", name="Cancel the run").click()
    ended = await working.until(run["run_id"], "run.cancelled")
    assert (ended["by"], ended["reason"]) == ("operator", "enough")
    # What can be done now is another thing, and the page knows by itself.
    await expect(page.get_by_role("button", name="Retry")).to_be_visible()
    await expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)


async def test_a_finished_run_is_continued_and_done_again(visitor: Visitor, working: Working) -> None:
    run = await working.run(says("First."), says("Second."))
    await working.end(run["run_id"])
    page = await visitor.open(f"runs/{run['run_id']}")
    await page.get_by_role("button", name="Continue").click()
    await expect(page.get_by_role("dialog").get_by_role("button", name="Continue")).to_be_disabled()
    await page.get_by_label("Message").fill("Go on, please.")
    await page.keyboard.press("Control+Enter")
    continued = await other_run(page, run["run_id"])
    assert (await working.end(continued))[0] == "run.resumed_from_event"
    await expect(page.get_by_text("Go on, please.").first).to_be_visible()
    await page.get_by_role("button", name="Retry").click()
    await page.get_by_role("button", name="Start again").click()
    again = await working.get(f"/runs/{await other_run(page, continued)}")
    assert (again["task_id"], again["prior_run_id"]) == (run["task_id"], continued)


async def test_a_run_that_ends_while_its_page_reads_it_is_offered_what_ended_runs_are(
    visitor: Visitor, working: Working
) -> None:
    run = await waiting_run(working, says())
    is_over = asyncio.Event()

    async def after_its_end(route: Route) -> None:
        await is_over.wait()
        await route.continue_()

    await visitor.context.route(re.compile(r"/events\?after_sequence=-1$"), after_its_end)
    page = await visitor.open(f"runs/{run['run_id']}")
    await expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    await working.post(f"/approvals/{run['approval_id']}/resolve", {"decision": "approved"})
    await working.end(run["run_id"])
    is_over.set()
    await expect(page.get_by_role("button", name="Retry")).to_be_visible()
    await expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)


async def test_a_run_is_branched_off_from_the_event_that_is_looked_at(visitor: Visitor, working: Working) -> None:
    run = await working.run(sh("echo hello"), says("First."), says("Second."))
    await working.end(run["run_id"])
    page = await visitor.open(f"runs/{run['run_id']}?at=4")
    button = page.get_by_role("button", name=re.compile(r"Branch from \d+"))
    sequence = int((await button.inner_text()).removeprefix("Branch from "))
    assert 4 <= sequence < run["head_sequence"] + 100
    await button.click()
    await expect(page.get_by_role("dialog")).to_contain_text(f"Events up to {sequence} count.")
    await page.get_by_role("dialog").get_by_role("button", name="Branch").click()
    branch = await working.get(f"/runs/{await other_run(page, run['run_id'])}")
    assert branch["task_id"] != run["task_id"]
    assert branch["branched_from"] == {"run_id": run["run_id"], "sequence": sequence}


async def test_a_refusal_stays_in_the_question_and_says_what_to_do(visitor: Visitor, working: Working) -> None:
    run = await working.run(says(), budget_micros_usd=2_000_000)
    await working.end(run["run_id"])
    page = await visitor.open(f"runs/{run['run_id']}")
    await page.get_by_role("button", name="Retry").click()
    await page.get_by_text("Another model or budget").click()
    budget = page.get_by_label("Budget in dollars")
    await budget.fill("lots")
    await expect(page.get_by_role("button", name="Start again")).to_be_disabled()
    await budget.fill("1")
    await page.get_by_role("button", name="Start again").click()
    await expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("below the present")


async def test_a_standing_permission_is_shown_and_revoked(visitor: Visitor, working: Working) -> None:
    run = await waiting_run(working, says())
    page = await visitor.open("approvals")
    await expect(page.get_by_text("leaves one here")).to_be_visible()
    await working.post(f"/approvals/{run['approval_id']}/resolve", {"decision": "approved", "scope": "always"})
    # It comes by itself.
    await expect(page.get_by_text("shell_exec may run `echo hello`")).to_be_visible()
    await page.get_by_role("button", name="Revoke").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(page.get_by_text("leaves one here")).to_be_visible()
    assert (await working.get("/permissions"))["data"] == []
