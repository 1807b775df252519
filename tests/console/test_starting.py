"""Starting a task from the console: what is asked for is what begins, and what is wrong is said where it is."""

import re

from playwright.async_api import FilePayload, Page, expect

from tests.console.browsing import Visitor
from tests.gateway.working import Working, says

RUN = re.compile(r"#/runs/(run_\w+)")


async def opened_run(page: Page) -> str:
    """The run whose page is open, once one is."""
    await page.wait_for_url(RUN)
    found = RUN.search(page.url)
    assert found is not None
    return found[1]


async def test_a_task_is_started_from_the_form_and_its_run_opens(visitor: Visitor, working: Working) -> None:
    page = await visitor.open("new")
    await page.get_by_label("What is to be done?").fill("Greet the world.")
    await expect(page.get_by_role("radio", name="native")).to_be_checked()
    await page.get_by_label("Model").fill(working.script(says("Hello, world.")))
    await page.get_by_label("Folder").fill(str(working.folder))
    await page.get_by_label("Policy", exact=True).select_option("read_only")
    await page.get_by_label("Budget in dollars").fill("1.50")
    await page.get_by_role("button", name="Start").click()
    run = await working.get(f"/runs/{await opened_run(page)}")
    await working.end(run["run_id"])
    task = await working.get(f"/tasks/{run['task_id']}")
    assert (task["prompt"], task["policy"], task["budget_micros_usd"]) == ("Greet the world.", "read_only", 1_500_000)
    assert task["workspace"] == {"path": str(working.folder), "mode": "in_place"}
    await expect(page.get_by_text("Hello, world.").first).to_be_visible()


async def test_what_is_wrong_is_said_at_its_field_which_has_the_focus(visitor: Visitor, working: Working) -> None:
    page = await visitor.open("new?mode=in_place")
    start, prompt = page.get_by_role("button", name="Start"), page.get_by_label("What is to be done?")
    model, folder = page.get_by_label("Model"), page.get_by_label("Folder")
    await folder.fill(str(working.folder / "nowhere"))
    await start.click()
    await expect(prompt).to_be_focused()
    await expect(prompt).to_have_accessible_description(re.compile("Say what is to be done"))
    await prompt.fill("Greet the world.")
    await start.click()
    await expect(model).to_be_focused()
    await expect(model).to_have_accessible_description(re.compile("An agent needs a model"))
    await model.fill(working.script(says()))
    await start.click()
    await expect(folder).to_be_focused()
    await expect(folder).to_have_accessible_description(re.compile("nowhere.* is not there"))
    await expect(model).to_have_attribute("aria-invalid", "false")


async def test_a_problem_in_what_is_folded_away_is_unfolded(visitor: Visitor, working: Working) -> None:
    page = await visitor.open("new?prompt=Hello")
    await page.get_by_label("Model").fill(working.script(says()))
    more = page.get_by_text("More: attachments")
    await more.click()
    await page.get_by_label("Session").fill("not a session")
    await more.click()
    await expect(page.get_by_label("Session")).to_be_hidden()
    await page.get_by_role("button", name="Start").click()
    await expect(page.get_by_label("Session")).to_be_focused()


async def test_a_task_is_started_by_keys_alone_and_its_choices_are_there_the_next_time(
    visitor: Visitor, working: Working
) -> None:
    model = working.script(says())
    page = await visitor.open(f"new?model={model}&mode=scratch")
    await expect(page.get_by_label("Model")).to_have_value(model)
    await page.locator("h1").click()
    await page.keyboard.press("/")
    await page.keyboard.type("Greet the world.")
    await page.keyboard.press("Control+Enter")
    await working.end(await opened_run(page))
    await page.keyboard.press("g")
    await page.keyboard.press("n")
    await expect(page.get_by_label("Model")).to_have_value(model)
    await expect(page.get_by_label("Workspace")).to_have_value("scratch")
    await expect(page.get_by_label("What is to be done?")).to_have_value("")


async def test_agents_that_are_not_here_say_how_to_get_them(visitor: Visitor, working: Working) -> None:
    agents = (await working.get("/agents"))["data"]
    page = await visitor.open("new")
    await page.get_by_text("not installed here").click()
    for agent in agents:
        card = page.locator("label").filter(has=page.locator(f"input[value='{agent['name']}']"))
        await expect(card).to_contain_text(agent["version"] if agent["installed"] else agent["install"])


async def test_an_attached_file_goes_with_the_prompt(visitor: Visitor, working: Working) -> None:
    page = await visitor.open("new?prompt=Look&mode=scratch")
    await page.get_by_label("Model").fill(working.script(says()))
    await page.get_by_text("More: attachments").click()
    picture = FilePayload(name="a.png", mimeType="image/png", buffer=b"\x89PNG")
    await page.get_by_label("Attachments").set_input_files(picture)
    await expect(page.get_by_role("button", name="Leave out a.png")).to_be_visible()
    await page.get_by_role("button", name="Start").click()
    assert "user.attachment" in await working.end(await opened_run(page))
