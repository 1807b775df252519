"""Redaction: the append load with 200 known secrets and every shape, beside the same load with nothing redacted.

The payloads are those of the other rows; one in a hundred holds a known secret and one in a hundred a bearer token. Both
sides are our journal; the one without redaction stands where a rival would.
"""

from bench import ours
from bench.context import Context
from bench.figures import Row, check_ratio, figure, interleave
from bench.load.producers import Shape
from bench.processes import in_fresh_process


def measure(context: Context) -> list[Row]:
    """One row for waiting producers and one for bursts, where redaction is the greater part of the work."""
    if not context.measure_ours:
        return []
    return [
        _row(context, Shape(64), "64 producers"),
        _row(context, Shape(64, burst=100), "64 producers, 100 in flight each"),
    ]


def _row(context: Context, shape: Shape, name: str) -> Row:
    with context.scratch() as scratch:
        directories = (scratch / str(number) for number in range(1_000))

        def rate(redaction: ours.Redaction) -> float:
            return in_fresh_process(ours.append_rate, next(directories), shape, context.seconds, redaction).per_second

        sides = {"ours": lambda: rate("200 secrets"), "rival": lambda: rate("none")}
        samples = interleave(context.repetitions, sides, f"redaction, {name}")
    mine = figure("200 secrets, all shapes", samples["ours"])
    without = figure("without redaction", samples["rival"])
    checks = (check_ratio("without redaction", mine, without, ">=", 0.85),)
    return Row("redaction", name, "events/s", mine, None, without, checks)
