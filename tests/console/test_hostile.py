"""What agents write is never more than text: nothing of it runs, nothing of it is asked for, nothing of it hides."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.console.browsing import Visitor
from tests.console.runs import waiting
from tests.gateway.working import Json, Working, says, uses

# Each would call `hacked`, or ask for something from elsewhere, if it were anything but text.
TAG = "<img src=x onerror=hacked('tag')>"
HTML = f"""{TAG}<script>hacked('script')</script><svg onload=hacked('svg')></svg>
<iframe src="javascript:parent.hacked('frame')"></iframe><iframe srcdoc="<script>parent.hacked('doc')</script>"></iframe>
<a href="javascript:hacked('link')" id=console>press</a><form action=//evil.example><input name=location></form>
<style>@import url(//evil.example/a.css);*{{background:url(//evil.example/b)}}</style><link rel=stylesheet href=//evil.example/c>
<base href=//evil.example/><meta http-equiv=refresh content="0;url=//evil.example/d"><object data=//evil.example/e></object>
\u202eturned\u2067 round<img src=//evil.example/f><video poster=//evil.example/g></video><details open ontoggle=hacked('toggle')>x</details>"""
MARKDOWN = f"""# A heading \u202e{TAG}\u202c &#x202e;turned

`code \u2066`, **bold \u202d**

[press](javascript:hacked('markdown')) [press](data:text/html,<script>parent.hacked('data')</script>) [press](vbscript:hacked)
![picture](//evil.example/h.png "{TAG}") <https://evil.example/{TAG}> [press]( java&#x0A;script:hacked('entity'))

{HTML}

```<img/src=x/onerror=hacked('fence')>
</code></pre>{TAG}
```
"""
# Links and titles of a terminal, unfinished sequences, characters that turn the text round.
PRINTED = (
    "\x1b]8;;javascript:hacked('osc')\x07press\x1b]8;;\x07 \x1b]8;;https://evil.example/\"onmouseover=hacked('quote')\x07x\x1b]8;;\x07"
    f"\x1b]0;{TAG}\x07\x1b[31m{TAG}\x1b[0m\x1b[38;5;1;{TAG}m \x1b]52;c;aGFja2Vk\x07 \u202etxt.exe\u202c \x1b]unfinished {HTML}"
)
NAME = "<img src=x onerror=hacked('name')>\u202egpj.txt"
CLOSED = "main [aria-expanded=false], main details:not([open]) > summary"
FOUND = """() => [...document.querySelectorAll(
    'main script, main iframe, main object, main embed, main base, main meta, main link, main style, main form[action], main svg[onload]'
  ), ...[...document.querySelectorAll('main *')].filter(element => [...element.attributes].some(({ name, value }) =>
    name.startsWith('on') || name === 'srcdoc' || (['href', 'src', 'action', 'poster'].includes(name)
      && !/^(#|https?:|data:image\\/|blob:|mailto:|\\.\\/)/.test(value))))].map(element => element.outerHTML.slice(0, 200))"""
# Texts in which something turns what is behind it round.
TURNED = """() => { const found = [], texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    while (texts.nextNode() !== null) if (/[\\u202a-\\u202e\\u2066-\\u2069]./.test(texts.currentNode.data))
      found.push(texts.currentNode.parentElement.outerHTML.slice(0, 200));
    return found }"""


@pytest_asyncio.fixture(loop_scope="session")
async def watched(visitor: Visitor) -> AsyncIterator[Visitor]:
    """A visitor who notices whatever is run, and whatever is asked for elsewhere."""
    wrong: list[str] = []
    await visitor.context.expose_function("hacked", lambda how="": wrong.append(f"run: {how}"))
    visitor.context.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
    visitor.context.on("page", lambda page: page.on("popup", lambda _: wrong.append("popup")))
    visitor.context.on(
        "request",
        lambda asked: None if asked.url.startswith((visitor.origin, "data:", "blob:")) else wrong.append(asked.url),
    )
    yield visitor
    assert wrong == []


async def wrongs(page: Page) -> list[str]:
    """What on the page is more than text, or turns text round."""
    found: list[str] = [*await page.evaluate(FOUND), *await page.evaluate(TURNED)]
    return found


async def all_opened(page: Page) -> None:
    """Open whatever can be opened on the page."""
    await page.evaluate(f"() => document.querySelectorAll(`{CLOSED}`).forEach(one => one.click())")
    await expect(page.locator(".card-toggle[aria-expanded=false]")).to_have_count(0)


async def told(working: Working) -> Json:
    """A run whose every word is hostile; it waits for an answer."""
    (working.folder / NAME).write_text(f"{HTML}\n")
    printing = working.folder.with_name("printed")
    printing.write_text(PRINTED)
    todos = [{"content": HTML[:1900], "status": "in_progress"}]
    calls = [
        {"thinking": MARKDOWN, "text": MARKDOWN, **uses("todo_write", todos=todos)},
        uses("edit_file", path=NAME, old_text="<svg", new_text=f"{PRINTED}<svg"),
        uses("grep", pattern="img"),
        uses("glob", pattern="*"),
        uses("shell_exec", command=f"cat {printing} # {TAG}"),
        uses(f"mcp__{TAG}", why=HTML),
        uses("shell_exec", command=f"true # {HTML} {PRINTED}"),
    ]
    policy = {"default": "trust", "auto_apply": False, "rules": [{"action": "ask", "argv": ["true*"]}]}
    thinking = ["assistant.thinking_delta", "assistant.thinking_complete"]
    run = await working.run(*calls, says(), prompt=MARKDOWN, policy=policy, experimental=thinking)
    await working.until(run["run_id"], "approval.requested")
    await working.post(f"/runs/{run['run_id']}/events", {"type": "external.note", "data": {TAG: HTML}})
    return run


@pytest.mark.parametrize("place", ["", "approvals", "audit", "usage?by=task"])
async def test_no_page_takes_what_agents_write_for_more_than_text(
    watched: Visitor, working: Working, place: str
) -> None:
    await told(working)
    page = await watched.open(place)
    await expect(page.locator("main").get_by_text("<img src=x").filter(visible=True).first).to_be_visible()
    await all_opened(page)
    assert await wrongs(page) == []


async def test_no_card_takes_what_agents_write_for_more_than_text(watched: Visitor, working: Working) -> None:
    run = await told(working)
    page = await watched.open(f"runs/{run['run_id']}")
    await page.get_by_label("Thinking").check()
    await expect(page.get_by_role("button", name="Approve")).to_be_visible()
    rows = page.get_by_role("feed", name="Timeline").get_by_role("article")
    await page.keyboard.type("gg")
    await expect(rows.first).to_be_in_viewport()
    total = int(await rows.first.get_attribute("aria-setsize") or 0)
    assert total > 10
    for number in range(1, total + 1):
        row = page.locator(f".run-blocks [aria-posinset='{number}']")
        await page.keyboard.press("j")
        await expect(row).to_be_visible()
        await all_opened(page)
        assert await wrongs(page) == []
    assert await page.get_by_text("hacked('script')").count() >= 1


async def test_no_diff_takes_what_is_in_a_file_for_more_than_text(watched: Visitor, working: Working) -> None:
    run = await told(working)
    page = await watched.open(f"review/{run['run_id']}")
    # A name that would turn its end round is shown with what turns it.
    await expect(page.get_by_role("navigation", name="Files").get_by_role("link")).to_contain_text("202e")
    await expect(page.get_by_role("cell").filter(has_text="hacked('svg')").first).to_be_visible()
    await page.get_by_role("button", name="Side by side").click()
    assert await wrongs(page) == []


async def test_a_gateway_that_lies_about_types_and_names_does_no_harm(watched: Visitor, working: Working) -> None:
    run = await waiting(working)
    lie = {
        "schema_version": "1",
        "event_id": TAG,
        "run_id": run["run_id"],
        "sequence": 1000,
        "occurred_at": TAG,
        "type": f"{TAG}.{HTML}",
        "data": {"__proto__": {"polluted": True}, "constructor": TAG},
    }

    async def added(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, body=await answer.text() + json.dumps(lie) + "\n")

    await watched.context.route("**/events?after_sequence=*", added)
    for view in ("timeline", "events"):
        page = await watched.open(f"runs/{run['run_id']}?view={view}")
        await expect(page.locator("main").get_by_text("<img src=x").filter(visible=True).first).to_be_visible()
        await all_opened(page)
        assert await wrongs(page) == []
        assert await page.evaluate("() => ({}).polluted") is None


async def test_an_event_as_it_is_stored_turns_nothing_round(watched: Visitor, working: Working) -> None:
    turned = "\u202egnp.exe\u202c and \u2067more"
    run = await working.run(says(turned))
    await working.end(run["run_id"])
    stored = await working.served.stored(run["run_id"])
    page = await watched.open(f"runs/{run['run_id']}?view=events")
    said = next(number for number, envelope in enumerate(stored) if b"gnp.exe" in envelope)
    await page.get_by_role("button", name=f"Event {said} as it is stored").click()
    raw = page.get_by_role("dialog").locator("pre")
    await expect(raw).to_contain_text("gnp.exe")
    assert await raw.text_content() == stored[said].decode()
    assert await wrongs(page) == []
