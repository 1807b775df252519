"""Growth: the same append load on stores that hold history, beside the same load on an empty store.

Every store is filled through the journal, settled and closed; each sample opens it anew and adds its own runs. What the
samples add is little beside the history, but for the smallest, which is made anew for each of them. The empty store is
measured right before every sample of a filled one. The rival keeps a row per event in a store of the same size.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import ours
from bench.context import Context
from bench.corpus import envelopes, identifier_list
from bench.figures import Row, check_ratio, figure, interleave, say
from bench.load.producers import Shape
from bench.paths.append import rival_append_rate
from bench.processes import in_fresh_process
from bench.rivals import row_log
from bench.rivals.sqlite_raw import Settings

_PLAIN = Shape(64)
_SMALL = 20_000


@dataclass(frozen=True, slots=True)
class History:
    """What a store holds before it is measured, and the load it then gets."""

    name: str
    runs: int
    events_per_run: int
    finished: bool = True
    shape: Shape = _PLAIN

    @property
    def small(self) -> bool:
        """Whether the samples themselves would soon outgrow it."""
        return self.runs * self.events_per_run < _SMALL


def measure(context: Context) -> list[Row]:
    """One row per history."""
    many = context.pick(10_000, 1_000)
    histories = [
        History("10 k stored", 64, 156),
        History(*(("20 k stored", 20, 1_000) if context.quick else ("1 M stored", 1_000, 1_000))),
        History(*(("50 k stored", 50, 1_000) if context.quick else ("5 M stored", 5_000, 1_000))),
        History(f"{many:,} runs open", many, 10, finished=False),
        # These runs are begun by the sample itself, which then writes to each of them in turn.
        History(f"{many:,} runs open and all written to", 0, 0, shape=Shape(64, runs=many)),
    ]
    return [_row(context, history) for history in histories]


def _row(context: Context, history: History) -> Row:
    with context.scratch() as scratch:
        settings = in_fresh_process(ours.settings, scratch / "settings") if context.measure_ours else Settings()
        fresh = (scratch / str(number) for number in itertools.count())

        def fill_ours(place: Path) -> None:
            in_fresh_process(ours.fill, place, history.runs, history.events_per_run, history.finished)

        def fill_rival(place: Path) -> None:
            in_fresh_process(_fill_rival, place, settings, history)

        def filled(fill: Callable[[Path], None]) -> Iterator[Path]:
            places = list(itertools.islice(fresh, context.repetitions if history.small else 1))
            for place in places:
                fill(place)
            return itertools.cycle(places)

        def our_rate(place: Path, shape: Shape) -> float:
            return in_fresh_process(ours.append_rate, place, shape, context.seconds).per_second

        def rival_rate(place: Path) -> float:
            found = in_fresh_process(rival_append_rate, place, settings, history.shape, context.seconds)
            return found.per_second

        say(f"  filling: {history.name}")
        rival_stores = filled(fill_rival)
        sides = {"rival": lambda: rival_rate(next(rival_stores))}
        if context.measure_ours:
            our_stores = filled(fill_ours)
            sides |= {
                "empty": lambda: our_rate(next(fresh), _PLAIN),
                "ours": lambda: our_rate(next(our_stores), history.shape),
            }
        samples = interleave(context.repetitions, sides, history.name)
    mine = figure("durable", samples.get("ours", ()))
    empty = figure("our empty store", samples.get("empty", ()))
    rival = figure("row per event", samples["rival"])
    checks = (check_ratio("our empty store", mine, empty, ">=", 0.85),)
    return Row("growth", f"{history.name}, 64 producers", "events/s", mine, empty, rival, checks)


def _fill_rival(directory: Path, settings: Settings, history: History) -> None:
    directory.mkdir(parents=True)
    runs = sorted(identifier_list("run", history.runs, seed=11))
    row_log.fill(directory / "rows.db", settings, _rows(runs, history.events_per_run))


def _rows(runs: list[str], events_per_run: int) -> Iterator[tuple[str, int, bytes]]:
    bodies = itertools.cycle(envelopes(4096))
    return ((run, sequence, next(bodies)) for run in runs for sequence in range(events_per_run))
