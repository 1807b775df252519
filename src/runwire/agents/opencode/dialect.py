"""opencode, whichever of its streams it is: the command's, the server's, or ACP."""

from runwire.agents.choosing import Choosing, is_rpc
from runwire.agents.dialect import Dialect, Telling
from runwire.agents.opencode.run import RunDialect
from runwire.agents.opencode.serve import ServeDialect


def opencode(telling: Telling) -> Dialect:
    """A dialect that finds out from the first frame which one it is."""
    return Choosing(telling, [(is_rpc, _acp), (_is_event, ServeDialect)], otherwise=RunDialect)


def _is_event(frame: dict[str, object]) -> bool:
    return "properties" in frame


def _acp(telling: Telling) -> Dialect:
    # Loaded only when a stream turns out to be it.
    from runwire.agents.acp.dialect import AcpDialect

    return AcpDialect(telling)
