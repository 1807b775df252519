"""Opening the console: the token leaves the address, pages are reached, and nothing comes from outside."""

from playwright.async_api import expect

from tests.console.browsing import Visitor


async def test_the_token_leaves_the_address_and_the_page_is_live(visitor: Visitor) -> None:
    page = await visitor.open()
    assert "token" not in page.url
    await page.reload()
    await expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()


async def test_without_a_token_it_is_asked_for_and_a_wrong_one_is_refused(visitor: Visitor) -> None:
    page = await visitor.context.new_page()
    await page.goto(visitor.origin)
    await page.get_by_label("Token").fill("not-the-token")
    await page.get_by_role("button", name="Open").click()
    await expect(page.get_by_role("alert")).to_contain_text("does not take this token")
    await page.get_by_label("Token").fill(visitor.token)
    await page.get_by_role("button", name="Open").click()
    await expect(page.get_by_role("navigation", name="Pages")).to_be_visible()


async def test_every_page_is_a_key_away_and_the_overlay_lists_the_keys(visitor: Visitor) -> None:
    page = await visitor.open()
    for key, name in (("a", "Approvals"), ("n", "New task"), ("u", "Audit"), ("c", "Usage"), ("h", "Agents")):
        await page.keyboard.type(f"g{key}")
        current = page.get_by_role("navigation", name="Pages").get_by_role("link", name=name)
        await expect(current).to_have_attribute("aria-current", "page")
        await expect(page.get_by_role("heading", level=1)).to_have_count(1)
    await page.keyboard.press("?")
    overlay = page.get_by_role("dialog", name="Keys")
    await expect(overlay).to_contain_text("Open Approvals")
    await page.keyboard.press("Escape")
    await expect(overlay).to_have_count(0)


async def test_nothing_is_loaded_from_elsewhere(visitor: Visitor) -> None:
    asked: list[str] = []
    visitor.context.on("request", lambda request: asked.append(request.url))
    page = await visitor.open()
    for name in await page.get_by_role("navigation", name="Pages").get_by_role("link").all():
        await name.click()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert [url for url in asked if not url.startswith((visitor.origin, "data:"))] == []


async def test_two_tabs_hold_one_stream_and_the_second_takes_over(visitor: Visitor) -> None:
    streams: list[str] = []
    visitor.context.on("request", lambda request: streams.append(request.url) if "stream" in request.url else None)
    first = await visitor.open()
    second = await visitor.open()
    assert len(streams) == 1
    await first.close()
    async with second.expect_request(lambda request: "stream" in request.url):
        pass
    await expect(second.get_by_role("status").filter(has_text="Live")).to_be_visible()
