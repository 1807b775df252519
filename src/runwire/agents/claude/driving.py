"""How Claude Code is driven: one process, prompts as lines, its questions answered over the same pipe."""

from collections.abc import Sequence

from runwire.agents.claude.dialect import ClaudeDialect
from runwire.agents.profile import Profile, Wish


def _arguments(wish: Wish) -> Sequence[str]:
    provider, colon, model = (wish.model or "").partition(":")
    named = model if colon else provider
    return ("--model", named) if named else ()


PROFILE = Profile(
    name="claude",
    dialect="claude",
    about="Claude Code, stream-json over stdio",
    command=(
        "claude",
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--input-format",
        "stream-json",
        "--include-partial-messages",
        "--permission-prompt-tool",
        "stdio",
    ),
    arguments=_arguments,
    speak=ClaudeDialect,
    install="npm install -g @anthropic-ai/claude-code",
    environment=("ANTHROPIC_*", "CLAUDE_*", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"),
    set_env={"DISABLE_AUTOUPDATER": "1"},
    state=("$CLAUDE_CONFIG_DIR", "~/.claude"),
    asks=True,
)
