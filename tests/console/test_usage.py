"""Usage in the console: sums by agent, model, task and day, as a table, a plot and a file."""

import csv
from pathlib import Path

from playwright.async_api import expect

from tests.console.browsing import PHONE, Visitor
from tests.gateway.working import Working, says

_WIDER = (
    "() => [document.documentElement, document.querySelector('main')].map(one => one.scrollWidth - one.clientWidth)"
)


async def test_usage_is_added_up_by_agent_model_task_and_day(visitor: Visitor, working: Working) -> None:
    for number in (1, 2):
        used = {"input": 1000 * number, "output": 10 * number}
        run = await working.run(says(usage=used), prompt=f"Task number {number}")
        await working.end(run["run_id"])
    page = await visitor.open("usage")
    table = page.get_by_role("table", name="Usage by agent")
    await expect(table.get_by_role("row", name="native")).to_contain_text("3.0 k")
    await page.keyboard.press("3")
    rows = page.get_by_role("table", name="Usage by task").get_by_role("row")
    await expect(rows.filter(has_text="Task number 2")).to_contain_text("2.0 k")
    await page.get_by_role("button", name="Input").click()
    await expect(rows.nth(1)).to_contain_text("Task number 2")
    await page.keyboard.press("2")
    await expect(page.get_by_role("table", name="Usage by model").get_by_role("row")).to_have_count(4)
    await page.keyboard.press("4")
    await expect(page.get_by_role("table", name="Usage by day").get_by_role("row")).to_have_count(3)


async def test_the_plot_says_the_same_as_a_table(visitor: Visitor, working: Working) -> None:
    run = await working.run(says(usage={"input": 1200, "output": 34}))
    await working.end(run["run_id"])
    page = await visitor.open("usage?show=tokens")
    await expect(page.locator(".plot canvas")).to_be_visible()
    await page.get_by_text("As a table").click()
    numbers = page.get_by_role("table", name="Tokens by day").get_by_role("row").last
    await expect(numbers.get_by_role("cell")).to_have_text(["1.2 k", "0", "34"])
    await page.keyboard.press("m")
    await expect(page.get_by_role("figure", name="Cost by day")).to_be_visible()


async def test_sums_grow_while_one_looks(visitor: Visitor, working: Working) -> None:
    page = await visitor.open("usage")
    await expect(page.get_by_text("Nothing to plot yet.")).to_be_visible()
    run = await working.run(says(usage={"input": 700, "output": 1}))
    await working.end(run["run_id"])
    await expect(page.get_by_role("row", name="native")).to_contain_text("700")


async def test_sums_are_saved_as_a_table(visitor: Visitor, working: Working) -> None:
    run = await working.run(says(usage={"input": 700, "output": 1}))
    await working.end(run["run_id"])
    page = await visitor.open("usage")
    await expect(page.get_by_role("row", name="native")).to_be_visible()
    async with page.expect_download() as handed:
        await page.get_by_role("button", name="CSV").click()
    download = await handed.value
    assert download.suggested_filename == "runwire-usage-by-agent.csv"
    (row,) = csv.DictReader(Path(await download.path()).read_text().splitlines())
    assert (row["agent"], row["input_tokens"], row["output_tokens"]) == ("native", "700", "1")


async def test_no_such_page_is_wider_than_a_phone(visitor: Visitor, working: Working) -> None:
    run = await working.run(says(usage={"input": 700, "output": 1}), prompt="A" * 300)
    await working.end(run["run_id"])
    page = await visitor.open()
    await page.set_viewport_size(PHONE)
    places = {
        "new": page.get_by_role("radio", name="native"),
        "audit": page.get_by_role("link", name="run.finished"),
        "usage?by=task&show=tokens": page.get_by_role("row", name="AAA"),
    }
    for place, content in places.items():
        await page.evaluate("place => { location.hash = place }", f"#/{place}")
        await expect(content).to_be_visible()
        assert await page.evaluate(_WIDER) == [0, 0]
