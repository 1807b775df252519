"""A run as it was: what the page says of it is what was true at the moment that is looked at, and nothing of today."""

import json
from pathlib import Path

from playwright.async_api import Locator, Page, expect

from tests.console.browsing import Visitor
from tests.console.test_timeline import events, rows, storied
from tests.gateway.serving import V1
from tests.gateway.working import Working

LOG = Path(__file__).parents[2] / "spec/fixtures/v1/shell_kind.jsonl"
EVERY_S = 95


def head(page: Page) -> Locator:
    """What the page says of the run as a whole."""
    return page.locator(".run-head")


async def slow(working: Working) -> list[str]:
    """A run with 95 seconds between any two of its events: its id, then the types of what happened."""
    told = [json.loads(line) for line in LOG.read_text().splitlines()]
    for event in told:
        minutes, seconds = divmod(event["sequence"] * EVERY_S, 60)
        event["occurred_at"] = f"2026-11-15T12:{minutes:02}:{seconds:02}.000000000Z"
    body = "\n".join(json.dumps(event, separators=(",", ":"), ensure_ascii=False) for event in told)
    answer = await working.http.post(f"{V1}/import", content=body.encode(), params={"agent": "native"})
    assert answer.is_success, answer.text
    (run,) = (await working.get("/runs"))["data"]
    return [run["run_id"], *(event["type"] for event in told)]


async def test_a_command_has_run_as_long_as_it_had_by_then(visitor: Visitor, working: Working) -> None:
    run_id, *happened = await slow(working)
    page = await visitor.open(f"runs/{run_id}?upto={happened.index('tool.shell.output_chunk')}")
    shell = rows(page).filter(has_text="shell_exec")
    await expect(shell).to_contain_text("running")
    await expect(shell).to_contain_text("1 min 35 s")
    await page.get_by_role("button", name="End", exact=True).click()
    await expect(shell).to_contain_text("exit 0")


async def test_the_head_tells_how_the_run_stood_and_that_it_is_the_past(visitor: Visitor, working: Working) -> None:
    run_id, *happened = await slow(working)
    page = await visitor.open(f"runs/{run_id}")
    await expect(head(page)).to_contain_text("done")
    await expect(head(page)).not_to_contain_text("as it was")
    slider = page.get_by_role("slider", name="Replay to event")
    await slider.fill("0")
    await expect(head(page)).to_contain_text("idle")
    await expect(head(page)).to_contain_text("as it was at")
    await slider.fill(str(happened.index("tool.shell.output_chunk")))
    await expect(head(page)).to_contain_text("working")
    await expect(head(page)).to_contain_text("runs for 6 min 20 s")
    await expect(head(page)).not_to_contain_text("ended")
    await page.keyboard.press("Escape")
    await page.locator("h1").click()
    await page.keyboard.press("l")
    await expect(head(page)).to_contain_text("done")
    await expect(head(page)).to_contain_text("ended")


async def test_the_head_tells_what_was_asked_then(visitor: Visitor, working: Working) -> None:
    run_id = await storied(working)
    happened = [event["type"] for event in await events(working, run_id)]
    page = await visitor.open(f"runs/{run_id}?upto={happened.index('approval.requested')}")
    await expect(head(page)).to_contain_text("blocked")
    await expect(head(page).locator(".run-reason")).to_contain_text("echo asked")
    await page.locator("h1").click()
    await page.keyboard.press(".")
    await expect(head(page)).to_contain_text("working")
    await expect(head(page).locator(".run-reason")).to_have_count(0)


async def test_an_address_opens_the_replay_where_it_says_and_follows_the_reader(
    visitor: Visitor, working: Working
) -> None:
    run_id = await storied(working)
    happened = [event["type"] for event in await events(working, run_id)]
    last, asked = len(happened) - 1, happened.index("approval.requested")
    page = await visitor.open(f"runs/{run_id}?upto={asked}")
    await expect(page.get_by_text(f"Event {asked} of {last}")).to_be_visible()
    await expect(rows(page).last).to_contain_text("Waits for you")
    # Whoever goes on takes the address along.
    await page.locator("h1").click()
    await page.keyboard.press(".")
    await page.wait_for_url(lambda url: url.endswith(f"?upto={asked + 1}"))
    await page.reload()
    await expect(page.get_by_text(f"Event {asked + 1} of {last}")).to_be_visible()
    # Whoever changes the address is taken along.
    await page.evaluate("place => { location.hash = place }", f"#/runs/{run_id}?upto=2")
    await expect(page.get_by_text(f"Event 2 of {last}")).to_be_visible()
    await page.keyboard.press("l")
    await page.wait_for_url(lambda url: url.endswith(f"#/runs/{run_id}"))
    await expect(rows(page).filter(has_text="All done.").first).to_be_visible()
