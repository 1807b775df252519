"""How zot is driven: `zot rpc`, one prompt at a time. It asks for nothing; what it may do is what its walls allow."""

from collections.abc import Sequence

from runwire.agents.profile import Profile, Wish
from runwire.agents.zot.dialect import ZotDialect


def _arguments(wish: Wish) -> Sequence[str]:
    provider, colon, model = (wish.model or "").partition(":")
    if not wish.model:
        return ()
    return ("--provider", provider, "--model", model) if colon else ("--model", provider)


PROFILE = Profile(
    name="zot",
    dialect="zot",
    about="zot rpc over stdio",
    command=("zot", "rpc", "--no-ext"),
    arguments=_arguments,
    speak=ZotDialect,
    install="go install github.com/patriceckhart/zot/cmd/zot@latest",
    environment=("ZOT_*", "ZOTCORE_*", "OPENAI_*", "ANTHROPIC_*", "MOONSHOT_*", "KIMI_*", "OLLAMA_*", "DEEPSEEK_*"),
    token_env="ZOTCORE_RPC_TOKEN",
    state=("$ZOT_HOME", "~/.zot", "~/.config/zot"),
)
