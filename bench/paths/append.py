"""Durable append: producers that each wait until their event would survive power loss.

Limit: SQLite alone, `executemany` at our mean batch size and settings. Rival: a row per event, clustered by (run,
sequence), under the same producers and the same typed payloads; it encodes and numbers them, while ours also redacts,
chains and folds. Each sample has a new store and a new process.
"""

import time
from pathlib import Path

import uvloop

from bench import ours
from bench.context import Context
from bench.corpus import drafts, identifier_list
from bench.figures import Check, Row, check_ratio, figure, interleave
from bench.load.producers import Appended, Pace, Rate, Shape, drive, drive_bursts
from bench.processes import in_fresh_process
from bench.rivals import sqlite_raw
from bench.rivals.row_log import RowLog
from bench.rivals.sqlite_raw import Settings

SHAPES = (Shape(64), Shape(1), Shape(8), Shape(512), Shape(64, burst=100))


def measure(context: Context) -> list[Row]:
    """One row per number of producers."""
    return [_row(context, shape) for shape in SHAPES]


def _row(context: Context, shape: Shape) -> Row:
    with context.scratch() as scratch:
        settings = in_fresh_process(ours.settings, scratch / "settings") if context.measure_ours else Settings()
        batches: list[float] = []
        count = 0

        def place() -> Path:
            nonlocal count
            count += 1
            return scratch / str(count)

        def our_rate() -> float:
            found = in_fresh_process(ours.append_rate, place(), shape, context.seconds)
            batches.append(found.mean_batch)
            return found.per_second

        def rival_rate() -> float:
            found = in_fresh_process(rival_append_rate, place(), settings, shape, context.seconds)
            if not context.measure_ours:
                batches.append(found.mean_batch)
            return found.per_second

        def limit_rate() -> float:
            batch = max(1, round(batches[-1]))
            return in_fresh_process(raw_rate, place(), settings, batch, context.seconds)

        sides = {"ours": our_rate, "limit": limit_rate, "rival": rival_rate}
        if not context.measure_ours:
            sides = {"rival": rival_rate, "limit": limit_rate}
        samples = interleave(context.repetitions, sides, _name(shape))
    mean = sum(batches) / len(batches)
    mine = figure("durable", samples.get("ours", ()))
    limit = figure(f"raw executemany, {mean:.0f} a commit", samples["limit"])
    rival = figure("row per event", samples["rival"])
    lone = shape.producers == 1
    checks: tuple[Check, ...] = (check_ratio("raw SQLite", mine, limit, ">=", 0.6 if lone else 0.45),)
    if not lone:
        checks += (check_ratio("row per event", mine, rival, ">=", 2.0),)
    return Row("durable append", _name(shape), "events/s", mine, limit, rival, checks)


def raw_rate(directory: Path, settings: Settings, batch: int, seconds: float) -> float:
    """The limit, in a new database."""
    directory.mkdir(parents=True)
    return sqlite_raw.batches_per_second(directory / "raw.db", settings, batch, seconds)


def rival_append_rate(directory: Path, settings: Settings, shape: Shape, seconds: float) -> Appended:
    """The rival under the same load, in a new database or one that was filled before."""
    directory.mkdir(parents=True, exist_ok=True)
    return uvloop.run(_rival_append_rate(directory / "rows.db", settings, shape, seconds))


async def _rival_append_rate(file: Path, settings: Settings, shape: Shape, seconds: float) -> Appended:
    events = ours.payloads(drafts(4096))
    runs = shape.runs_of_each(identifier_list("run", max(shape.runs, shape.producers), seed=time.time_ns()))
    async with RowLog(file, settings) as log:

        async def load(duration: float) -> Rate:
            pace = Pace(runs, events, duration)
            if shape.burst == 1:
                return await drive(log.append, pace)
            return await drive_bursts(log.append_all, pace, shape.burst)

        await load(min(0.3, seconds))
        before = log.commits
        rate = await load(seconds)
        return Appended(rate.per_second, rate.events / (log.commits - before))


def _name(shape: Shape) -> str:
    flight = f", {shape.burst} in flight each" if shape.burst > 1 else ""
    return f"{shape.producers} producer{'s' if shape.producers > 1 else ''}{flight}"
