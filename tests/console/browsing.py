"""A real browser on the console of a real gateway."""

import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, async_playwright, expect

from tests.gateway.serving import Served

WIDE: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 740}
PATIENCE_MS = 20_000
# Expectations wait as long as everything else does.
expect.set_options(timeout=PATIENCE_MS)
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """The browser of this machine."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    assert found is not None, "there is no Chromium; `make test` installs one"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Visitor:
    """Somebody with a browser of their own: its tabs share what a browser's tabs share."""

    context: BrowserContext
    origin: str
    token: str
    complaints: list[str] = field(default_factory=list)
    """What the browser complained about: errors of scripts, and what the page's own policy refused."""

    async def open(self, place: str = "", *, clock: bool = False) -> Page:
        """Open the console in a tab as `runwire up` says, then go to a place; with a clock that can be moved."""
        page = await self.context.new_page()
        if clock:
            await page.clock.install()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        await page.goto(f"{self.origin}/#token={self.token}")
        await page.get_by_role("status").filter(has_text="Live").wait_for()
        if place:
            await page.evaluate("place => { location.hash = place }", f"#/{place}")
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        # A gateway that is away, or says no, is told by the page itself; the browser's own line about it is no complaint.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.complaints.append(message.text)


@asynccontextmanager
async def visiting(
    browser: Browser,
    served: Served,
    *,
    size: ViewportSize = WIDE,
    is_dark: bool = False,
    port: int | None = None,
    prefix: str = "",
    bypass_csp: bool = False,
) -> AsyncGenerator[Visitor]:
    """A fresh browser profile on a gateway, or on what stands before it; it leaves without a complaint.

    Only what looks at pages from within needs to get around their policy.
    """
    context = await browser.new_context(
        viewport=size,
        reduced_motion="reduce",
        color_scheme="dark" if is_dark else "light",
        bypass_csp=bypass_csp,
    )
    try:
        visitor = Visitor(context, f"http://127.0.0.1:{port or served.port}{prefix}", served.token)
        yield visitor
        assert visitor.complaints == []
    finally:
        await context.close()
