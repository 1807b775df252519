"""Batches of calls: who waits for whom, and what a denial does to the others."""

import asyncio

import pytest

from runwire.host import Go, No, Stopped, ToolAsk, Verdict
from runwire.native.calling import Calling
from runwire.native.loop.state import Call, Text, Told
from runwire.native.tools.tool import AskParts, ToolContext, ToolResult
from runwire.protocol.events.tool import ToolCancelled, ToolStarted
from runwire.testing.clock import ManualClock
from runwire.testing.host import Decide, FakeHost, allow
from runwire.workspace.errors import PathRefused
from tests.native.playing import WRITES, Player, Probe, ProbeInput, Tools
from tests.spec import spec


def calling(player: Player, *tools: Probe, decide: Decide = allow) -> tuple[Calling, FakeHost]:
    host = FakeHost(facts=player.facts, decide=decide)
    return Calling(host=host, toolset=Tools(player.root, tools, (), host), clock=ManualClock()), host


def call(name: str, word: str = "") -> Call:
    return Call(f"call_{name}_{word}", name, {"word": word})


class Meeting:
    """A tool that ends only when as many calls as expected are at work at once."""

    def __init__(self, expected: int) -> None:
        self.order: list[str] = []
        self._expected = expected
        self._met = asyncio.Event()

    async def __call__(self, given: ProbeInput, _: ToolContext) -> ToolResult:
        self.order.append(f"+{given.word}")
        if len(self.order) >= self._expected:
            self._met.set()
        await self._met.wait()
        self.order.append(f"-{given.word}")
        return ToolResult(summary=given.word, output=given.word)


async def test_readers_run_together(player: Player) -> None:
    meeting = Meeting(3)
    batch, _ = calling(player, Probe(name="read", doing=meeting))

    acted = await batch.act([call("read", word) for word in "abc"], 0)

    assert meeting.order[:3] == ["+a", "+b", "+c"]
    assert [one.parts for one in acted.told] == [(Text("a"),), (Text("b"),), (Text("c"),)]


async def test_writers_run_one_after_another_in_order_whoever_was_allowed_first(player: Player) -> None:
    order: list[str] = []
    allowed: set[object] = set()
    others = asyncio.Event()

    async def decide(ask: ToolAsk) -> Verdict:
        allowed.add(ask.input["word"])
        if allowed == {"a", "b", "c"}:
            others.set()
        if ask.input["word"] == "a":
            await others.wait()
        return Go(ask.input, None)

    async def write(given: ProbeInput, _: ToolContext) -> ToolResult:
        order.append(f"+{given.word}")
        # Long enough for anybody who does not wait.
        rest = 20
        while rest := rest - 1:
            await asyncio.sleep(0)
        order.append(f"-{given.word}")
        return ToolResult(summary=given.word, output=given.word)

    batch, host = calling(player, Probe(name="write", effects=WRITES, doing=write), decide=decide)

    await batch.act([call("write", word) for word in "abc"], 0)

    assert order == ["+a", "-a", "+b", "-b", "+c", "-c"]
    assert [ask.tool_call_id for ask in host.asked] == ["call_write_a", "call_write_b", "call_write_c"]


async def test_every_question_is_asked_at_once(player: Player) -> None:
    asked, answer = [], asyncio.Event()

    async def ponder(ask: ToolAsk) -> Verdict:
        asked.append(ask.tool_call_id)
        if len(asked) == 2:
            answer.set()
        await answer.wait()
        return Go(ask.input, None)

    batch, _ = calling(player, Probe(name="write", effects=WRITES), decide=ponder)
    acted = await batch.act([call("write", "a"), call("write", "b")], 0)

    assert len(acted.told) == 2


@spec("LIF-3", "LIF-4", "LIF-7")
async def test_a_denial_that_stops_the_run_cancels_the_others(player: Player) -> None:
    at_work = asyncio.Event()

    async def hang(_: ProbeInput, __: ToolContext) -> ToolResult:
        at_work.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def decide(ask: ToolAsk) -> Verdict:
        if ask.tool_name == "write":
            await at_work.wait()
            return No("never", stop=True)
        return Go(ask.input, None)

    batch, host = calling(player, Probe(name="read", doing=hang), Probe(name="write", effects=WRITES), decide=decide)
    acted = await batch.act([call("read"), call("write")], 0)

    assert acted.stop
    assert [one.is_error for one in acted.told] == [True, True]
    assert [payload.by for payload in host.payloads if isinstance(payload, ToolCancelled)] == ["operator"]


async def test_a_single_denial_stops_the_run_too(player: Player) -> None:
    async def decide(_: ToolAsk) -> Verdict:
        return No("never", stop=True)

    batch, _ = calling(player, Probe(), decide=decide)

    assert (await batch.act([call("echo")], 0)).stop


async def test_being_parked_beats_everything_in_a_batch(player: Player) -> None:
    async def decide(ask: ToolAsk) -> Verdict:
        if ask.input["word"] == "b":
            raise Stopped("parked")
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    batch, _ = calling(player, Probe(), decide=decide)

    with pytest.raises(Stopped) as stopped:
        await batch.act([call("echo", "a"), call("echo", "b")], 0)
    assert stopped.value.why == "parked"


async def test_arguments_that_somebody_changed_are_used_and_told(player: Player) -> None:
    async def decide(_: ToolAsk) -> Verdict:
        return Go({"word": "other"}, "ann")

    batch, host = calling(player, Probe(), decide=decide)
    acted = await batch.act([call("echo", "mine")], 0)

    assert acted.told == (Told("call_echo_mine", (Text('[the input was changed by ann to {"word":"other"}]\nother'),)),)
    (started,) = [payload for payload in host.payloads if isinstance(payload, ToolStarted)]
    assert (started.input, started.changed_by) == ({"word": "other"}, "ann")


async def test_an_ask_can_be_put_again_with_other_arguments(player: Player) -> None:
    batch, host = calling(player, Probe())
    await batch.act([call("echo", "a")], 0)
    (ask,) = host.asked

    other = ask.recheck({"word": "b"})

    assert (other.tool_call_id, other.summary, other.input) == ("call_echo_a", "say b", {"word": "b"})
    with pytest.raises(ValueError, match="wrod"):
        ask.recheck({"wrod": "b"})


async def test_an_ask_that_is_refused_by_the_tool_itself_is_no_question_for_a_person(player: Player) -> None:
    class Outside(Probe):
        def ask(self, given: ProbeInput, context: ToolContext) -> AskParts:
            raise PathRefused(given.word, f"it is not for {context.tool_call_id}")

    batch, host = calling(player, Outside())
    acted = await batch.act([call("echo", "../x")], 0)

    assert host.asked == []
    (part,) = acted.told[0].parts
    assert isinstance(part, Text)
    assert part.text.startswith("error (path_refused): ")
