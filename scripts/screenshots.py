"""Take the README's pictures of the console anew, from the demonstration of a fresh gateway."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
# What to show: the picture's name, where to go, and whether it is dark there. A title stands for the run that has it.
PICTURES = (
    ("agents", "#/", False),
    ("run", "#/runs/{Demo: measure the shop (goes on for hours)}", True),
    ("review", "#/review/{Demo: name unknown products (patches to review)}", False),
)
_SETTLE_MS = 1_500
_DEMO_MS = 30_000


def _take(browser: Browser, url: str, name: str, place: str, *, is_dark: bool) -> None:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme="dark" if is_dark else "light", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(url)
    # The demonstration takes a few seconds to come to where it is worth a picture.
    page.get_by_text("Over", exact=False).first.wait_for(timeout=_DEMO_MS)
    page.wait_for_timeout(_SETTLE_MS * 4)
    if "{" in place:
        before, _, rest = place.partition("{")
        title, _, after = rest.partition("}")
        link = page.get_by_role("link", name=title).first.get_attribute("href")
        assert link is not None
        place = before + link.rsplit("/", 1)[-1] + after
    page.evaluate("place => { location.hash = place }", place)
    page.wait_for_timeout(_SETTLE_MS)
    page.screenshot(path=IMAGES / f"{name}.png")
    context.close()


def main() -> None:
    """Start a gateway with the demonstration, look at it, and end it."""
    chromium = next(path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name)))
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "runwire", "--json", "--data", folder, "up", "--demo", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as gateway:
            try:
                assert gateway.stdout is not None
                url = (
                    f"{json.loads(gateway.stdout.readline())['url']}/#token={Path(folder, 'token').read_text().strip()}"
                )
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                    for name, place, is_dark in PICTURES:
                        _take(browser, url, name, place, is_dark=is_dark)
                    browser.close()
            finally:
                gateway.terminate()


if __name__ == "__main__":
    main()
