"""A run of the loop without a worker: a script for a model, tools that a test can watch, a host in memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from runwire.host import Effects, Ended, Past, RunFacts, RunHost
from runwire.ids import Ids
from runwire.native.executor import Hearing, Loop, Pacing
from runwire.native.loop.state import Usage
from runwire.native.models.model import Model
from runwire.native.models.scripted import ScriptedModel, parse_script
from runwire.native.tools.tool import (
    AnyTool,
    AskParts,
    Fetch,
    Fetched,
    ToolContext,
    ToolResult,
    ToolSettings,
    Unavailable,
)
from runwire.protocol.lifecycle import Breach, check
from runwire.testing.clock import ManualClock
from runwire.testing.host import Decide, FakeHost, allow, run_facts
from runwire.workspace.root import Root
from runwire.workspace.sandbox.bare import Bare

READS: Effects = frozenset({"reads"})
WRITES: Effects = frozenset({"writes"})

Doing = Callable[["ProbeInput", ToolContext], Awaitable[ToolResult]]


class ProbeInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a probe takes."""

    word: str = ""
    count: int = 1


async def echo(given: ProbeInput, _: ToolContext) -> ToolResult:
    """Say the word as often as asked."""
    return ToolResult(summary=f"said {given.word}", output=given.word * given.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A tool that does what a test wants."""

    name: str = "echo"
    effects: Effects = READS
    doing: Doing = echo
    kind: str = "todo"
    about: str = "Say a word."
    Input: type[ProbeInput] = ProbeInput

    def ask(self, given: ProbeInput, context: ToolContext) -> AskParts:
        """Say what would be said."""
        del context
        return AskParts(summary=f"say {given.word}")

    async def run(self, given: ProbeInput, context: ToolContext) -> ToolResult:
        """Do it."""
        return await self.doing(given, context)


class NoFetcher:
    """A network that is not there."""

    async def fetch(self, request: Fetch) -> Fetched:
        """Nothing is reached."""
        raise ConnectionError(request.url)


@dataclass(slots=True)
class Tools:
    """The tools of a test, as both the box and what is in it."""

    root: Root
    tools: Sequence[AnyTool] = (Probe(),)
    unavailable: Sequence[Unavailable] = ()
    host: RunHost | None = None

    @asynccontextmanager
    async def open(self, host: RunHost) -> AsyncIterator["Tools"]:
        """Ready at once."""
        self.host = host
        yield self

    def context(self, tool_call_id: str, turn_index: int) -> ToolContext:
        """A context of real parts, but no network."""
        assert self.host is not None
        return ToolContext(
            host=self.host,
            tool_call_id=tool_call_id,
            turn_index=turn_index,
            root=self.root,
            sandbox=Bare(),
            environ=lambda: {"PATH": "/usr/bin:/bin"},
            clock=ManualClock(),
            settings=ToolSettings(),
            http=NoFetcher(),
        )


def counting_ids() -> Ids:
    """Ids that are the same each time."""
    return Ids(now_ns=ManualClock().now_ns, random_bytes=bytes)


class Script:
    """A script as both a model and the place where it comes from."""

    def __init__(self, *turns: Mapping[str, object], ids: Ids | None = None, **more: object) -> None:
        self.ids = ids or counting_ids()
        script = parse_script(msgspec.json.encode({"turns": turns, **more}))
        self._model = ScriptedModel(name="test", script=script, ids=self.ids)

    def model(self, name: str) -> Model:
        """The script, whatever it is called."""
        assert name
        return self._model

    def price(self, model: Model, usage: Usage) -> int | None:
        """A micro-dollar a token."""
        assert model is self._model
        return usage.input_tokens + usage.output_tokens


@dataclass(slots=True)
class Played:
    """A run that is over, or was cut off."""

    host: FakeHost
    loop: Loop
    ended: Ended | None = None
    slept: list[float] = field(default_factory=list)

    def breaches(self) -> list[Breach]:
        """What is wrong with the log."""
        return list(check(self.host.envelopes()))


class Player:
    """Plays scripts in one workspace."""

    def __init__(self, folder: Path) -> None:
        self.root = Root.open(folder)
        self.facts = run_facts(workspace=folder)

    async def play(
        self,
        script: Script,
        *tools: AnyTool,
        facts: RunFacts | None = None,
        past: Sequence[Past] | None = None,
        host: FakeHost | None = None,
        decide: Decide = allow,
        unavailable: Sequence[Unavailable] = (),
    ) -> Played:
        """Run the loop to its end, and put the terminal event behind it."""
        host = host or FakeHost(facts=facts or self.facts, past=past, decide=decide)
        played = self.prepare(script, *tools, host=host, unavailable=unavailable)
        played.ended = await played.loop.run()
        host.end(played.ended)
        return played

    def prepare(
        self, script: Script, *tools: AnyTool, host: FakeHost, unavailable: Sequence[Unavailable] = ()
    ) -> Played:
        """A loop that has not begun."""
        slept: list[float] = []

        async def sleep(delay_s: float) -> None:
            slept.append(delay_s)
            await asyncio.sleep(0)

        clock = ManualClock()
        toolset = Tools(self.root, tools or (Probe(),), unavailable, host)
        hearing = Hearing(host=host, model=script.model("x"), models=script, clock=clock, ids=script.ids)
        pacing = Pacing(rng=lambda: 1.0, sleep=sleep)
        loop = Loop(host=host, hearing=hearing, toolset=toolset, clock=clock, pacing=pacing)
        return Played(host, loop, slept=slept)


def with_facts(player: Player, **changes: object) -> RunFacts:
    """The player's facts with some of them changed."""
    return replace(player.facts, **changes)
