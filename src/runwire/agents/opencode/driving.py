"""How opencode is driven: `opencode acp`. What it asks about is what its own settings have it ask about."""

import json
from collections.abc import Mapping

from runwire.agents.acp.dialect import AcpDialect
from runwire.agents.profile import Profile, Wish


def _variables(wish: Wish) -> Mapping[str, str]:
    # Its command takes no model; settings in this variable come before those of its files. It names one as provider/model.
    provider, colon, model = (wish.model or "").partition(":")
    if not wish.model:
        return {}
    return {"OPENCODE_CONFIG_CONTENT": json.dumps({"model": f"{provider}/{model}" if colon else provider})}


PROFILE = Profile(
    name="opencode",
    dialect="acp",
    about="opencode acp over stdio (ACP)",
    command=("opencode", "acp"),
    variables=_variables,
    speak=AcpDialect,
    install="npm install -g opencode-ai",
    environment=(
        "OPENCODE_*",
        "XDG_*_HOME",
        "OPENAI_*",
        "ANTHROPIC_*",
        "GEMINI_*",
        "GOOGLE_*",
        "GROQ_*",
        "MISTRAL_*",
        "XAI_*",
        "OPENROUTER_*",
    ),
    set_env={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
    state=(
        "$XDG_DATA_HOME/opencode",
        "$XDG_CONFIG_HOME/opencode",
        "$XDG_CACHE_HOME/opencode",
        "$XDG_STATE_HOME/opencode",
        "~/.local/share/opencode",
        "~/.config/opencode",
        "~/.cache/opencode",
        "~/.local/state/opencode",
    ),
    asks=True,
)
