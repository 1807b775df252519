"""Which of several forms a caller would like best."""

from collections.abc import Iterator, Sequence


def preferred(accept: str | None, forms: Sequence[str], otherwise: str) -> str:
    """The form that an Accept header rates highest; of equals, the one it names first. Wildcards mean `otherwise`."""
    best, best_quality = otherwise, 0.0
    for form, quality in _rated(accept or ""):
        if form in forms and quality > best_quality:
            best, best_quality = form, quality
        elif form in {"*/*", _family(otherwise)} and quality > best_quality:
            best, best_quality = otherwise, quality
    return best


def _rated(accept: str) -> Iterator[tuple[str, float]]:
    for part in accept.split(","):
        form, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                quality = _number(value)
        yield form, quality


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if 0.0 <= number <= 1.0 else 0.0


def _family(form: str) -> str:
    return form.partition("/")[0] + "/*"
