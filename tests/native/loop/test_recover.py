"""What the loop knew is what its log tells: cut anywhere, taken up by another, resumed by another run."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from runwire.host import Go, ModelRewrite, No, Past, RunFacts, Said, ToolAsk, Verdict
from runwire.native.loop.recover import mime_of, recover, unsettled, wanted
from runwire.native.loop.state import Assistant, Text, Told
from runwire.native.tools.tool import ToolContext, ToolResult
from runwire.protocol.catalogue import TERMINAL
from runwire.protocol.events.approval import ApprovalRequested, ApprovalResolved
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.run import RunQueued, RunResumedFromEvent, RunStarted
from runwire.protocol.events.tool import ToolCompleted, ToolFailed, ToolInvoked
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.payload import Payload
from runwire.testing.host import Decide, FakeHost, allow
from tests.native.playing import WRITES, Played, Player, Probe, ProbeInput, Script, with_facts
from tests.spec import spec

SAY: dict[str, object] = {"name": "echo", "input": {"word": "ho"}}
LONG: dict[str, object] = {"name": "echo", "input": {"word": "0123456789", "count": 3_000}}
WRITE: dict[str, object] = {"name": "write", "input": {"word": "ink"}}
FAIL: dict[str, object] = {"name": "fail", "input": {"word": "no"}}
BAD: dict[str, object] = {"name": "echo", "arguments": "{"}
STRANGE: dict[str, object] = {"name": "nothing", "input": {}}
ALL_NAMES = frozenset(
    {"assistant.thinking_delta", "assistant.thinking_complete", "assistant.tool_input_delta", "assistant.media"}
)


async def failing(given: ProbeInput, _: ToolContext) -> ToolResult:
    return ToolResult(summary=f"cannot {given.word}", output="why: because", outcome="failed", code="nonzero_exit")


TOOLS = (Probe(), Probe(name="write", effects=WRITES), Probe(name="fail", doing=failing))


async def denying(ask: ToolAsk) -> Verdict:
    return No("not today") if ask.tool_name == "write" else Go(ask.input, None)


async def stopping(ask: ToolAsk) -> Verdict:
    return No("stop it", stop=True) if ask.tool_name == "write" else Go(ask.input, None)


async def changing(ask: ToolAsk) -> Verdict:
    return Go({"word": "changed"}, "ann") if ask.tool_name == "write" else Go(ask.input, None)


class Talking(FakeHost):
    """Somebody says something after the first turn."""

    async def checkpoint(self) -> str:
        if self.types.count("turn.completed") == 1:
            self.waiting.append(Said("and mind the gap", "ann", "message"))
        return await super().checkpoint()


def tools(*calls: dict[str, object], **more: object) -> dict[str, object]:
    return {"text": "Let me see.", "tools": list(calls), "usage": {"input": 10, "output": 3}, **more}


SCENARIOS: dict[str, tuple[Callable[[], Script], Decide, dict[str, object]]] = {
    "plain": (lambda: Script({"text": "hello"}, {"text": "done"}), allow, {}),
    "tools": (lambda: Script(tools(SAY, WRITE, FAIL), tools(LONG, SAY), {"text": "done"}), allow, {}),
    "nonsense": (lambda: Script(tools(BAD, STRANGE, SAY), {"text": "done"}), allow, {}),
    "denied": (lambda: Script(tools(SAY, WRITE), {"text": "done"}), denying, {}),
    "denied and stopped": (lambda: Script(tools(WRITE), {"text": "never"}), stopping, {}),
    "changed": (lambda: Script(tools(WRITE, SAY), {"text": "done"}), changing, {}),
    "retried": (
        lambda: Script(tools(SAY, error={"status": 529, "message": "busy", "times": 2}), {"text": "done"}),
        allow,
        {},
    ),
    "given up": (lambda: Script(tools(SAY), {"error": {"status": 500, "message": "gone"}}), allow, {}),
    "exhausted": (lambda: Script(tools(SAY)), allow, {}),
    "thinking": (
        lambda: Script(
            tools(SAY, thinking="hm", media=[{"mime": "image/png", "base64": "iVBORw0KGgo="}]), {"text": "done"}
        ),
        allow,
        {"experimental": ALL_NAMES},
    ),
    "simulated": (
        lambda: Script(
            {"text": '{"tool": "echo", "input": {"word": "ho"}}'},
            {"text": '{"tool": '},
            {"text": "done"},
            capabilities={"tool_use": False},
        ),
        allow,
        {},
    ),
    "rewritten": (
        lambda: Script(tools(SAY), {"text": "done"}),
        allow,
        {"rewrites": (ModelRewrite(from_="*", to="scripted:other"),)},
    ),
    "spent": (
        lambda: Script(*[tools(SAY, WRITE, cost_micros_usd=450) for _ in range(4)]),
        allow,
        {"budget_micros_usd": 1_000},
    ),
    "too many turns": (lambda: Script(*[tools(SAY) for _ in range(4)]), allow, {"max_turns": 2}),
    "compacted": (
        lambda: Script(
            *[tools(LONG, usage={"input": tokens, "output": 9}) for tokens in (900, 1_700, 2_500)],
            {"text": "the story so far"},
            {"text": "done"},
            capabilities={"window_tokens": 6_000},
        ),
        allow,
        {},
    ),
}


async def whole(player: Player, name: str) -> tuple[Played, Script]:
    """A run of a scenario that nothing disturbed."""
    make, decide, changes = SCENARIOS[name]
    script = make()
    host = Talking(facts=with_facts(player, **changes), decide=decide)
    return await player.play(script, *TOOLS, host=host), script


def bodies(host: FakeHost, past: Sequence[Past]) -> dict[str, bytes]:
    return {artifact_id: host.artifacts[artifact_id][1] for artifact_id in wanted(past)}


async def rebuilt(played: Played) -> object:
    past = await played.host.past()
    return recover(past, played.loop.rules, bodies(played.host, past))


def settling(past: Sequence[Past], run_id: str) -> list[Payload]:
    """What a worker writes that takes over a run from one that was lost."""
    turns: dict[int, None] = {}
    approvals: dict[str, None] = {}
    for event in past:
        match event.payload:
            case TurnStarted(turn_index=turn):
                turns[turn] = None
            case TurnCompleted(turn_index=turn) | TurnFailed(turn_index=turn):
                turns.pop(turn)
            case ApprovalRequested(approval_id=approval):
                approvals[approval] = None
            case ApprovalResolved(approval_id=approval):
                approvals.pop(approval)
            case _:
                pass
    ends: list[Payload] = [*unsettled(past, run_id)]
    ends += [ApprovalResolved(approval_id=one, decision="denied", by="nobody") for one in approvals]
    ends += [TurnFailed(turn_index=turn, code="worker_lost", message="lost", will_retry=True) for turn in turns]
    gap = GapRunDisconnected(since_sequence=len(past) - 1, since_at="2026-05-03T09:23:45Z", reason="lost")
    return [gap, *ends, RunStarted(worker_id="worker-2")]


def taken_over(played: Played, cut: int, decide: Decide) -> FakeHost:
    """The run as another worker finds it after the first one died behind `cut` events."""
    host = FakeHost(facts=replace(played.host.facts, fresh=False), past=played.host.log[:cut], decide=decide)
    host.artifacts = dict(played.host.artifacts)
    host.spend(sum(p.cost_micros_usd for p in host.payloads if isinstance(p, TurnCompleted)))
    host.emit(*settling(host.log, host.facts.run_id))
    return host


@pytest.mark.parametrize("name", SCENARIOS)
@spec("LIF-1", "LIF-2", "LIF-3", "LIF-4", "LIF-5", "LIF-6")
async def test_a_whole_log_gives_back_the_final_state(player: Player, name: str) -> None:
    played, _ = await whole(player, name)

    assert played.breaches() == []
    assert await rebuilt(played) == played.loop.state


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_run_that_was_cut_anywhere_is_carried_to_a_lawful_end(player: Player, name: str) -> None:
    first, script = await whole(player, name)
    decide = SCENARIOS[name][1]

    for cut in range(3, len(first.host.log)):
        host = taken_over(first, cut, decide)
        begun = [payload.tool_call_id for payload in host.payloads if isinstance(payload, ToolInvoked)]
        played = await player.play(script, *TOOLS, host=host)

        assert played.breaches() == [], cut
        assert await rebuilt(played) == played.loop.state, cut
        assert type(played.ended) is type(first.ended), cut
        again = [payload.tool_call_id for payload in host.payloads if isinstance(payload, ToolInvoked)]
        assert len(again) == len(set(again)), f"a call that began was begun again behind {cut}: {begun}"


@pytest.mark.parametrize("name", SCENARIOS)
async def test_another_run_resumes_from_anywhere(player: Player, name: str) -> None:
    first, script = await whole(player, name)
    decide, before = SCENARIOS[name][1], first.host.facts.run_id
    facts = replace(first.host.facts, run_id="run_00000000000000000000000001")

    for cut in range(2, len(first.host.log)):
        host = FakeHost(facts=facts, past=first.host.log, decide=decide)
        host.artifacts = dict(first.host.artifacts)
        resumed = RunResumedFromEvent(from_run_id=before, from_sequence=cut, prior_cost_micros_usd=0)
        host.emit(resumed, _queued(facts), RunStarted(worker_id="worker-1"))
        played = await player.play(script, *TOOLS, host=host)

        assert played.breaches() == [], cut
        assert await rebuilt(played) == played.loop.state, cut


def _queued(facts: RunFacts) -> RunQueued:
    return RunQueued(
        kind=facts.kind,
        model="test",
        provider="scripted",
        workspace_path=None,
        workspace_mode=None,
        prior_run_id="run_x",
    )


_CALLS = st.sampled_from([SAY, LONG, WRITE, FAIL, BAD, STRANGE])
_ERRORS = st.none() | st.fixed_dictionaries(
    {
        "status": st.sampled_from([429, 500, 529]),
        "message": st.just("busy"),
        "times": st.integers(0, 3),
        "mid_stream": st.booleans(),
    }
)
_TURNS = st.fixed_dictionaries(
    {
        "text": st.text(max_size=60).filter(str.isprintable),
        "tools": st.lists(_CALLS, max_size=3),
        "error": _ERRORS,
        "cost_micros_usd": st.integers(0, 300),
        "usage": st.fixed_dictionaries({"input": st.integers(0, 900), "output": st.integers(0, 90)}),
    }
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    turns=st.lists(_TURNS, min_size=1, max_size=4),
    decide=st.sampled_from([allow, denying, stopping, changing]),
    window=st.sampled_from([1_000, 200_000]),
    at=st.floats(0, 1),
)
def test_any_conversation_survives_a_crash_anywhere(
    tmp_path: Path, turns: list[dict[str, object]], decide: Decide, window: int, at: float
) -> None:
    async def live() -> None:
        player = Player(tmp_path)
        try:
            script = Script(*turns, capabilities={"window_tokens": window})
            host = Talking(facts=with_facts(player, budget_micros_usd=800, max_turns=8), decide=decide)
            first = await player.play(script, *TOOLS, host=host)
            assert first.breaches() == []
            assert await rebuilt(first) == first.loop.state
            cut = 3 + round(at * (len(first.host.log) - 4))
            assert first.host.log[cut - 1].payload.type not in TERMINAL
            second = await player.play(script, *TOOLS, host=taken_over(first, cut, decide))
            assert second.breaches() == []
            assert await rebuilt(second) == second.loop.state
        finally:
            player.root.close()

    asyncio.run(live())


async def test_a_call_that_began_is_told_as_interrupted_to_a_run_that_resumes_behind_it(player: Player) -> None:
    first, _ = await whole(player, "tools")
    cut = first.host.types.index("tool.started")
    kept = list(await first.host.past())[: cut + 1]
    later = Past("run_2", 0, "evt_x", 0, RunStarted(worker_id="w"))

    state = recover([*kept, later], first.loop.rules, {})

    texts = [one.parts[0].text for one in state.messages if isinstance(one, Told) and isinstance(one.parts[0], Text)]
    assert texts[0].startswith("error (interrupted): its effect may have happened")
    assert texts[-1].startswith("error (not_run)")
    assert state.calls == ()
    assert (state.turn, state.cost_micros_usd, state.answered) == (0, 0, 1)


async def test_a_call_that_nobody_settled_is_settled_before_the_run_goes_on(player: Player) -> None:
    first, script = await whole(player, "denied")
    cut = next(at for at, p in enumerate(first.host.payloads) if p.type == "tool.started") + 1
    host = FakeHost(facts=first.host.facts, past=first.host.log[:cut], decide=denying)

    played = await player.play(script, *TOOLS, host=host)

    (failed,) = [payload for payload in played.host.payloads if isinstance(payload, ToolFailed)]
    assert failed.code == "interrupted"
    assert played.breaches() == []


async def test_of_calls_at_once_only_those_that_nobody_settled_are_settled(player: Player) -> None:
    first, _ = await whole(player, "tools")
    invoked = [one for one in await first.host.past() if isinstance(one.payload, ToolInvoked)][:2]
    over = next(one for one in await first.host.past() if isinstance(one.payload, ToolCompleted))
    assert isinstance(over.payload, ToolCompleted)

    left = unsettled([*invoked, over], first.host.facts.run_id)

    calls = {one.payload.tool_call_id for one in invoked if isinstance(one.payload, ToolInvoked)}
    assert {one.tool_call_id for one in left} == calls - {over.payload.tool_call_id}
    assert len(left) == 1


async def test_what_a_run_did_behind_the_place_where_another_takes_it_up_does_not_count(player: Player) -> None:
    first, _ = await whole(player, "tools")
    past = list(await first.host.past())
    cut = next(one.sequence for one in past if isinstance(one.payload, TurnCompleted))
    before = first.host.facts.run_id
    resumed = RunResumedFromEvent(from_run_id=before, from_sequence=cut, prior_cost_micros_usd=0)
    later = Past("run_2", 0, "evt_x", 0, resumed)

    state = recover([*past, later], first.loop.rules, bodies(first.host, past))

    assert state == recover([*(one for one in past if one.sequence <= cut), later], first.loop.rules, {})
    assert state.answered == 1
    assert state.phase != "over"


async def test_a_conversation_that_ends_with_the_models_own_words_is_nudged_on(player: Player) -> None:
    first, _ = await whole(player, "plain")
    facts = replace(first.host.facts, run_id="run_00000000000000000000000001")
    host = FakeHost(facts=facts, past=first.host.log)
    host.emit(_queued(facts), RunStarted(worker_id="w"))

    played = await player.play(Script({"text": "never"}, {"text": "nor this"}, {"text": "again"}), host=host)

    answers = [one for one in played.loop.state.messages if isinstance(one, Assistant)]
    assert len(answers) == 3
    assert await rebuilt(played) == played.loop.state


@pytest.mark.parametrize(
    ("body", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF....WEBP", "image/webp"),
        (b"hello", None),
    ],
)
def test_pictures_are_known_by_how_they_begin(body: bytes, mime: str | None) -> None:
    assert mime_of(body) == mime
