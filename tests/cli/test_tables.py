"""What tables show to people."""

import pytest

from runwire.cli.tables import dollars


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
