"""Producers: asyncio tasks that append as fast as durability lets them. The same loop drives ours and every rival."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class Shape:
    """A load: how many producers, how many events each has in flight, how many runs they write to."""

    producers: int
    burst: int = 1
    runs: int = 0

    def runs_of_each(self, runs: Sequence[str]) -> list[list[str]]:
        """Every producer's own runs."""
        return [list(runs[index :: self.producers]) for index in range(self.producers)]


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append measurement found."""

    per_second: float
    mean_batch: float


@dataclass(frozen=True, slots=True)
class Pace(Generic[Event]):
    """Who appends what: one producer per entry of `runs`, each going round its own runs and the shared events."""

    runs: Sequence[Sequence[str]]
    events: Sequence[Event]
    seconds: float


@dataclass(frozen=True, slots=True)
class Rate:
    """How many events became durable, and in how long."""

    events: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Events a second."""
        return self.events / self.seconds


async def drive(append: Callable[[str, Event], Awaitable[object]], pace: Pace[Event]) -> Rate:
    """Every producer appends one event, waits until it is durable, and goes on until the time is up."""

    async def produce(offset: int, runs: Sequence[str]) -> int:
        events, count, clock = pace.events, 0, time.perf_counter
        size, width = len(events), len(runs)
        while clock() < deadline:
            await append(runs[count % width], events[(offset + count) % size])
            count += 1
        return count

    _freeze()
    started = time.perf_counter()
    deadline = started + pace.seconds
    counts = await asyncio.gather(*(produce(index * 131, runs) for index, runs in enumerate(pace.runs)))
    return Rate(events=sum(counts), seconds=time.perf_counter() - started)


async def drive_bursts(
    append_all: Callable[[str, Sequence[Event]], Awaitable[object]], pace: Pace[Event], burst: int
) -> Rate:
    """The same with `burst` events in flight per producer: all are handed over, then all awaited."""

    async def produce(offset: int, runs: Sequence[str]) -> int:
        bursts = [pace.events[start : start + burst] for start in range(0, len(pace.events) - burst + 1, burst)]
        count = 0
        while time.perf_counter() < deadline:
            await append_all(runs[count % len(runs)], bursts[(offset + count) % len(bursts)])
            count += 1
        return count * burst

    _freeze()
    started = time.perf_counter()
    deadline = started + pace.seconds
    counts = await asyncio.gather(*(produce(index * 7, runs) for index, runs in enumerate(pace.runs)))
    return Rate(events=sum(counts), seconds=time.perf_counter() - started)


def _freeze() -> None:
    """Keep what was there before out of the collector's rounds, as our gateway does; every side gets this."""
    gc.collect()
    gc.freeze()
