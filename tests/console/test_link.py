"""The link between a page and its gateway: whatever breaks, nothing is missed, and the page says how it stands."""

import re
import shutil
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.console.browsing import visiting
from tests.console.proxying import proxied
from tests.gateway.serving import Served, free_port, serving
from tests.gateway.working import Working


async def sequences(page: Page, count: int) -> list[int]:
    """The numbers of all events that the page lists, once there are so many."""
    cells = page.get_by_role("table", name="Events").get_by_role("button")
    await expect(cells).to_have_count(count)
    return [int(text) for text in await cells.all_inner_texts()]


async def test_a_gateway_that_starts_again_costs_no_event(browser: Browser, tmp_path: Path, console: Path) -> None:
    port = free_port()

    def gateway(at: int) -> AbstractAsyncContextManager[Served]:
        return serving(tmp_path / "data", port=at, console=console, close_grace_s=0.1)

    async with gateway(port) as served:
        await served.run()
        await served.say("run_1", "before")
        visited = visiting(browser, served)
        visitor = await visited.__aenter__()
        page = await visitor.open("runs/run_1?view=events")
        assert await sequences(page, 3) == [0, 1, 2]
    await expect(page.get_by_role("status").filter(has_text="Reconnecting…")).to_be_visible()
    async with gateway(0) as elsewhere:
        await elsewhere.say("run_1", "meanwhile", "still away")
    async with gateway(port) as served:
        await expect(page.get_by_role("status").filter(has_text="Caught up")).to_be_visible()
        assert await sequences(page, 5) == [0, 1, 2, 3, 4]
        await served.say("run_1", "after")
        assert await sequences(page, 6) == [0, 1, 2, 3, 4, 5]
        await expect(page.get_by_role("status").filter(has_text=re.compile("^Live$"))).to_be_visible()
        await visited.__aexit__(None, None, None)


async def test_silence_is_noticed_and_the_link_made_again(browser: Browser, working: Working) -> None:
    await working.served.run()
    async with proxied(working.served.port) as (proxy, port), visiting(browser, working.served, port=port) as visitor:
        page = await visitor.open("runs/run_1?view=events", clock=True)
        assert await sequences(page, 2) == [0, 1]
        proxy.hush()
        await working.served.say("run_1", "unheard")
        async with page.expect_request(lambda request: "stream" in request.url) as asked:
            # As long as two and a half heartbeats that did not come.
            await page.clock.run_for(31_000)
        assert (await (await asked.value).all_headers()).get("last-event-id")
        assert await sequences(page, 3) == [0, 1, 2]


async def test_the_console_works_below_any_path_of_a_proxy(browser: Browser, working: Working) -> None:
    prefix = "/team/agents"
    async with (
        proxied(working.served.port, prefix) as (_, port),
        visiting(browser, working.served, port=port, prefix=prefix) as visitor,
    ):
        await working.served.run()
        page = await visitor.open("runs/run_1?view=events")
        assert page.url.startswith(f"http://127.0.0.1:{port}{prefix}/#/runs/run_1")
        assert await sequences(page, 2) == [0, 1]
        await working.served.say("run_1", "live")
        assert await sequences(page, 3) == [0, 1, 2]
        for name in ("Approvals", "New task", "Audit", "Usage", "Agents"):
            await page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
            await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def rename_assets(console: Path) -> None:
    """What building anew does to a console that is served: every file of it has another name."""
    names = [path.name for path in (console / "assets").iterdir()]
    for path in [console / "index.html", *(console / "assets").iterdir()]:
        if path.suffix == ".gz":
            path.unlink()
            continue
        text = path.read_text()
        for name in names:
            text = text.replace(name, f"new-{name}")
        path.write_text(text)
        if path.name in names:
            path.rename(path.with_name(f"new-{path.name}"))


async def test_a_page_of_an_earlier_console_says_that_it_was_renewed(
    browser: Browser, tmp_path: Path, console: Path
) -> None:
    own = Path(shutil.copytree(console, tmp_path / "console"))
    async with (
        serving(tmp_path / "data", console=own, close_grace_s=0.1) as served,
        visiting(browser, served) as visitor,
    ):
        page = await visitor.open()
        rename_assets(own)
        await page.get_by_role("link", name="Usage").click()
        await expect(page.get_by_role("alert")).to_contain_text("The console has been renewed.")
        await page.get_by_role("button", name="Load again").click()
        await expect(page.get_by_role("heading", level=1, name="Usage")).to_be_visible()


async def test_a_page_that_cannot_be_loaded_now_comes_when_the_gateway_is_back(
    browser: Browser, tmp_path: Path, console: Path
) -> None:
    port = free_port()

    def gateway() -> AbstractAsyncContextManager[Served]:
        return serving(tmp_path / "data", port=port, console=console, close_grace_s=0.1)

    async with gateway() as served:
        visited = visiting(browser, served)
        visitor = await visited.__aenter__()
        page = await visitor.open()
    await page.get_by_role("link", name="Usage").click()
    await expect(page.get_by_role("alert")).to_contain_text("The gateway is away.")
    async with gateway():
        await expect(page.get_by_role("heading", level=1, name="Usage")).to_be_visible()
        await visited.__aexit__(None, None, None)
