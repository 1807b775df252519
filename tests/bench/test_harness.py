"""The harness itself: it interleaves, compares, and writes down what it found. No figure is judged here."""

from pathlib import Path

import msgspec

from bench.corpus import ENVELOPE_BYTES, drafts, envelopes, leaking, secrets
from bench.figures import Row, check_ratio, check_value, figure, interleave
from bench.report import Failure, Report, quantity, write


def test_sides_are_measured_in_turn() -> None:
    order: list[str] = []

    def side(name: str) -> float:
        order.append(name)
        return float(len(order))

    samples = interleave(2, {"ours": lambda: side("ours"), "limit": lambda: side("limit")})

    assert order == ["ours", "limit", "ours", "limit"]
    assert samples == {"ours": [1.0, 3.0], "limit": [2.0, 4.0]}


def test_a_ratio_is_of_medians_and_an_unmeasured_side_is_not_met() -> None:
    ours, limit = figure("ours", [10.0, 90.0, 30.0]), figure("limit", [60.0, 50.0, 70.0])

    met = check_ratio("limit", ours, limit, ">=", 0.5)
    missed = check_ratio("limit", ours, limit, ">=", 0.6)

    assert (met.reached, met.met, missed.met) == (0.5, True, False)
    assert not check_ratio("limit", None, limit, ">=", 0.5).met
    assert check_value("memory", 12.0, "<=", 50.0, "MB").met


def test_the_report_is_written_for_people_and_for_machines(tmp_path: Path) -> None:
    ours, limit = figure("durable", [50_000.0]), figure("raw", [100_000.0])
    row = Row(
        "durable append", "64 producers", "events/s", ours, limit, None, (check_ratio("raw", ours, limit, ">=", 0.6),)
    )
    report = Report("now", "quick", 1, {"cores": "2"}, (row,), (Failure("agno", "no network"),))

    text = write(report, tmp_path)

    assert "| durable append | 64 producers | 50 k events/s (durable) | 100 k events/s (raw) | - |" in text
    assert "0.5 x (≥ 0.6 x) raw | **no** |" in text
    assert "agno was not measured" in text
    assert msgspec.json.decode((tmp_path / "latest.json").read_bytes(), type=Report) == report


def test_numbers_are_short_enough_to_read() -> None:
    assert [quantity(value) for value in (0.4567, 12.0, 2_500.0, 45_000.0, 4_100_000.0)] == [
        "0.457",
        "12",
        "2,500",
        "45 k",
        "4.1 M",
    ]


def test_envelopes_have_the_size_the_figures_speak_of() -> None:
    mean = sum(map(len, envelopes(5_000))) / 5_000

    assert abs(mean - ENVELOPE_BYTES) < 8


def test_one_payload_in_fifty_leaks() -> None:
    clean, known = drafts(1_000), secrets()

    spoilt = leaking(clean, known)

    leaks = [draft for draft, other in zip(spoilt, clean, strict=True) if draft != other]
    assert len(leaks) == 20
    assert all(b"Bearer" in draft.data or any(secret.encode() in draft.data for secret in known) for draft in leaks)
