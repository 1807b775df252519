"""The loop under a real worker, on a real journal: what it knew while it ran is what its stored log gives back."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runwire.host import Emit, Ended, RunHost, ToolAsk, ToolEnd
from runwire.native.executor import Hearing, Loop, Pacing
from runwire.native.loop.recover import recover, wanted
from runwire.native.loop.state import State, Text, Told
from runwire.native.tools.tool import ToolContext, ToolResult
from runwire.protocol.events.turn import TurnFailed
from runwire.runs.hiring import Job, hire
from runwire.runs.hosting import Deciding, Held, Terms
from runwire.runs.lease import Lease
from runwire.runs.past import read_chain
from runwire.runs.settling import terminal
from runwire.runs.supervisor import Manners
from runwire.runs.worker import Worker
from runwire.workspace.root import Root
from tests.native.playing import WRITES, Probe, ProbeInput, Script, Tools
from tests.runs.house import AllowAll, Doing, House, at_work, open_house

SECRET = "correct-horse-battery-staple-9731"


class Settling:
    """Tells the end of a call in full."""

    async def settle(self, held: Held, ask: ToolAsk, end: ToolEnd, emit: Emit) -> None:
        del held
        emit(terminal(ask, end), kept=end.drafts)


class Native:
    """The native loop as an executor that remembers its loops."""

    def __init__(self, script: Script, *tools: Probe) -> None:
        self.loops: list[Loop] = []
        self._script = script
        self._tools = tools

    async def run(self, host: RunHost) -> Ended:
        with Root.open(host.facts.workspace) as root:
            tools = Tools(root, self._tools or (Probe(),), (), host)
            clock = tools.context("", 0).clock
            hearing = Hearing(
                host=host, model=self._script.model("x"), models=self._script, clock=clock, ids=self._script.ids
            )
            pacing = Pacing(rng=lambda: 0.0, sleep=_soon)
            self.loops.append(Loop(host=host, hearing=hearing, toolset=tools, clock=clock, pacing=pacing))
            return await self.loops[-1].run()


async def _soon(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path / "data") as opened:
        yield opened


def worker(house: House, native: Native) -> Worker:
    lease = Lease(
        journal=house.journal,
        clock=house.ground.clock,
        worker_id=house.ground.ids.new("worker"),
        folder=house.data / "workers",
        lease_s=30.0,
    )
    return hire(
        Job(
            ground=house.ground,
            executors={"native": Doing(native.run)},
            deciding=Deciding(AllowAll(), Settling(), lambda _: Terms()),
            starter=house.starter,
            cancelling=house.cancelling,
            vault=house.vault,
            lease=lease,
            slots=1,
            manners=Manners(close_grace_s=0.2),
        )
    )


async def rebuilt(house: House, run_id: str, loop: Loop) -> State:
    past = await read_chain(house.journal, run_id)
    bodies = {}
    for artifact_id in wanted(past):
        async with await house.ground.artifacts.open(artifact_id) as body:
            bodies[artifact_id] = await body.read()
    return recover(past, loop.rules, bodies)


async def test_the_stored_log_gives_back_the_conversation_without_its_secrets(house: House) -> None:
    house.secrets.register("task.PASSWORD", SECRET)
    long = {"name": "echo", "input": {"word": "0123456789", "count": 3_000}}
    leak = {"name": "leak", "input": {"word": "x"}}

    async def leaking(_: ProbeInput, __: ToolContext) -> ToolResult:
        return ToolResult(summary="read it", output=f"the password is {SECRET}, keep it")

    script = Script(
        {"text": "Let me look.", "tools": [long, leak], "usage": {"input": 10, "output": 5}},
        {"text": f"I say {SECRET} myself.", "tools": [leak]},
        {"text": "done"},
        ids=house.ground.ids,
    )
    native = Native(script, Probe(), Probe(name="leak", effects=WRITES, doing=leaking))
    run_id = await house.run(model="scripted:test")
    async with at_work(worker(house, native)):
        await house.end(run_id)

    (loop,) = native.loops
    assert await rebuilt(house, run_id, loop) == loop.state
    texts = [part.text for one in loop.state.messages for part in one.parts if isinstance(part, Text)]
    assert not any(SECRET in text for text in texts)
    assert any("[redacted:" in text for text in texts)
    assert any("artifact_read art_" in text for text in texts)
    assert SECRET.encode() not in b"".join(await house.log(run_id))


async def test_a_cancelled_run_ends_lawfully_wherever_it_was(house: House) -> None:
    at_work_now = asyncio.Event()

    async def hang(_: ProbeInput, __: ToolContext) -> ToolResult:
        at_work_now.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    script = Script({"tools": [{"name": "echo"}, {"name": "echo"}]}, ids=house.ground.ids)
    run_id = await house.run(model="scripted:test")
    async with at_work(worker(house, Native(script, Probe(doing=hang)))):
        await at_work_now.wait()
        await house.cancelling.cancel(run_id, by="ann", reason="enough")
        await house.end(run_id)

    types = await house.types(run_id)
    assert types.count("tool.cancelled") == 2
    assert types[-1] == "run.cancelled"


async def test_a_run_that_a_closing_worker_leaves_is_finished_by_the_next(house: House) -> None:
    at_work_now = asyncio.Event()
    first = True

    async def hang_once(given: ProbeInput, _: ToolContext) -> ToolResult:
        nonlocal first
        if first:
            first = False
            at_work_now.set()
            await asyncio.Event().wait()
        return ToolResult(summary="said", output=given.word)

    call = {"name": "echo", "input": {"word": "ho"}}
    script = Script({"tools": [call]}, {"tools": [call]}, {"text": "done"}, ids=house.ground.ids)
    native = Native(script, Probe(doing=hang_once))
    run_id = await house.run(model="scripted:test")
    async with at_work(worker(house, native)):
        await at_work_now.wait()
    assert (await house.types(run_id))[-1] == "agent.state_changed"

    async with at_work(worker(house, native)):
        await house.end(run_id)

    loop = native.loops[-1]
    assert len(native.loops) == 2
    assert await rebuilt(house, run_id, loop) == loop.state
    told = [one for one in loop.state.messages if isinstance(one, Told)]
    assert told[0].parts == (Text("error (cancelled): stopped by system"),)
    assert told[1].parts == (Text("ho"),)


async def test_a_failing_model_leaves_its_attempts_in_the_log(house: House) -> None:
    script = Script({"error": {"status": 529, "message": "busy", "times": 1}, "text": "ok"}, ids=house.ground.ids)
    native = Native(script)
    run_id = await house.run(model="scripted:test")
    async with at_work(worker(house, native)):
        await house.end(run_id)

    past = await read_chain(house.journal, run_id)
    assert [one.payload.will_retry for one in past if isinstance(one.payload, TurnFailed)] == [True]
    assert await rebuilt(house, run_id, native.loops[0]) == native.loops[0].state
