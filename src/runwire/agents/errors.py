"""What can go wrong with agents before they say a word."""

from collections.abc import Sequence

from runwire.errors import InvalidContent


class AgentUnknown(InvalidContent):
    """No agent of that name."""

    code = "agent_unknown"
    hint = "GET /hecate/v1/agents lists the agents there are; `[agents.NAME]` in config.toml adds one"

    def __init__(self, agent: str, *, known: Sequence[str] = ()) -> None:
        hint = f"there are {', '.join(known)}; `[agents.NAME]` in config.toml adds one" if known else ""
        super().__init__(f"there is no agent {agent[:64]!r}", hint=hint, details={"agent": agent[:64]})
