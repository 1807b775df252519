"""What a person wishes for on the command line, as the gateway takes it."""

from pathlib import Path

_SCRIPTED = "scripted:"
_MICROS = 1_000_000


def model_named(model: str) -> str:
    """The model by a name that is the same everywhere: a worker may stand somewhere else, so a file is named from the root."""
    file = model.removeprefix(_SCRIPTED)
    return f"{_SCRIPTED}{Path(file).resolve()}" if model.startswith(_SCRIPTED) else model


def budget_micros_usd(dollars: float) -> int:
    """A budget in the unit that everything is counted in."""
    return round(dollars * _MICROS)
