"""What tables show to people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.cli import printing
from runwire.cli.look import Id, Look, Moment, State, ago, shortened
from runwire.cli.tables import write_table
from runwire.client.render.cells import cells
from runwire.client.render.money import dollars
from runwire.ids import ALPHABET


@pytest.mark.parametrize(
    ("micros", "shown"),
    [
        (0, "$0.00"),
        (5, "$0.000005"),
        (1_200, "$0.0012"),
        (500_000, "$0.50"),
        (999_999, "$0.999999"),
        (1_000_000, "$1.00"),
        (12_345_678, "$12.35"),
    ],
)
def test_money_is_exact_below_a_dollar_and_short_above(micros: int, shown: str) -> None:
    assert dollars(micros) == shown


_NOW_NS = 1_800_000_000 * 10**9
_TERMINAL = Look(terminal=True, width=60, now_ns=_NOW_NS)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s ago"), (59, "59s ago"), (60, "1m ago"), (7_199, "1h ago"), (86_400 * 3, "3d ago"), (-7_200, "in 2h")],
)
def test_a_moment_is_told_by_its_distance(seconds: int, shown: str) -> None:
    assert ago(_NOW_NS - seconds * 10**9, _NOW_NS) == shown


def test_a_moment_far_away_is_told_by_its_day() -> None:
    assert ago(_NOW_NS - 86_400 * 40 * 10**9, _NOW_NS) == "2026-12-06"


def test_ids_keep_what_tells_them_apart_and_foreign_ones_stay_whole() -> None:
    one, twin = "run_01K9ZZZZZZAAAAAAAAAAAAAAA1", "run_01K9ZZZZZZAAAAAAAAAAAAAAA2"
    later = "run_01K9ZZZZZYBBBBBBBBBBBBBBBB"
    assert shortened([one, twin, later, "night-7"]) == [one, twin, "run_01K9ZZZZZYBB", "night-7"]
    assert shortened([one, one]) == ["run_01K9ZZZZZZAA"] * 2


@given(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=8))
def test_no_short_id_begins_another_that_is_shown_beside_it(numbers: list[int]) -> None:
    ids = [f"run_{_ulid(number)}" for number in numbers]
    for whole, short in zip(ids, shortened(ids), strict=True):
        assert {each for each in ids if each.startswith(short)} == {whole}


def test_a_row_fits_its_line_and_only_texts_are_cut(capfd: pytest.CaptureFixture[str]) -> None:
    row = (Id("run_01K9ZZZZZZAAAAAAAAAAAAAAA1"), "long " * 30, State("completed"), Moment("2027-01-15T07:59:00Z"))
    write_table(("RUN", "WHAT", "STATUS", "WHEN"), [row], look=_TERMINAL)
    printing.flush()
    _, line = capfd.readouterr().out.splitlines()
    assert cells(line) <= 60
    assert line.split()[0] == "run_01K9ZZZZZZAA"
    assert "…" in line
    assert line.endswith("completed  1m ago")


def test_a_program_reads_whole_ids_and_absolute_times(capfd: pytest.CaptureFixture[str]) -> None:
    row = (Id("run_01K9ZZZZZZAAAAAAAAAAAAAAA1"), "long " * 30 + "end", Moment("2027-01-15T07:59:00.5Z"))
    write_table(("RUN", "WHAT", "WHEN"), [row])
    printing.flush()
    _, line = capfd.readouterr().out.splitlines()
    assert line.split()[0] == "run_01K9ZZZZZZAAAAAAAAAAAAAAA1"
    assert line.endswith("long end  2027-01-15T07:59:00Z")


def _ulid(number: int) -> str:
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
