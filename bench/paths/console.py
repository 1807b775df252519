"""The console in a real browser: how soon a long run can be used, how busy many live ones keep it, how much it loads.

The gateway is the product's own, with the benchmark's producer beside it. A run counts as opened when its last event is in
sight and a key is answered; the page reads the end of a long run first, so it is said as well when all of it has been
read, and can be searched and replayed. Both begin with the navigation, right after the events were appended. Busy is the share of the time in which the page's main thread had something to do, as the
browser itself counts it. A browser takes more than one core, so the client's core is not kept apart here.
"""

import asyncio
import time

from playwright.async_api import CDPSession, expect

from bench import ours_server
from bench.context import Context
from bench.figures import Row, check_value, figure, say
from bench.processes import Server
from runwire.gateway.services import BUILT
from tests.console.browsing import Visitor, chromium

# Asked by the page itself at every frame: a driver that asks from outside does so ever more rarely, once a second in the end.
_OPENED = """events => {
  const last = document.querySelector("[role=article]:last-child")?.getBoundingClientRect();
  return last !== undefined && last.height > 0 && last.bottom <= innerHeight
    && [...document.querySelectorAll("output, span")].some(each => each.textContent === `Event ${events} of ${events}`);
}"""
_ANSWERED = "() => document.querySelector('dialog[open]') !== null"
_READ = """() => document.querySelector("input[type=range]:enabled") !== null"""
_LIVE_RUNS = 50
_RATE = 20.0


def measure(context: Context) -> list[Row]:
    """Rows for opening and reading a long run, for many live ones, and for the scripts that are loaded first."""
    if not context.measure_ours:
        return []
    opening: list[float] = []
    reading: list[float] = []
    busy: list[float] = []
    for repetition in range(context.repetitions):
        with context.scratch() as scratch, ours_server.running(context, scratch) as server:
            opened, read = asyncio.run(_opening(server, context.pick(100_000, 20_000)))
            opening.append(opened)
            reading.append(read)
            busy.append(asyncio.run(_watching(server, context.pick(10, 3))))
        told = f"opened {opening[-1]:.2f} s, all read {reading[-1]:.2f} s, {busy[-1]:.0f} % busy"
        say(f"  console {repetition + 1}/{context.repetitions}: {told}")
    return [_opened(context, opening), _read(context, reading), _watched(busy), _loaded()]


def _opened(context: Context, seconds: list[float]) -> Row:
    mine = figure("last event in sight, a key answered", seconds)
    events = f"{context.pick(100_000, 20_000):,}"
    check = check_value("seconds", mine.median if mine else None, "<=", 3.0, "s")
    return Row("console", f"a run of {events} events opened", "s", mine, checks=(check,))


def _read(context: Context, seconds: list[float]) -> Row:
    events = f"{context.pick(100_000, 20_000):,}"
    return Row("console", f"all of these {events} events read", "s", figure("search and replay", seconds))


def _watched(shares: list[float]) -> Row:
    mine = figure("main thread busy", shares)
    check = check_value("busy", mine.median if mine else None, "<=", 60.0, "%")
    return Row("console", f"{_LIVE_RUNS} live runs, {_RATE:.0f} events/s each", "%", mine, checks=(check,))


def _loaded() -> Row:
    """Everything there is, though no page loads all of it."""
    size = sum(path.stat().st_size for path in BUILT.glob("assets/*.js.gz")) / 1000
    return Row(
        "console",
        "scripts of all pages, gzip",
        "KB",
        figure("bytes", [size]),
        checks=(check_value("bytes", size, "<=", 250.0, "KB"),),
    )


async def _opening(server: Server, events: int) -> tuple[float, float]:
    """The seconds until a long run can be used, and until all of it has been read."""
    run_id = ours_server.new_run(server)
    ours_server.grow(server, run_id, events)
    async with chromium() as browser:
        visitor = Visitor(await browser.new_context(), f"http://127.0.0.1:{server.port}", ours_server.TOKEN)
        await (await visitor.open()).close()
        page = await visitor.context.new_page()
        started = time.perf_counter()
        await page.goto(f"{visitor.origin}/#/runs/{run_id}")
        await page.wait_for_function(_OPENED, arg=events, polling="raf")
        await page.keyboard.press("?")
        await page.wait_for_function(_ANSWERED, polling="raf")
        opened = time.perf_counter() - started
        await page.wait_for_function(_READ, polling="raf")
        return opened, time.perf_counter() - started


async def _watching(server: Server, seconds: int) -> float:
    async with chromium() as browser:
        visitor = Visitor(await browser.new_context(), f"http://127.0.0.1:{server.port}", ours_server.TOKEN)
        page = await visitor.open()
        for _ in range(_LIVE_RUNS):
            run_id = ours_server.new_run(server)
            ours_server.produce(server, run_id, round(_RATE * (seconds + 10)), _RATE)
        await expect(page.get_by_role("listitem")).to_have_count(_LIVE_RUNS + 1)
        session = await visitor.context.new_cdp_session(page)
        await session.send("Performance.enable")
        before, began = await _worked(session), time.perf_counter()
        await asyncio.sleep(seconds)
        return 100 * (await _worked(session) - before) / (time.perf_counter() - began)


async def _worked(session: CDPSession) -> float:
    """How many seconds the main thread has worked since somebody began to count."""
    metrics = {one["name"]: one["value"] for one in (await session.send("Performance.getMetrics"))["metrics"]}
    return float(metrics["TaskDuration"])
