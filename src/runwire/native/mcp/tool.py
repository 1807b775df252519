"""One tool of an MCP server, as a tool like any other."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from runwire.host import Effects
from runwire.native.mcp.results import result_of
from runwire.native.tools.outcome import failed, one_line
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult

NAME_MAX = 64
ABOUT_MAX = 4_096
_ODD = re.compile(r"[^A-Za-z0-9_-]")


class McpFailed(Exception):
    """A server gave no result. The code is what the event says."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


CallServer = Callable[[str, Mapping[str, object]], "Awaitable[CallToolResult]"]
"""(tool on the server, arguments) -> its result; McpFailed when there is none."""


def offered_name(server: str, tool: str) -> str:
    """The name that models know it by: `mcp__<server>__<tool>`, cut so that a hash keeps long ones apart."""
    plain = f"mcp__{_ODD.sub('_', server)}__{_ODD.sub('_', tool)}"
    if len(plain) <= NAME_MAX:
        return plain
    tail = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:8]
    return f"{plain[: NAME_MAX - 9]}_{tail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """Calls one tool of one server."""

    server: str
    tool: str
    name: str
    about: str
    schema: Mapping[str, object]
    timeout_s: float
    call: CallServer
    hosts: tuple[str, ...] = ()
    kind: ClassVar[str] = "mcp"
    # A dict whose shape the server knows; it answers for what it takes.
    Input: ClassVar[type[dict[str, object]]] = dict
    # Whatever a server says about itself is a hint from a stranger, so it never makes a call look more harmless.
    effects: ClassVar[Effects] = frozenset({"executes", "network"})

    def ask(self, given: Mapping[str, object], context: ToolContext) -> AskParts:  # noqa: ARG002 - the signature of every tool
        """Say which tool of which server would be called."""
        return AskParts(
            summary=one_line(f"{self.server}: {self.tool} {dict(given)}"),
            hosts=self.hosts,
            timeout_ms=round(self.timeout_s * 1000),
            mcp_server=self.server,
            mcp_tool=self.tool,
        )

    async def run(self, given: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Call it and keep what it gives."""
        try:
            answer = await self.call(self.tool, given)
        except McpFailed as error:
            if error.code == "timed_out":
                return ToolResult(summary=error.message, output="", outcome="timed_out", limit="wall_clock")
            return failed(error.code, error.message)
        return await result_of(answer, f"{self.server}: {self.tool}", context)
