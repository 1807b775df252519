"""Money is counted from the table that comes with the package, caches included, and rounded up."""

import pytest

from runwire.native.loop.state import Usage
from runwire.native.models.prices import is_priced, price, window_tokens


@pytest.mark.parametrize(
    ("provider", "model", "usage", "micros"),
    [
        ("anthropic", "claude-sonnet-4-5", Usage(input_tokens=1000, output_tokens=10), 3000 + 150),
        # 400 plain at 3 $, 500 read at 0.30 $, 100 written at 3.75 $, per million
        (
            "anthropic",
            "claude-sonnet-4-5-20250929",
            Usage(input_tokens=1000, output_tokens=10, cache_read_tokens=500, cache_write_tokens=100),
            1200 + 150 + 375 + 150,
        ),
        ("openai", "gpt-5", Usage(input_tokens=1000, output_tokens=10, cache_read_tokens=500), 788),
        ("openai", "gpt-5", Usage(input_tokens=1), 2),
        ("openai", "gpt-5", Usage(), 0),
        # counted beside the input by a server that does not know better
        ("openai", "gpt-5", Usage(input_tokens=0, cache_read_tokens=1000), 125),
    ],
)
def test_a_call_costs_what_the_table_says(provider: str, model: str, usage: Usage, micros: int) -> None:
    assert price(provider, model, usage) == micros


def test_what_nobody_knows_has_no_price() -> None:
    for provider, model in [("openai", "no-such-model"), ("my-openai-proxy", "gpt-5"), ("", ""), ("openai", "")]:
        assert price(provider, model, Usage(input_tokens=1)) is None
        assert not is_priced(provider, model)
        assert window_tokens(provider, model) is None
