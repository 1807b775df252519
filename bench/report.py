"""Writes what was measured: `latest.json` for machines, `latest.md` for people."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.figures import Check, Figure, Row


class Failure(msgspec.Struct, frozen=True):
    """A path that could not be measured, and why."""

    path: str
    error: str


class Report(msgspec.Struct, frozen=True):
    """One whole run of the benchmark."""

    started_at: str
    mode: str
    repetitions: int
    machine: dict[str, str]
    rows: tuple[Row, ...]
    failures: tuple[Failure, ...]


def write(report: Report, directory: Path) -> str:
    """Write both files into `directory` and return the Markdown."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "latest.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    text = markdown(report)
    (directory / "latest.md").write_text(text)
    return text


def markdown(report: Report) -> str:
    """The report as a table, with the machine above it and the notes below."""
    facts = ", ".join(f"{name} {value}" for name, value in report.machine.items())
    lines = [
        f"Measured {report.started_at}, {report.mode} mode, {report.repetitions} interleaved repetitions, medians.",
        f"Machine: {facts}.",
        "",
        "| path | workload | ours | limit | rival | reached (required) | met |",
        "|---|---|---|---|---|---|---|",
        *(_line(row) for row in report.rows),
    ]
    lines += ["", *(f"**{failure.path} was not measured:** {failure.error}" for failure in report.failures)]
    lines += [f"- {row.path}, {row.workload}: {'; '.join(row.notes)}" for row in report.rows if row.notes]
    return "\n".join(lines).rstrip() + "\n"


def _line(row: Row) -> str:
    cells = [row.path, row.workload, *(_figure(side, row.unit) for side in (row.ours, row.limit, row.rival))]
    return "| " + " | ".join([*cells, "<br>".join(map(_check, row.checks)) or "-", _met(row.checks)]) + " |"


def _figure(side: Figure | None, unit: str) -> str:
    return f"{quantity(side.median)} {unit} ({side.what})" if side else "-"


def _check(check: Check) -> str:
    sense = "≥" if check.sense == ">=" else "≤"
    reached = "not measured" if check.reached is None else f"{quantity(check.reached)} {check.unit}"
    return f"{reached} ({sense} {quantity(check.required)} {check.unit}) {check.against}"


def _met(checks: Sequence[Check]) -> str:
    if not checks:
        return "-"
    return "yes" if all(check.met for check in checks) else "**no**"


def quantity(value: float) -> str:
    """A number with three figures a person can read."""
    for size, suffix in ((1e6, " M"), (1e4, " k")):
        if abs(value) >= size:
            return f"{value / (1e6 if suffix == ' M' else 1e3):.3g}{suffix}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
