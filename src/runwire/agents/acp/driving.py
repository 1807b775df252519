"""How an agent of the ACP registry is driven: whatever its command, over stdio, one session for a run."""

from runwire.agents.acp.dialect import AcpDialect
from runwire.agents.profile import Profile

PROFILE = Profile(
    name="acp",
    dialect="acp",
    about="any agent that speaks the Agent Client Protocol over stdio",
    command=("acp",),
    speak=AcpDialect,
    install='name its program: `command` in `[agents.NAME]` with `dialect = "acp"`',
    asks=True,
)
