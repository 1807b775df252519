"""`python -m bench [PATH…] [--quick]`: measure ours, the limit and the rival in one run and write the table.

Paths: append, growth, replay (with disk), fanout, paced, agno, redaction, start, runs, normalise, console; all when none is
named. `--quick` shortens every sample to a look, for development: its figures are no evidence.
"""

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.context import Context
from bench.figures import Row, say
from bench.machine import describe, share_out
from bench.report import Failure, Report, write

HERE = Path(__file__).resolve().parent
PATHS = ("append", "growth", "replay", "fanout", "paced", "agno", "redaction", "start", "runs", "normalise", "console")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen paths; 0 when all were measured (with `--strict`: and every requirement is met)."""
    options = _parser().parse_args(arguments)
    context = Context(
        quick=options.quick,
        repetitions=options.repetitions,
        cache=HERE / ".cache",
        cores=share_out(pin=not options.no_pin),
        measure_ours=not options.limits_only,
    )
    report = _measure(options.paths or PATHS, context)
    print(write(report, options.results), end="")
    missed = [row for row in report.rows if not all(check.met for check in row.checks)]
    return 1 if report.failures or (options.strict and missed) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("paths", nargs="*", choices=[[], *PATHS], metavar="PATH", help=", ".join(PATHS))
    parser.add_argument("--quick", action="store_true", help="short samples, small stores")
    parser.add_argument("--repetitions", type=int, default=3, help="how often each side is measured in turn (3)")
    parser.add_argument("--limits-only", action="store_true", help="measure limits and rivals without ours")
    parser.add_argument("--no-pin", action="store_true", help="let servers and the load client share all cores")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a requirement is missed")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="where the table goes")
    return parser


def _measure(paths: Sequence[str], context: Context) -> Report:
    rows: list[Row] = []
    failures: list[Failure] = []
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    machine = describe(context.cores)
    for path in paths:
        started = time.perf_counter()
        say(f"{path} …")
        measure: Callable[[Context], list[Row]] = importlib.import_module(f"bench.paths.{path}").measure
        try:
            rows += measure(context)
        except Exception as error:  # noqa: BLE001 - one broken path must not take the others' figures with it
            failures.append(Failure(path=path, error=f"{type(error).__name__}: {error}"))
            say(f"{path} failed: {error!r}")
        say(f"{path} took {time.perf_counter() - started:.1f} s")
    return Report(
        started_at=started_at,
        mode="quick" if context.quick else "full",
        repetitions=context.repetitions,
        machine=machine,
        rows=tuple(rows),
        failures=tuple(failures),
    )


if __name__ == "__main__":
    sys.exit(main())
