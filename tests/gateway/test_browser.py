"""A real browser's EventSource: it reconnects across a restart by itself, misses nothing, and stops when all is said."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.console.browsing import chromium
from tests.gateway.serving import V1, free_port, serving
from tests.patience import PATIENCE_S
from tests.spec import spec

FOLLOW = """path => {
  const source = new EventSource(path);
  source.onmessage = event => tell({ kind: "message", id: event.lastEventId, data: event.data });
  source.addEventListener("synced", event => tell({ kind: "synced", id: event.lastEventId, data: event.data }));
  source.onerror = () => tell({ kind: source.readyState === EventSource.CLOSED ? "closed" : "lost" });
}"""


class Told:
    """What the browser says it was told."""

    def __init__(self) -> None:
        self.facts: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self.messages: list[dict[str, str]] = []

    async def until(self, kind: str) -> dict[str, str]:
        """Listen up to the next fact of a kind."""
        while True:
            async with asyncio.timeout(PATIENCE_S):
                fact = await self.facts.get()
            if fact["kind"] == "message":
                self.messages.append(fact)
            if fact["kind"] == kind:
                return fact

    async def until_id(self, identifier: str) -> None:
        """Listen up to the event with this id."""
        while (await self.until("message"))["id"] != identifier:
            pass


@asynccontextmanager
async def browser(port: int, token: str) -> AsyncGenerator[Told]:
    """A page of the gateway that follows `run_1`."""
    told = Told()
    async with chromium() as opened:
        context = await opened.new_context(extra_http_headers={"authorization": f"Bearer {token}"})
        page = await context.new_page()
        await page.expose_function("tell", told.facts.put_nowait)
        # A page of the gateway itself, so that the stream is of the same origin.
        await page.goto(f"http://127.0.0.1:{port}/healthz")
        await page.evaluate(FOLLOW, f"{V1}/runs/run_1/events?after_sequence=-1")
        yield told


@spec("SSE-2", "SSE-6", "SSE-9", "CUR-2")
async def test_a_browser_reconnects_across_a_restart_and_misses_nothing(tmp_path: Path) -> None:
    data, port, token = tmp_path / "data", free_port(), "a-token-of-my-own"
    async with AsyncExitStack() as stack:
        async with serving(data, port=port, token=token) as gateway:
            await gateway.run()
            await gateway.say("run_1", "before", "Zürich €")
            told = await stack.enter_async_context(browser(port, token))
            synced = await told.until("synced")
            # A frame without an id leaves the browser's cursor where it was.
            assert (synced["id"], json.loads(synced["data"])) == ("3", {"sequence": 3})
            await gateway.say("run_1", "live")
            await told.until_id("4")
        await told.until("lost")
        async with serving(data, port=port, token=token) as gateway:
            await gateway.say("run_1", "perhaps before it is back")
            await told.until_id("5")
            await gateway.say("run_1", "and live again")
            await told.until_id("6")
            await gateway.finish("run_1")
            await told.until("closed")
            stored = await gateway.stored("run_1")
    assert [message["id"] for message in told.messages] == [str(number) for number in range(8)]
    assert [message["data"].encode() for message in told.messages] == stored
