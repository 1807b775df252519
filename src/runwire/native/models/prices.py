"""What a call of a model costs, from a table that travels with the package. Nothing is ever fetched."""

from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import TYPE_CHECKING

from runwire.native.loop.state import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

_MICROS = Decimal(1_000_000)


def price(provider: str, model: str, usage: Usage) -> int | None:
    """What `usage` cost in micro-dollars, rounded up; None when the table does not know the model."""
    found = _find(provider, model)
    if found is None:
        return None
    from genai_prices import types

    # What caches gave and took is part of the input; a server that counts them beside it would have none of it priced.
    counted = types.Usage(
        input_tokens=max(usage.input_tokens, usage.cache_read_tokens + usage.cache_write_tokens),
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    provider_info, model_info = found
    total = model_info.calc_price(counted, provider_info).total_price
    return int((total * _MICROS).to_integral_value(rounding=ROUND_CEILING))


def is_priced(provider: str, model: str) -> bool:
    """Whether the table knows the model."""
    return _find(provider, model) is not None


def window_tokens(provider: str, model: str) -> int | None:
    """How many tokens the model takes in, as far as the table says."""
    found = _find(provider, model)
    return found[1].context_window if found else None


@cache
def _providers() -> "dict[str, Provider]":
    # Imported when first asked: the table takes half a second to load, and a scripted run needs none of it.
    from genai_prices.data_snapshot import get_snapshot

    return {provider.id: provider for provider in get_snapshot().providers}


def _find(provider: str, model: str) -> "tuple[Provider, ModelInfo] | None":
    # By exact id: the table's own guess takes any name with "openai" in it for OpenAI, local servers included.
    known = _providers().get(provider)
    if known is None:
        return None
    info = known.find_model(model, all_providers=list(_providers().values()))
    return (known, info) if info else None
