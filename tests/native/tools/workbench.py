"""Real tools on a host in memory: a workspace on disk, a bare or a real sandbox, and a ledger that only remembers."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from runwire.clock import SystemClock
from runwire.host import RunFacts, RunHost
from runwire.ids import Ids
from runwire.journal.artifact import Change
from runwire.journal.records import Effect
from runwire.journal.redaction.secrets import SecretSet
from runwire.native.tools.catalogue import RunTools, Tools, Workbench
from runwire.native.tools.fetching import PinnedFetcher
from runwire.native.tools.schema import read_input
from runwire.native.tools.tool import AnyTool, Fetcher, SearchProvider, ToolResult, ToolSettings
from runwire.protocol.events.artifact import ArtifactUpdated
from runwire.testing.host import FakeHost, run_facts
from runwire.workspace.applying import Applier, Intent
from runwire.workspace.locking import Locks
from runwire.workspace.sandbox.bare import Bare
from runwire.workspace.sandbox.layer import Sandbox

ENVIRON = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


class MemoryLedger:
    """Remembers nothing, for hosts that have no store."""

    def opening(self, intent: Intent) -> Effect:
        """There is no row to write."""
        del intent
        return lambda _: None

    def closing(self, intent: Intent) -> Effect:
        """There is no row to remove."""
        del intent
        return lambda _: None

    async def forget(self, intent: Intent) -> None:
        """There is nothing to forget."""

    def applied(self, artifact_id: str) -> Change:
        """What the store would tell."""
        event = ArtifactUpdated(artifact_id=artifact_id, field="status", old_value="proposed", new_value="applied")
        return Change(artifact_id, event, lambda _: None)


@dataclass
class Bench:
    """One run's tools, ready to be called."""

    host: FakeHost
    toolset: RunTools
    workspace: Path

    def tool(self, name: str) -> AnyTool:
        """One of the tools."""
        return next(tool for tool in self.toolset.tools if tool.name == name)

    async def call(self, name: str, given: Mapping[str, object]) -> ToolResult:
        """Call a tool as the loop would, but for permission."""
        tool = self.tool(name)
        context = self.toolset.context("call_1", 0)
        read = read_input(tool, given)
        tool.ask(read, context)
        result: ToolResult = await tool.run(read, context)
        if result.artifact is not None:
            self.host.emit(kept=[result.artifact])
        return result

    @property
    def types(self) -> list[str]:
        """What has been told since the birth of the run."""
        return self.host.types[3:]


def facts_for(workspace: Path, **changed: object) -> RunFacts:
    """Facts of a run in this folder."""
    facts = replace(run_facts(workspace=workspace), allow_unconfined=True)
    return replace(facts, **changed)


def make_tools(
    data: Path,
    *,
    sandbox: Sandbox | None = None,
    search: SearchProvider | None = None,
    settings: ToolSettings | None = None,
    http: Fetcher | None = None,
    inherited: Mapping[str, str] = ENVIRON,
    hidden: Sequence[Path] = (),
) -> Tools:
    """The concrete toolbox."""
    clock = SystemClock()
    return Tools(
        Workbench(
            sandbox=sandbox or Bare(),
            applier=Applier(ledger=MemoryLedger(), undo=data / "undo"),
            locks=Locks(data / "locks"),
            clock=clock,
            ids=Ids(now_ns=clock.now_ns, random_bytes=os.urandom),
            http=http or PinnedFetcher(),
            secrets=SecretSet(),
            inherited=inherited,
            search=search,
            settings=settings or ToolSettings(),
            hidden=hidden,
        )
    )


@asynccontextmanager
async def bench(data: Path, host: FakeHost, tools: Tools | None = None) -> AsyncGenerator[Bench]:
    """The tools of a host's run."""
    made = tools or make_tools(data)
    open_for: RunHost = host
    async with made.open(open_for) as toolset:
        yield Bench(host, toolset, host.facts.workspace)
