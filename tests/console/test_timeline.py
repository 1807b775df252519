"""Finding one's way in a run: what is stored, what is looked for, what it was like before, and what it belongs to."""

import re

from playwright.async_api import Browser, Locator, Page, expect

from tests.console.browsing import PHONE, Visitor, visiting
from tests.console.runs import finished, waiting
from tests.gateway.working import Json, Working, says, sh, uses


def rows(page: Page) -> Locator:
    """What the timeline lists."""
    return page.get_by_role("feed", name="Timeline").get_by_role("article")


def standing(page: Page) -> Locator:
    """What the reader stands on."""
    return page.locator(".run-row.selected")


async def storied(working: Working) -> str:
    """The id of a run with a change, a failure and an answered question in it."""
    (working.folder / "notes.txt").write_text("hay\n")
    run = await working.run(
        uses("edit_file", path="notes.txt", old_text="hay", new_text="straw"),
        sh("echo a needle; exit 1"),
        sh("echo asked"),
        says("All done."),
        policy={"default": "trust", "rules": [{"action": "ask", "argv": ["echo asked"]}]},
    )
    run_id: str = run["run_id"]
    asked = await working.until(run_id, "approval.requested")
    await working.post(f"/approvals/{asked['approval_id']}/resolve", {"decision": "approved"})
    await working.end(run_id)
    return run_id


async def events(working: Working, run_id: str) -> list[Json]:
    """What happened."""
    found: list[Json] = (await working.get(f"/runs/{run_id}/events"))["data"]
    return found


async def test_every_event_is_shown_to_the_byte(visitor: Visitor, working: Working) -> None:
    run_id = await finished(working, sh("echo 'é <b> \\u2028'"), says("Done. ✓"))
    page = await visitor.open(f"runs/{run_id}?view=events")
    await page.get_by_role("button", name="Event 0 as it is stored").click()
    raw = page.get_by_role("dialog").locator("pre")
    stored = await working.served.stored(run_id)
    for sequence, envelope in enumerate(stored):
        await expect(page.get_by_role("dialog", name=f"Event {sequence}", exact=True)).to_be_visible()
        assert await raw.text_content() == envelope.decode()
        if envelope is not stored[-1]:
            await page.get_by_role("button", name="Next", exact=True).click()
    await expect(page.get_by_role("dialog").get_by_role("button", name="Next", exact=True)).to_be_disabled()


async def test_events_are_listed_by_type(visitor: Visitor, working: Working) -> None:
    run_id = await finished(working, sh("echo one"), says())
    known = [event["type"] for event in await events(working, run_id)]
    page = await visitor.open(f"runs/{run_id}?view=events")
    table = page.get_by_role("table", name="Events")
    await expect(table.get_by_role("row")).to_have_count(len(known) + 1)
    await page.get_by_label("Types of events").fill("tool.shell.*, run.*")
    wanted = [name for name in known if name.startswith(("tool.shell.", "run."))]
    await expect(table.get_by_role("row").filter(has=page.get_by_role("cell"))).to_have_count(len(wanted))
    assert await table.locator("[role=cell]:nth-child(3)").all_inner_texts() == wanted
    await page.reload()
    await expect(table.get_by_role("row")).to_have_count(len(wanted) + 1)


async def test_the_timeline_is_narrowed_and_searched(visitor: Visitor, working: Working) -> None:
    page = await visitor.open(f"runs/{await storied(working)}")
    kinds = page.get_by_role("combobox", name="Show")
    await kinds.select_option("Tool calls")
    await expect(rows(page).get_by_role("button", name=re.compile("shell_exec"))).to_have_count(2)
    await expect(rows(page).filter(has_text="All done.")).to_have_count(0)
    await kinds.select_option("Everything")
    await page.keyboard.press("/")
    await page.keyboard.type("NEEDLE")
    found = page.get_by_text(re.compile(r"^\d+ match"))
    await expect(found).to_have_text("1 match")
    await page.keyboard.press("Enter")
    await expect(standing(page)).to_contain_text("a needle")
    await page.keyboard.press("Escape")
    await expect(found).to_have_count(0)


async def test_one_jumps_to_errors_questions_and_changes(visitor: Visitor, working: Working) -> None:
    page = await visitor.open(f"runs/{await storied(working)}")
    await page.get_by_role("button", name="Next error, 1 in all").click()
    await expect(standing(page)).to_contain_text("exit 1")
    await page.get_by_role("button", name="Next approval, 1 in all").click()
    await expect(standing(page)).to_contain_text("Approved")
    await page.keyboard.press("m")
    await expect(standing(page)).to_contain_text("notes.txt")
    await expect(standing(page)).to_be_focused()


async def test_the_run_is_shown_as_it_was_at_any_event(visitor: Visitor, working: Working) -> None:
    run_id = await storied(working)
    happened = [event["type"] for event in await events(working, run_id)]
    page = await visitor.open(f"runs/{run_id}")
    await expect(rows(page).filter(has_text="All done.").first).to_be_visible()
    slider = page.get_by_role("slider", name="Replay to event")
    asked = happened.index("approval.requested")
    await slider.fill(str(asked))
    await expect(page.get_by_text(f"Event {asked} of {len(happened) - 1}")).to_be_visible()
    await expect(rows(page).last).to_contain_text("Waits for you")
    await expect(rows(page).filter(has_text="All done.")).to_have_count(0)
    await page.locator("h1").click()
    await page.keyboard.press(".")
    await expect(rows(page).last).to_contain_text("Approved")
    await page.keyboard.press(",")
    await expect(rows(page).last).to_contain_text("Waits for you")
    await page.get_by_role("button", name="End", exact=True).click()
    await expect(rows(page).filter(has_text="All done.").first).to_be_visible()


async def test_a_run_is_played(visitor: Visitor, working: Working) -> None:
    page = await visitor.open(f"runs/{await storied(working)}")
    slider = page.get_by_role("slider", name="Replay to event")
    await slider.fill("0")
    await page.get_by_label("Speed").select_option(index=await page.get_by_label("Speed").locator("option").count() - 1)
    await page.get_by_role("button", name="Play").click()
    await expect(rows(page).filter(has_text="All done.").first).to_be_visible()


async def test_a_link_leads_to_the_event_also_after_a_reload(visitor: Visitor, working: Working) -> None:
    await visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    run_id = await storied(working)
    happened = [event["type"] for event in await events(working, run_id)]
    exited = happened.index("tool.shell.exited")
    page = await visitor.open(f"runs/{run_id}?at={exited}")
    marked = page.locator(".run-row.marked")
    await expect(marked).to_contain_text("a needle")
    await page.reload()
    await expect(marked).to_contain_text("a needle")
    await expect(marked).to_be_in_viewport()
    await page.keyboard.press("o")
    await page.get_by_role("button", name="Copy link").click()
    await expect(page.get_by_role("status").filter(has_text="link to this event")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == f"{visitor.origin}/#/runs/{run_id}?at={exited}"


async def test_cost_and_tokens_are_plotted(visitor: Visitor, working: Working) -> None:
    spent = {"usage": {"input": 1200, "output": 34}, "cost_micros_usd": 1500}
    run_id = await finished(working, {**sh("true"), **spent}, {**says(), **spent})
    page = await visitor.open(f"runs/{run_id}?view=figures")
    for title in ("Cost over time", "Tokens per turn"):
        figure = page.get_by_role("figure", name=title)
        await expect(figure.locator("canvas")).to_be_visible()
        await figure.get_by_text("As a table").click()
        await expect(page.get_by_role("table", name=title).get_by_role("row")).to_have_count(3)
    await expect(page.get_by_role("table", name="Cost over time").get_by_role("row").last).to_contain_text("$0.003")
    await expect(page.get_by_role("table", name="Tokens per turn").get_by_role("row").last).to_contain_text("1.2 k")


async def test_a_run_shows_its_parts_its_resumes_and_its_branches(visitor: Visitor, working: Working) -> None:
    turns = [uses("spawn_agent", prompt="Count the files."), says("Three."), says("Done."), says("More.")]
    run = await working.run(*turns, experimental=["run.child_started", "run.child_finished"])
    await working.end(run["run_id"])
    at = f"/tasks/{run['task_id']}/runs/{run['run_id']}"
    for verb, body in (("continue", {"prompt": "More."}), ("resume", {"branch": True, "from_sequence": 3})):
        other = (await working.post(f"{at}/{verb}", body)).json()
        await working.end(other["run_id"])
    page = await visitor.open(f"runs/{run['run_id']}")
    family = page.get_by_role("region", name="Related runs")
    relatives = family.get_by_role("listitem").get_by_role("listitem")
    await expect(relatives.filter(has_text="sub-run").first).to_contain_text("Count the files.")
    await expect(relatives.filter(has_text="resumed")).to_contain_text(re.compile(r"from event \d+"))
    await expect(relatives.filter(has_text="branch")).to_contain_text("from event 3")
    await family.get_by_role("link", name="Count the files.").first.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Count the files.")


async def test_a_live_run_is_followed_until_the_reader_looks_back(visitor: Visitor, working: Working) -> None:
    run = await waiting(working)
    page = await visitor.open(f"runs/{run['run_id']}")
    await expect(page.get_by_role("button", name="Approve")).to_be_visible()
    notes = [{"type": "external.note", "data": {"number": number}} for number in range(60)]
    await working.post(f"/runs/{run['run_id']}/events", {"events": notes})
    head = (await working.get(f"/runs/{run['run_id']}"))["head_sequence"]
    # While everything fits in sight, the beginning is the end: whoever looks back then would still follow.
    await expect(page.get_by_text(f"Event {head} of {head}")).to_be_visible()
    await expect(rows(page).last).to_be_in_viewport()
    await expect(page.get_by_role("button", name="↓ Newest")).to_have_count(0)
    await page.keyboard.type("gg")
    await expect(rows(page).filter(has_text="Do it.").first).to_be_in_viewport()
    await working.post(f"/approvals/{run['approval_id']}/resolve", {"decision": "approved"})
    await working.end(run["run_id"])
    await expect(rows(page).filter(has_text="Do it.").first).to_be_in_viewport()
    await page.get_by_role("button", name="↓ End").click()
    await expect(rows(page).filter(has_text="Completed")).to_be_in_viewport()


async def test_a_phone_shows_the_timeline(browser: Browser, working: Working) -> None:
    run_id = await storied(working)
    async with visiting(browser, working.served, size=PHONE) as visitor:
        page = await visitor.open(f"runs/{run_id}")
        await expect(rows(page).filter(has_text="Completed")).to_be_in_viewport(ratio=1)
        feed = await page.get_by_role("feed", name="Timeline").bounding_box()
        assert feed is not None
        assert feed["width"] > PHONE["width"] * 0.9
        assert feed["height"] > PHONE["height"] / 3
        await page.get_by_role("button", name="Next error").click()
        await expect(standing(page)).to_contain_text("exit 1")
        await expect(standing(page)).to_be_in_viewport()
