from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.clock import SystemClock, parse_rfc3339, rfc3339
from runwire.testing.clock import START_NS, ManualClock

YEAR_1 = parse_rfc3339("0001-01-01T00:00:00Z")
YEAR_9999 = parse_rfc3339("9999-12-31T23:59:59.999999999Z")


def test_the_clock_stands_still_when_the_machines_clock_is_set_back() -> None:
    wall = ManualClock()
    clock = SystemClock(wall_ns=wall.now_ns)
    before = clock.now_ns()
    wall.advance(-3600)
    assert clock.now_ns() == before
    wall.advance(3600.5)
    assert clock.now_ns() == before + 500_000_000


def test_the_system_clock_tells_utc() -> None:
    now = SystemClock().now_ns()
    assert abs(now / 1e9 - datetime.now(UTC).timestamp()) < 5


def test_a_moment_is_written_with_nine_digits_and_z() -> None:
    assert rfc3339(START_NS) == "2026-05-03T09:23:45.123456789Z"
    assert rfc3339(1_777_800_225_000_000_007) == "2026-05-03T09:23:45.000000007Z"
    assert rfc3339(0) == "1970-01-01T00:00:00.000000000Z"
    assert rfc3339(-1) == "1969-12-31T23:59:59.999999999Z"


@given(st.integers(YEAR_1, YEAR_9999))
def test_what_is_written_is_read_back(ns: int) -> None:
    text = rfc3339(ns)
    assert len(text) == 30
    assert parse_rfc3339(text) == ns


@given(st.lists(st.integers(YEAR_1, YEAR_9999), min_size=2))
def test_written_moments_sort_as_the_moments_do(moments: list[int]) -> None:
    assert [rfc3339(ns) for ns in sorted(moments)] == sorted(rfc3339(ns) for ns in moments)


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001 - hypothesis wants naive bounds
def test_reading_agrees_with_the_standard_library(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    whole = int(aware.replace(microsecond=0).timestamp())
    assert parse_rfc3339(aware.isoformat()) == whole * 1_000_000_000 + aware.microsecond * 1000


def test_offsets_and_short_fractions_are_understood() -> None:
    noon = parse_rfc3339("2026-11-15T12:00:00Z")
    assert parse_rfc3339("2026-11-15T13:30:00+01:30") == noon
    assert parse_rfc3339("2026-11-15T10:00:00-02:00") == noon
    assert parse_rfc3339("2026-11-15t12:00:00.25z") == noon + 250_000_000
    assert parse_rfc3339("2026-11-15T11:59:60Z") == noon


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-11-15",
        "2026-11-15T12:00:00",
        "2026-11-15 12:00:00Z",
        "2026-11-15T12:00:00.Z",
        "2026-11-15T12:00:00.1234567890Z",
        "2026-02-30T12:00:00Z",
        "2026-11-15T24:00:00Z",
        "2026-11-15T12:60:00Z",
        "2026-11-15T12:00:61Z",
        "2026-11-15T12:00:00+24:00",
        "2026-11-15T12:00:00+01:60",
        "0000-01-01T00:00:00Z",
        "٢٠٢٦-11-15T12:00:00Z",
        "2026-11-15T12:00:00Z\n",
    ],
)
def test_what_is_no_moment_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message differs by mistake, the type is the promise
        parse_rfc3339(text)
