"""Fan-out, paced: 1,000 subscribers, 100 events a second, each durable; how long from append to received.

The moment of the append (CLOCK_MONOTONIC, taken just before it) travels in the payload; the client compares it with the
moment its read returned, on every tenth connection. Limit: the bare hub, which stores nothing, and one commit of raw
SQLite measured beside it. Rival: a queue per subscriber, which stores nothing either.
"""

import statistics

from bench import ours
from bench.context import Context
from bench.figures import Check, Row, check_value, figure, say
from bench.load.subscribers import Received
from bench.paths.fanout import Crowd, contenders, hear, hear_ours
from bench.processes import in_fresh_process
from bench.rivals import sqlite_raw
from bench.rivals.sqlite_raw import Settings

_RATE = 100.0


def measure(context: Context) -> list[Row]:
    """Rows for p50 and p99."""
    crowd = Crowd(context.pick(1_000, 200), context.pick(1_000, 200), rate=_RATE, sample_every=10)
    delays: dict[str, list[Received]] = {"ours": [], "limit": [], "rival": []}
    with context.scratch() as scratch, contenders(context) as (mine, hub, queues):
        settings = in_fresh_process(ours.settings, scratch / "settings") if context.measure_ours else Settings()
        commits_ms: list[float] = []
        for repetition in range(context.repetitions):
            if mine is not None:
                delays["ours"].append(hear_ours(context, mine, crowd))
            delays["limit"].append(hear(context, hub, crowd))
            commit = in_fresh_process(sqlite_raw.commit_seconds, scratch / f"{repetition}.db", settings, 200)
            commits_ms.append(statistics.median(commit) * 1000)
            delays["rival"].append(hear(context, queues, crowd))
            say(
                f"  paced {repetition + 1}/{context.repetitions}: "
                + ", ".join(_p99(side, got) for side, got in delays.items())
            )
    commit_ms = statistics.median(commits_ms)
    return [_row(crowd, delays, percentile, commit_ms) for percentile in (50, 99)]


def _row(crowd: Crowd, delays: dict[str, list[Received]], percentile: int, commit_ms: float) -> Row:
    sides = {side: [_percentile(one.delays_ms, percentile) for one in got] for side, got in delays.items()}
    mine = figure("gateway, durable", sides["ours"])
    limit = figure("bare uvloop hub", sides["limit"])
    rival = figure("queue per subscriber", sides["rival"])
    checks: tuple[Check, ...] = ()
    if percentile == 99 and limit is not None:
        allowed = 2 * limit.median + commit_ms
        checks = (check_value("2 x hub p99 + one commit", mine.median if mine else None, "<=", allowed, "ms"),)
    workload = f"p{percentile}, {crowd.subscribers:,} subscribers x {crowd.rate:.0f} events/s"
    notes: tuple[str, ...] = ()
    if percentile == 99:
        took = ", ".join(f"{side} {got[-1].seconds:.1f} s" for side, got in delays.items() if got)
        notes = (
            f"one commit of raw SQLite: {commit_ms:.2f} ms",
            f"{crowd.events / crowd.rate:.0f} s of events took {took} until the last was received",
        )
    return Row("fan-out, paced", workload, "ms", mine, limit, rival, checks, notes)


def _percentile(delays_ms: list[float], percentile: int) -> float:
    return sorted(delays_ms)[len(delays_ms) * percentile // 100]


def _p99(side: str, got: list[Received]) -> str:
    return f"{side} p99 {_percentile(got[-1].delays_ms, 99):.1f} ms" if got else f"{side} -"
