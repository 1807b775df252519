"""The one list of tools, and what they need to be ready for a run."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from runwire.clock import Clock
from runwire.host import RunFacts, RunHost
from runwire.ids import Ids
from runwire.journal.redaction.secrets import SecretSet
from runwire.native.mcp.servers import Reach, Reached, reached
from runwire.native.tools.artifact_read import ArtifactRead
from runwire.native.tools.commands import Grounds
from runwire.native.tools.edit_file import EditFile
from runwire.native.tools.editing import Editor
from runwire.native.tools.file_delete import FileDelete
from runwire.native.tools.file_read import FileRead
from runwire.native.tools.file_write import FileWrite
from runwire.native.tools.git_exec import GitExec
from runwire.native.tools.glob import Glob
from runwire.native.tools.grep import Grep
from runwire.native.tools.http_request import HttpRequest
from runwire.native.tools.multi_edit import MultiEdit
from runwire.native.tools.schema import Shaped
from runwire.native.tools.shell_exec import ShellExec
from runwire.native.tools.spawn_agent import NEEDS, SpawnAgent
from runwire.native.tools.todo_write import TodoWrite
from runwire.native.tools.tool import AnyTool, Fetcher, SearchProvider, ToolContext, ToolSettings, Unavailable
from runwire.native.tools.web_fetch import WebFetch
from runwire.native.tools.web_search import WebSearch
from runwire.workspace.applying import Applier
from runwire.workspace.environment import child_environment
from runwire.workspace.limits import Groups
from runwire.workspace.locking import Locks
from runwire.workspace.openat import opener
from runwire.workspace.root import Root
from runwire.workspace.sandbox.layer import Sandbox

NO_SEARCH = "no_provider_configured"
_WITHOUT_SEARCH = Unavailable(tool_name=WebSearch.name, reason=NO_SEARCH, asked_for=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """What the tools of every run share."""

    sandbox: Sandbox
    applier: Applier
    locks: Locks
    clock: Clock
    ids: Ids
    http: Fetcher
    secrets: SecretSet
    """What no command may have in its environment."""
    inherited: Mapping[str, str]
    """The worker's own environment, a short list of which commands are given."""
    groups: Groups | None = None
    search: SearchProvider | None = None
    settings: ToolSettings = field(default_factory=ToolSettings)
    hidden: Sequence[Path] = ()
    """What no command may read."""
    tmp: Path | None = None
    """Where runs have their private temporary folders; the system's place when None."""


class RunTools(Struct, frozen=True, kw_only=True):
    """The tools of one run."""

    host: RunHost
    root: Root
    bench: Workbench
    environ: Callable[[], Mapping[str, str]]
    tools: Sequence[AnyTool]
    unavailable: Sequence[Unavailable]

    def context(self, tool_call_id: str, turn_index: int) -> ToolContext:
        """What one call may use."""
        bench = self.bench
        return ToolContext(
            host=self.host,
            tool_call_id=tool_call_id,
            turn_index=turn_index,
            root=self.root,
            sandbox=bench.sandbox,
            environ=self.environ,
            clock=bench.clock,
            settings=bench.settings,
            http=bench.http,
            search=bench.search,
        )


class Tools:
    """Makes the tools of runs ready."""

    def __init__(self, bench: Workbench) -> None:
        """Use what the worker has set up once."""
        self._bench = bench
        self._opens = opener()
        self._environment = _Environment(bench)

    @asynccontextmanager
    async def open(self, host: RunHost) -> AsyncGenerator[RunTools]:
        """The tools for this run: its workspace opened, its MCP servers reached. Leaving gives everything back."""
        bench, facts = self._bench, host.facts
        tmp = _PrivateFolder(bench.tmp)
        with Root.open(facts.workspace, opens=self._opens) as root:
            try:
                if facts.kind == "agent_loop" and facts.mcp_servers:
                    reach = Reach(
                        sandbox=bench.sandbox, secrets=bench.secrets, inherited=bench.inherited, hidden=bench.hidden
                    )
                    async with reached(reach, facts, root, tmp.path()) as servers:
                        yield self._ready(host, root, tmp, servers)
                else:
                    yield self._ready(host, root, tmp, None)
            finally:
                await tmp.remove()

    def _ready(self, host: RunHost, root: Root, tmp: "_PrivateFolder", servers: Reached | None) -> RunTools:
        bench, facts = self._bench, host.facts
        tools = _native(bench, host, tmp.path)
        unavailable = [_WITHOUT_SEARCH] if facts.kind == "agent_loop" and bench.search is None else []
        if servers is not None:
            tools += servers.tools
            unavailable += servers.unavailable
        return RunTools(
            host=host,
            root=root,
            bench=bench,
            environ=lambda: self._environment.of(facts.env, tmp.path),
            tools=tools,
            unavailable=unavailable,
        )


class _PrivateFolder:
    """A run's own temporary folder. Most runs start no command and need none."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._made: Path | None = None

    def path(self) -> Path:
        """The folder, made when it is first asked for."""
        if self._made is None:
            self._made = Path(tempfile.mkdtemp(prefix="runwire-", dir=self._place))
        return self._made

    async def remove(self) -> None:
        """Remove it with all that commands have left there, which may be much."""
        if self._made is not None:
            await asyncio.to_thread(shutil.rmtree, self._made, ignore_errors=True)


class _Environment:
    """The variables of commands. Most runs ask for the same, so they are put together once."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._asked: tuple[object, ...] = ()
        self._made: Mapping[str, str] = {}

    def of(self, wanted: Mapping[str, str], tmp: Callable[[], Path]) -> Mapping[str, str]:
        """What a run's commands are given, without any secret that is known by now."""
        bench = self._bench
        known, home = bench.secrets.values, _home(bench.sandbox, tmp)
        asked = (known, home, dict(wanted))
        if asked != self._asked:
            self._made = MappingProxyType(child_environment(bench.inherited, wanted, known=known, home=home))
            self._asked = asked
        return self._made


def _native(bench: Workbench, host: RunHost, tmp: Callable[[], Path]) -> list[AnyTool]:
    """Our own tools, those of the run's kind. Adding one is adding a line here."""
    editor = Editor(applier=bench.applier, locks=bench.locks, ids=bench.ids)
    grounds = Grounds(hidden=bench.hidden, tmp=tmp, groups=bench.groups)
    edits: list[AnyTool] = [FileWrite(editor), EditFile(editor)]
    match host.facts.kind:
        case "shell":
            return [ShellExec(grounds)]
        case "git":
            return [GitExec(_with_repository(grounds, host.facts))]
        case "file":
            return [*edits, FileDelete(editor)]
    tools: list[AnyTool] = [
        ShellExec(grounds),
        FileRead(),
        *edits,
        MultiEdit(editor),
        Glob(),
        Grep(),
        TodoWrite(),
        HttpRequest(),
        WebFetch(),
        ArtifactRead(),
    ]
    if bench.search is not None:
        tools.append(WebSearch())
    if all(host.may_emit(event_type) for event_type in NEEDS):
        tools.append(SpawnAgent())
    return tools


def _home(sandbox: Sandbox, tmp: Callable[[], Path]) -> str | None:
    if not sandbox.confines:
        return None
    # Where there are namespaces the private folder is seen as /tmp; elsewhere it keeps its own name.
    return "/tmp" if sandbox.owns_processes else str(tmp())


def _with_repository(grounds: Grounds, facts: RunFacts) -> Grounds:
    """A worktree's history lies in the repository that it was made from, and git writes there."""
    marker = facts.workspace / ".git"
    if facts.workspace_mode != "worktree" or not marker.is_file():
        return grounds
    own = (facts.workspace / marker.read_text("utf-8", "replace").removeprefix("gitdir:").strip()).resolve()
    try:
        back = Path((own / "gitdir").read_text("utf-8", "replace").strip()).resolve()
    except OSError:
        return grounds
    # A workspace may claim to belong anywhere; only a repository that says so too is opened to it.
    if own.parent.name != "worktrees" or back != marker.resolve():
        return grounds
    return replace(grounds, writable=(own.parent.parent,))


def input_shapes() -> Sequence[Shaped]:
    """What takes which input, for reading one that somebody has edited without a run at hand."""
    return (
        ShellExec,
        GitExec,
        FileRead,
        FileWrite,
        FileDelete,
        EditFile,
        MultiEdit,
        Glob,
        Grep,
        TodoWrite,
        HttpRequest,
        WebFetch,
        WebSearch,
        ArtifactRead,
        SpawnAgent,
    )
