"""What the loop asks of a tool. One file in this room is one tool; a server of the Model Context Protocol brings more."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct, field

from runwire.clock import Clock
from runwire.host import Effects, RunHost
from runwire.journal.artifact import Draft
from runwire.protocol.events.web import WebSearchHit
from runwire.workspace.root import Root
from runwire.workspace.sandbox.layer import Sandbox

In = TypeVar("In")


class ToolSettings(Struct, frozen=True, kw_only=True):
    """Caps that a configuration may move."""

    output_limit_bytes: int = 1_048_576
    shell_timeout_s: float = 120.0
    shell_timeout_max_s: float = 3_600.0
    http_timeout_s: float = 30.0
    http_body_limit_bytes: int = 1_048_576
    redirects_max: int = 5


class Fetch(Struct, frozen=True, kw_only=True):
    """A request that is to leave the machine."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    allow_hosts: Sequence[str] = ()
    timeout_s: float
    limit_bytes: int
    redirects_max: int = 5


class Fetched(Struct, frozen=True, kw_only=True):
    """Its answer; `url` is where the last redirect led."""

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes
    truncated: bool
    duration_ms: int


class Fetcher(Protocol):
    """Sends requests to checked and pinned addresses only."""

    async def fetch(self, request: Fetch) -> Fetched:
        """Send it. An address that may not be reached is an AddressRefused."""
        ...


class SearchAnswer(Struct, frozen=True, kw_only=True):
    """What a search brought."""

    status: int
    hits: Sequence[WebSearchHit]
    body: bytes
    mime: str = "application/json"
    truncated: bool = False


class SearchProvider(Protocol):
    """Searches the web."""

    @property
    def name(self) -> str: ...

    @property
    def host(self) -> str:
        """Where queries go, for policies that speak of hosts."""
        ...

    async def search(self, query: str, context: "ToolContext") -> SearchAnswer: ...


class ToolContext(Struct, frozen=True, kw_only=True):
    """What a tool may use during one call."""

    host: RunHost
    tool_call_id: str
    turn_index: int
    root: Root
    sandbox: Sandbox
    environ: Callable[[], Mapping[str, str]]
    """The variables of a command that is about to start, without any secret that is known by now."""
    clock: Clock
    settings: ToolSettings
    http: Fetcher
    search: SearchProvider | None = None


class AskParts(Struct, frozen=True, kw_only=True):
    """What a call is about, for policies and people."""

    summary: str
    """One line: the command, the path."""
    paths: Sequence[str] = ()
    hosts: Sequence[str] = ()
    argv_text: str | None = None
    """The shell text, for grants."""
    timeout_ms: int | None = None
    effects: Effects | None = None
    """Of this very call, when they differ from the tool's own."""
    mcp_server: str | None = None
    mcp_tool: str | None = None


class ToolResult(Struct, frozen=True, kw_only=True):
    """How a call ended."""

    summary: str
    output: str
    """What the model is told. Long output belongs in `artifact`; the loop cuts what is told out of it."""
    outcome: Literal["completed", "failed", "timed_out"] = "completed"
    code: str = ""
    limit: str = ""
    artifact: Draft | None = None
    """The whole result, not appended yet: it is stored together with the end of the call."""
    kept_artifact_id: str | None = None
    """The whole result, when an event of the tool's own has stored it already."""
    result: str | None = None
    images: Sequence[Draft] = ()
    """Pictures to show to the model, stored together with the end of the call as well."""


class Tool(Protocol[In]):
    """One thing that an agent can do."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def about(self) -> str:
        """What the model is told about it."""
        ...

    @property
    def Input(self) -> type[In]:  # noqa: N802 - it is a class
        """A msgspec.Struct that forbids unknown fields; the JSON Schema is made from it."""
        ...

    @property
    def effects(self) -> Effects: ...

    def ask(self, given: In, context: ToolContext) -> AskParts:
        """Say what the call would do. It does nothing yet."""
        ...

    async def run(self, given: In, context: ToolContext) -> ToolResult:
        """Do it, cleaning up in `finally` when cancelled."""
        ...


AnyTool = Tool[Any]


class Unavailable(Struct, frozen=True, kw_only=True):
    """A tool that cannot be offered."""

    tool_name: str
    """Of one tool, or `mcp__<server>` for all of a server."""
    reason: str
    asked_for: bool = True
    """The task named it, so that its absence is told at the start; otherwise it is told when a model asks for it."""


class Toolset(Protocol):
    """The tools of one run, ready for use."""

    @property
    def tools(self) -> Sequence[AnyTool]: ...

    @property
    def unavailable(self) -> Sequence[Unavailable]: ...

    def context(self, tool_call_id: str, turn_index: int) -> ToolContext: ...


class Toolbox(Protocol):
    """Where the tools of a run come from."""

    def open(self, host: RunHost) -> AbstractAsyncContextManager[Toolset]:
        """The tools for this run: its workspace opened, its MCP servers reached. Leaving gives everything back."""
        ...
