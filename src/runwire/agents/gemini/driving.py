"""How gemini-cli is driven: `gemini --acp`. With stream-json it takes one prompt a process and asks nobody, so that is only read."""

from collections.abc import Sequence

from runwire.agents.acp.dialect import AcpDialect
from runwire.agents.profile import Profile, Wish


def _arguments(wish: Wish) -> Sequence[str]:
    # Its models are all of one provider.
    model = (wish.model or "").rpartition(":")[2]
    return ("-m", model) if model else ()


PROFILE = Profile(
    name="gemini",
    dialect="acp",
    about="gemini --acp over stdio (ACP)",
    command=("gemini", "--acp"),
    arguments=_arguments,
    speak=AcpDialect,
    install="npm install -g @google/gemini-cli",
    environment=("GEMINI_*", "GOOGLE_*"),
    # It would start itself again otherwise, and wait for somebody to trust a folder that it is confined to anyway.
    set_env={"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    state=("~/.gemini",),
    asks=True,
)
