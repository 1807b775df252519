"""How Codex is driven: `codex app-server`, one turn at a time. It asks before what is not known to be harmless."""

import json
from collections.abc import Sequence

from runwire.agents.codex.speaking import CodexSpeaker
from runwire.agents.profile import Profile, Wish


def _arguments(wish: Wish) -> Sequence[str]:
    provider, colon, model = (wish.model or "").partition(":")
    if not wish.model:
        return ()
    if not colon:
        return _setting("model", provider)
    return (*_setting("model_provider", provider), *_setting("model", model))


def _setting(name: str, value: str) -> tuple[str, str]:
    # Settings are given as TOML; a string of JSON is one of TOML.
    return "-c", f"{name}={json.dumps(value)}"


PROFILE = Profile(
    name="codex",
    dialect="codex",
    about="codex app-server over stdio",
    command=("codex", "app-server"),
    arguments=_arguments,
    speak=CodexSpeaker,
    install="npm install -g @openai/codex",
    environment=("CODEX_*", "OPENAI_*"),
    state=("$CODEX_HOME", "~/.codex"),
    asks=True,
)
