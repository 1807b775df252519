"""The audit in the console: who did what with whose permission, found, live, and saved."""

import csv
import json
from pathlib import Path

from playwright.async_api import Download, Page, expect

from tests.console.browsing import Visitor
from tests.gateway.working import Json, Working, says, sh


async def decided_run(working: Working, command: str, decision: str, comment: str) -> Json:
    """A run whose one command was decided on."""
    run = await working.run(sh(command), says(), policy={"default": "ask"})
    asked = await working.until(run["run_id"], "approval.requested")
    await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": decision, "comment": comment})
    await working.end(run["run_id"])
    return run


async def saved(page: Page, button: str) -> tuple[Download, str]:
    """The file that a button hands over, and what is in it."""
    async with page.expect_download() as handed:
        await page.get_by_role("button", name=button, exact=True).click()
    download = await handed.value
    return download, Path(await download.path()).read_text()


async def test_the_audit_tells_who_approved_what_and_leads_to_the_event(visitor: Visitor, working: Working) -> None:
    run = await decided_run(working, "echo one", "approved", "go ahead")
    page = await visitor.open("audit")
    answer = page.get_by_role("row").filter(has_text="approved: go ahead")
    await expect(answer).to_contain_text("operator")
    await expect(answer).to_contain_text("echo one")
    command = page.get_by_role("row").filter(has=page.get_by_role("link", name="tool.shell.command"))
    await expect(command).to_contain_text("native allowed by operator")
    await answer.get_by_role("link").click()
    await page.wait_for_url(lambda url: f"runs/{run['run_id']}?at=" in url)


async def test_the_audit_is_asked_by_kind_agent_time_words_and_people(visitor: Visitor, working: Working) -> None:
    await decided_run(working, "echo one", "approved", "")
    await decided_run(working, "echo two", "denied", "not that")
    page = await visitor.open("audit")
    rows = page.get_by_role("row").filter(has=page.get_by_role("cell"))
    links = rows.get_by_role("link")
    await page.get_by_label("Kind").fill("approval.*")
    await page.get_by_label("Kind").press("Enter")
    await expect(links).to_have_text(["approval.resolved", "approval.requested"] * 2)
    await page.get_by_label("Done by people").check()
    await expect(links).to_have_text(["approval.resolved"] * 2)
    await expect(rows.first).to_contain_text("denied: not that")
    await page.get_by_label("Words").fill("NOT THAT")
    await page.get_by_label("Words").press("Enter")
    await expect(links).to_have_count(1)
    await page.get_by_label("Time").select_option("hour")
    await expect(links).to_have_count(1)
    # What is asked stands in the address, so that it can be sent to somebody.
    again = await visitor.open(page.url.split("#/")[1])
    await expect(again.get_by_role("row").filter(has_text="denied: not that")).to_be_visible()
    await page.get_by_label("Agent").select_option("codex")
    await expect(page.get_by_text("Nothing fits.")).to_be_visible()
    await page.get_by_label("Agent").select_option("")
    await page.get_by_label("Time").select_option("between")
    await page.get_by_label("To", exact=True).fill("2020-01-01T00:00")
    await expect(page.get_by_text("Nothing fits.")).to_be_visible()


async def test_new_facts_come_by_themselves_and_do_not_disturb_what_is_typed(
    visitor: Visitor, working: Working
) -> None:
    page = await visitor.open("audit")
    await expect(page.get_by_text("Nothing fits.")).to_be_visible()
    await page.get_by_label("Words").press_sequentially("half a wo")
    run = await working.run(says())
    await working.end(run["run_id"])
    await expect(page.get_by_role("link", name="run.finished")).to_be_visible()
    await expect(page.get_by_label("Words")).to_have_value("half a wo")


async def test_facts_are_reached_by_keys(visitor: Visitor, working: Working) -> None:
    run = await working.run(says())
    await working.end(run["run_id"])
    page = await visitor.open("audit")
    await expect(page.get_by_role("link", name="run.finished")).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(page.get_by_role("link", name="user.message")).to_be_focused()
    await page.keyboard.press("k")
    await page.keyboard.press("Enter")
    await page.wait_for_url(lambda url: f"runs/{run['run_id']}?at=" in url)


async def test_every_fact_is_in_the_file_and_none_of_it_is_a_formula(visitor: Visitor, working: Working) -> None:
    run = await working.run(says(), prompt='=HYPERLINK("https://example.com")')
    await working.end(run["run_id"])
    page = await visitor.open("audit")
    await expect(page.get_by_role("link", name="run.finished")).to_be_visible()
    download, table = await saved(page, "CSV")
    assert download.suggested_filename.endswith(".csv")
    rows = list(csv.DictReader(table.splitlines()))
    stored = (await working.get("/audit"))["data"]
    assert [row["event_id"] for row in rows] == [entry["event_id"] for entry in stored]
    assert rows[0]["what"] == '\'=HYPERLINK("https://example.com")'
    _, lines = await saved(page, "NDJSON")
    assert [json.loads(line) for line in lines.splitlines()] == stored
