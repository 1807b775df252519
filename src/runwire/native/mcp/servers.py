"""Sessions to the MCP servers of a run. Each lives in a task of its own and is begun anew when its server has died."""

import asyncio
import logging
import os
import re
import shutil
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from runwire.errors import RunwireError
from runwire.host import McpServer, RunFacts
from runwire.journal.redaction.secrets import SecretSet
from runwire.native.mcp.tool import ABOUT_MAX, McpFailed, McpTool, offered_name
from runwire.native.tools.tool import Unavailable
from runwire.version import VERSION
from runwire.workspace.addresses import Guard, PinnedTransport
from runwire.workspace.environment import child_environment, split_early
from runwire.workspace.limits import Limits, limited
from runwire.workspace.root import Root
from runwire.workspace.sandbox.layer import Confinement, Sandbox, confined

if TYPE_CHECKING:
    from mcp.client._transport import Transport
    from mcp.client.client import Client
    from mcp_types import CallToolResult, Tool

CONNECT_S = 20.0
IDLE_S = 300.0
TOOLS_MAX = 128
VARIABLES = "MCP_"
"""Only variables of the worker whose names begin so may be named by a task, which need not be allowed to see the others."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What it takes to start or reach servers, the same for every run of a worker."""

    sandbox: Sandbox
    secrets: SecretSet
    inherited: Mapping[str, str]
    """The worker's own environment."""
    hidden: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class Reached:
    """What the servers of a run offer."""

    tools: Sequence[McpTool]
    unavailable: Sequence[Unavailable]


@asynccontextmanager
async def reached(reach: Reach, facts: RunFacts, root: Root, tmp: Path) -> AsyncGenerator[Reached]:
    """Reach every server of a run at once; those that do not answer are told as unavailable. Leaving ends all sessions."""
    sessions = [
        _Session(name=name, server=server, reach=reach, facts=facts, root=root, tmp=tmp)
        for name, server in facts.mcp_servers.items()
    ]
    async with AsyncExitStack() as stack:
        for session in sessions:
            stack.push_async_callback(session.close)
        found = await asyncio.gather(*(session.tools() for session in sessions), return_exceptions=True)
        tools: list[McpTool] = []
        unavailable: list[Unavailable] = []
        for session, result in zip(sessions, found, strict=True):
            if isinstance(result, McpFailed):
                unavailable.append(Unavailable(tool_name=f"mcp__{session.name}", reason=result.code))
            elif isinstance(result, BaseException):
                raise result
            else:
                tools += result
        yield Reached(tools, unavailable)


@dataclass(slots=True, kw_only=True)
class _Session:
    """One server and the task that holds its connection: what the SDK enters must be left by the same task."""

    name: str
    server: McpServer
    reach: Reach
    facts: RunFacts
    root: Root
    tmp: Path
    _task: "asyncio.Task[None] | None" = None
    _ready: "asyncio.Future[Client] | None" = None
    _leave: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the connection of now is to end."""
    _calls: int = 0
    _used_s: float = 0.0

    async def tools(self) -> list[McpTool]:
        """What the server offers; McpFailed when it does not answer."""
        client = await self._connected()
        found: list[Tool] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(CONNECT_S):
                while True:
                    page = await client.list_tools(cursor=cursor)
                    found += page.tools
                    cursor = page.next_cursor
                    if not cursor or len(found) >= TOOLS_MAX:
                        break
        except Exception as error:
            # Whatever a stranger's server does must not end the run.
            raise self._broken(error) from error
        hosts = (urlsplit(self.server.url).hostname or "",) if self.server.url else ()
        return [
            McpTool(
                server=self.name,
                tool=one.name,
                name=offered_name(self.name, one.name),
                about=(one.description or one.title or one.name)[:ABOUT_MAX],
                schema=one.input_schema,
                timeout_s=self.server.timeout_s,
                call=self.call,
                hosts=hosts,
            )
            for one in found[:TOOLS_MAX]
        ]

    async def call(self, tool: str, given: Mapping[str, object]) -> "CallToolResult":
        """Call a tool; a server that has gone is started again first."""
        client = await self._connected()
        self._calls += 1
        try:
            async with asyncio.timeout(self.server.timeout_s):
                return await self._while_alive(client.call_tool(tool, dict(given)))
        except TimeoutError:
            raise McpFailed("timed_out", f"{self.name} gave no result in {self.server.timeout_s:g} s") from None
        except McpFailed:
            raise
        except Exception as error:
            if not _is_answer(error):
                # Nobody is at the other end any more; the next call finds somebody new.
                self._leave.set()
            raise self._broken(error) from error
        finally:
            self._calls -= 1
            self._used_s = asyncio.get_running_loop().time()

    async def close(self) -> None:
        """End the session and wait until the server is gone."""
        self._leave.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _while_alive(self, calling: "Coroutine[None, None, CallToolResult]") -> "CallToolResult":
        """Wait for a result, but not for one of a server whose session has ended."""
        call = asyncio.create_task(calling)
        session = self._task
        try:
            await asyncio.wait({call} if session is None else {call, session}, return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                return call.result()
        finally:
            if not call.done():
                call.cancel()
                await asyncio.wait({call})
        raise McpFailed("server_unreachable", f"{self.name} ended while it was at work")

    async def _connected(self) -> "Client":
        if self._task is not None and self._leave.is_set():
            await asyncio.wait({self._task})
        if self._task is None or self._task.done():
            self._ready, self._leave = asyncio.get_running_loop().create_future(), asyncio.Event()
            self._task = asyncio.create_task(self._live(self._ready, self._leave), name=f"mcp {self.name}")
        ready = self._ready
        if ready is None:
            raise McpFailed("server_unreachable", f"{self.name} is not there")
        return await asyncio.shield(ready)

    async def _live(self, ready: "asyncio.Future[Client]", leave: asyncio.Event) -> None:
        """Hold the connection until it is no longer wanted."""
        loop = asyncio.get_running_loop()
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(CONNECT_S):
                    client = await stack.enter_async_context(await self._client(stack))
                ready.set_result(client)
                self._used_s = loop.time()
                while self._calls or loop.time() - self._used_s < IDLE_S:
                    try:
                        async with asyncio.timeout(IDLE_S):
                            await leave.wait()
                        break
                    except TimeoutError:
                        continue
        except Exception as error:  # noqa: BLE001 - whatever a stranger's server does must not end the run
            log.info("the MCP server %s of run %s is gone: %r", self.name, self.facts.run_id, error)
            if not ready.done():
                ready.set_exception(self._broken(error))
                ready.exception()

    async def _client(self, stack: AsyncExitStack) -> "Client":
        from mcp.client.client import Client
        from mcp.client.streamable_http import streamable_http_client
        from mcp_types import Implementation

        who = Implementation(name="runwire", version=VERSION)
        if self.server.url is not None:
            headers = {name: self._filled(value, name) for name, value in self.server.headers.items()}
            transport = PinnedTransport(Guard((*self.facts.allow_hosts, *_named_here(self.server.url))))
            http = httpx2.AsyncClient(
                transport=transport, headers=headers, trust_env=False, timeout=httpx2.Timeout(30.0, read=None)
            )
            await stack.enter_async_context(http)
            return Client(streamable_http_client(self.server.url, http_client=http), client_info=who)
        return Client(self._stdio(stack), client_info=who)

    def _stdio(self, stack: AsyncExitStack) -> "Transport":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        sandbox = confined(self.reach.sandbox, allow_unconfined=self.facts.allow_unconfined)
        home = None if not sandbox.confines else "/tmp" if sandbox.owns_processes else str(self.tmp)
        named = {name: self._filled(value, name) for name, value in self.server.env.items()}
        environ = {**child_environment(self.reach.inherited, {}, known=self.reach.secrets.values, home=home), **named}
        program = shutil.which(self.server.command or "", path=environ.get("PATH"))
        if program is None:
            raise McpFailed("server_unreachable", f"there is no program {self.server.command}")
        # What a loader would obey must not take effect before the walls are up.
        outer, early = split_early(environ)
        confinement = Confinement(
            workspace=self.root.path,
            cwd=self.root.path,
            readable=_started_with(program, self.server.args),
            network=self.facts.allow_network,
            hidden=self.reach.hidden,
            tmp=self.tmp,
        )
        inside = limited([program, *self.server.args], Limits(), early=early, is_namespaced=sandbox.owns_processes)
        argv = sandbox.wrap(inside, confinement)
        errors = stack.enter_context(Path(os.devnull).open("w"))  # noqa: SIM115 - the stack closes it
        parameters = StdioServerParameters(
            command=argv[0], args=list(argv[1:]), env=dict(outer), cwd=self.root.path, encoding_error_handler="replace"
        )
        return stdio_client(parameters, errlog=errors)

    def _filled(self, value: str, name: str) -> str:
        """The value with variables of the worker put in, each a secret from now on."""

        def fill(match: re.Match[str]) -> str:
            variable = match[1]
            found = self.reach.inherited.get(variable) if variable.startswith(VARIABLES) else None
            if found is None:
                raise McpFailed("variable_not_set", f"{self.name} needs {variable}, which the worker does not have")
            self.reach.secrets.register(f"mcp.{self.name}.{name}", found)
            return found

        return _VARIABLE.sub(fill, value)

    def _broken(self, error: BaseException) -> McpFailed:
        cause = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if isinstance(cause, McpFailed):
            return cause
        if isinstance(cause, RunwireError):
            return McpFailed(cause.code, cause.message)
        if _is_answer(cause):
            return McpFailed("mcp_error", f"{self.name}: {cause}"[:500])
        return McpFailed("server_unreachable", f"{self.name}: {type(cause).__name__}: {cause}"[:500])


def _is_answer(error: BaseException) -> bool:
    """Whether the server itself has said that something is wrong, and so is still there."""
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.code != CONNECTION_CLOSED


def _started_with(program: str, arguments: Sequence[str]) -> list[Path]:
    """The files that a server is started with, and what its program was installed with: an interpreter's packages, say."""
    named = [Path(word) for word in (program, *arguments) if os.path.isabs(word)]
    folder = Path(program).parent
    return [folder.parent, *named] if folder.name == "bin" and folder.parent != Path("/") else named


def _named_here(url: str) -> tuple[str, ...]:
    """The server itself, when whoever wrote the task named one on this very machine: that is meant, and nothing beside it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        local = False
    if not local:
        return ()
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return (f"[{host}]:{port}" if ":" in host else f"{host}:{port}",)
