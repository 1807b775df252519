"""How pi is driven: `pi --mode rpc`, one prompt at a time. It asks only where an extension of its own does."""

from collections.abc import Sequence

from runwire.agents.pi.dialect import PiDialect
from runwire.agents.profile import Profile, Wish


def _arguments(wish: Wish) -> Sequence[str]:
    # pi names a model as provider/model; a provider of ours stands before a colon.
    provider, colon, model = (wish.model or "").partition(":")
    if not wish.model:
        return ()
    return ("--model", f"{provider}/{model}" if colon else provider)


PROFILE = Profile(
    name="pi",
    dialect="pi",
    about="pi --mode rpc over stdio",
    command=("pi", "--mode", "rpc", "--no-session"),
    arguments=_arguments,
    speak=PiDialect,
    install="npm install -g @earendil-works/pi-coding-agent",
    environment=(
        "PI_*",
        "OPENAI_*",
        "ANTHROPIC_*",
        "GEMINI_*",
        "GROQ_*",
        "MISTRAL_*",
        "XAI_*",
        "OPENROUTER_*",
        "ZAI_*",
    ),
    state=("$PI_CODING_AGENT_DIR", "~/.pi"),
)
