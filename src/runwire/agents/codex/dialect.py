"""Codex, whichever of its streams it is: the command's or the server's."""

from runwire.agents.choosing import Choosing, is_rpc
from runwire.agents.codex.app_server import AppServerDialect
from runwire.agents.codex.exec import ExecDialect
from runwire.agents.dialect import Dialect, Telling


def codex(telling: Telling) -> Dialect:
    """A dialect that finds out from the first frame which one it is."""
    return Choosing(telling, [(is_rpc, AppServerDialect)], otherwise=ExecDialect)
