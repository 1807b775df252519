"""What happened in a run, each thing as what it is: prose as it is written, and a card for every kind of tool."""

import re
import sys
from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from tests.console.browsing import Visitor
from tests.console.runs import cancelled, finished, waiting
from tests.gateway.working import Json, Working, says, sh, uses
from tests.native.mcp import servers

TRUST = {"default": "trust", "allow_hosts": ["127.0.0.1"]}
THINKING = ["assistant.thinking_delta", "assistant.thinking_complete"]
COLOURED = r"printf '\033[31mred\033[0m plain\n\033]0;a title\007'; exit 3"
PROSE = """## Findings

1. a **bold** word
2. `code` and [a link](https://example.org/)

| key | value |
|---|---|
| a | 1 |

```python
print("<b>as it is</b>")
```
"""


def card(page: Page, words: str) -> Locator:
    """The card whose head says this."""
    return page.get_by_role("feed", name="Timeline").get_by_role("group", name=re.compile(words))


async def opened(page: Page, words: str) -> Locator:
    """The same, with all that is in it."""
    found = card(page, words)
    toggle = found.locator(".card-toggle")
    if await toggle.get_attribute("aria-expanded") == "false":
        await toggle.click()
    return found


@pytest_asyncio.fixture(loop_scope="session")
async def every_kind(working: Working, visitor: Visitor) -> AsyncIterator[Page]:
    """The page of a run that has used every kind of tool."""
    (working.folder / "notes.txt").write_text("a needle\nhay\n")
    todos = [{"content": "Look around", "status": "completed"}, {"content": "Change it", "status": "in_progress"}]
    run_id = await finished(
        working,
        {**uses("todo_write", todos=todos), "thinking": "I had better look around."},
        sh(COLOURED),
        uses("glob", pattern="*.txt"),
        uses("grep", pattern="needle"),
        uses("file_read", path="notes.txt"),
        uses("edit_file", path="notes.txt", old_text="hay", new_text="straw"),
        uses("http_request", method="GET", url=f"http://127.0.0.1:{working.served.port}/healthz"),
        uses("mcp__own__add", a=2, b=3),
        says(PROSE),
        policy=TRUST,
        experimental=THINKING,
        mcp_servers={"own": {"command": sys.executable, "args": [servers.__file__]}},
    )
    yield await visitor.open(f"runs/{run_id}")


async def test_every_kind_of_tool_has_a_card_of_its_own(every_kind: Page, working: Working) -> None:
    page = every_kind
    await page.keyboard.type("gg")
    shell = await opened(page, "shell_exec")
    await expect(shell).to_contain_text("exit 3")
    await expect(shell.get_by_role("group", name=re.compile("^Output of"))).to_have_text("red plain\n")
    await expect(shell.locator(".ansi-red-fg")).to_have_text("red")
    glob = await opened(page, "glob")
    await expect(glob.get_by_role("listitem")).to_have_text(["notes.txt"])
    grep = await opened(page, "grep")
    await expect(grep.get_by_role("table", name="notes.txt").get_by_role("row")).to_have_text(["1a needle"])
    read = await opened(page, "file_read")
    await expect(read).to_contain_text("notes.txt")
    edit = await opened(page, "^Edit")
    await expect(edit).to_contain_text("applied")
    await expect(edit.get_by_role("cell", name="added: straw")).to_be_visible()
    http = await opened(page, "http_request")
    await expect(http.get_by_role("link")).to_have_attribute("href", f"http://127.0.0.1:{working.served.port}/healthz")
    await expect(http).to_contain_text("200")
    mcp = await opened(page, "mcp__own__add|add")
    await expect(mcp).to_contain_text("own")
    await expect(mcp).to_contain_text("5")


async def test_what_is_to_be_done_stays_in_sight(every_kind: Page) -> None:
    panel = every_kind.get_by_role("region", name="To do", exact=True)
    await expect(panel).to_contain_text("1 of 2 done")
    await expect(panel.get_by_role("listitem")).to_have_text([re.compile("Look around"), re.compile("Change it")])
    await every_kind.keyboard.type("gg")
    await expect(panel).to_be_in_viewport()


async def test_thinking_is_hidden_until_it_is_wanted(every_kind: Page) -> None:
    await every_kind.keyboard.type("gg")
    await expect(card(every_kind, "Todo")).to_be_visible()
    await expect(card(every_kind, "Thinking")).to_have_count(0)
    await every_kind.get_by_label("Thinking").check()
    await expect(card(every_kind, "Thinking")).to_contain_text("I had better look around.")


async def test_prose_is_drawn_as_it_is_meant(every_kind: Page) -> None:
    said = card(every_kind, "^Agent")
    await expect(said.get_by_role("heading", name="Findings")).to_be_visible()
    await expect(said.get_by_role("listitem")).to_have_count(2)
    await expect(said.get_by_role("link", name="a link")).to_have_attribute("href", "https://example.org/")
    await expect(said.get_by_role("cell", name="1")).to_be_visible()
    await expect(said.locator("pre")).to_have_text('print("<b>as it is</b>")\n')


async def test_prose_is_drawn_while_it_is_written(visitor: Visitor, working: Working) -> None:
    run = await working.run(says("## Slowly\n\nAnd **in time**, " + "word after word, " * 400, pace_ms=100))
    page = await visitor.open(f"runs/{run['run_id']}")
    said = card(page, "^Agent")
    await expect(said.get_by_role("heading", name="Slowly")).to_be_visible()
    await expect(said.locator("strong")).to_have_text("in time")
    await expect(said).to_contain_text("writing…")
    before = len(await said.inner_text())
    await page.wait_for_function(
        "([article, length]) => article.innerText.length > length", arg=[await said.element_handle(), before]
    )
    assert (await working.get(f"/runs/{run['run_id']}"))["status"] == "running"
    await cancelled(working, run)
    await expect(said).to_contain_text("broken off")
    await expect(said.get_by_role("heading", name="Slowly")).to_be_visible()
    await expect(card(page, "^Cancelled")).to_be_visible()


async def test_what_this_release_does_not_know_is_shown_as_it_is(visitor: Visitor, working: Working) -> None:
    run = await waiting(working)
    page = await visitor.open(f"runs/{run['run_id']}")
    event: Json = {"type": "external.weather", "data": {"sky": ["grey", {"rain": True}]}}
    await working.post(f"/runs/{run['run_id']}/events", event)
    unknown = await opened(page, "external.weather")
    await expect(unknown).to_contain_text("not known to this release")
    await expect(unknown).to_contain_text('"rain": true')


async def test_output_is_shown_while_a_command_runs(visitor: Visitor, working: Working) -> None:
    go_on = working.folder / "go-on"
    run = await working.run(sh("echo begun; until [ -e go-on ]; do sleep 0.05; done; echo over"), says())
    page = await visitor.open(f"runs/{run['run_id']}")
    shell = await opened(page, "shell_exec")
    await expect(shell.get_by_role("group", name=re.compile("^Output of"))).to_have_text("begun\n")
    await expect(shell).to_contain_text("running")
    go_on.touch()
    await expect(shell.get_by_role("group", name=re.compile("^Output of"))).to_have_text("begun\nover\n")
    await expect(shell).to_contain_text("exit 0")
