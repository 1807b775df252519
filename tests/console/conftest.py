"""A gateway that works, and a browser that looks at it. The browser is started once: its profiles are made for each test."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from runwire.gateway.services import BUILT
from tests.console.browsing import Visitor, chromium, visiting
from tests.gateway.working import Working, at_work

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these tests on one loop, which is the browser's."""
    shared = pytest.mark.asyncio(loop_scope="session")
    for item in items:
        if item.path.is_relative_to(HERE) and pytest_asyncio.is_async_test(item):
            item.add_marker(shared, append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console as it was built when the tests began: whoever builds it anew pulls no page away."""
    return Path(shutil.copytree(BUILT, tmp_path_factory.mktemp("built") / "console"))


@pytest_asyncio.fixture(loop_scope="session")
async def working(tmp_path: Path, console: Path) -> AsyncIterator[Working]:
    async with at_work(tmp_path, slots=4, console=console) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(browser: Browser, working: Working) -> AsyncIterator[Visitor]:
    async with visiting(browser, working.served) as opened:
        yield opened
