"""What stands where a secret stood: `[redacted:<kind>]`, the same text for the same secret every time."""

import re

OPENING = "[redacted:"
KIND_MAX = 64

_NOT_A_KIND = re.compile(r"[^a-z0-9_.-]+")


def placeholder(kind: str) -> str:
    """Return the text that replaces a secret of this kind."""
    return f"{OPENING}{kind}]"


def kind_of(*parts: str) -> str:
    """Fold names into a kind of at most 64 of `[a-z0-9_.-]`: ("env", "OPENAI_API_KEY") is `env.openai_api_key`."""
    folded = (_NOT_A_KIND.sub("-", part.lower()).strip("-.") for part in parts)
    return ".".join(part for part in folded if part)[:KIND_MAX] or "secret"


def pieces_clear_of(text: str) -> list[str]:
    """Cut a secret so that no piece of it can overlap a placeholder from the left.

    A placeholder that follows a piece must never complete it: redacting twice would then eat the placeholder.
    At most ten characters that no secret has (`[redacted:` and its beginnings) stay visible.
    """
    return [piece for piece in (_without_opening(part) for part in text.split(OPENING)) if piece]


def _without_opening(text: str) -> str:
    for length in range(len(OPENING) - 1, 0, -1):
        if text.endswith(OPENING[:length]):
            return _without_opening(text[:-length])
    return text
