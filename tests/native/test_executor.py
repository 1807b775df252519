"""The loop from its first event to its last, with scripts for models."""

import asyncio
from typing import NoReturn, TypeVar

import pytest

from runwire.host import Failed, Finished, ModelRewrite, RunHost, Said
from runwire.journal.artifact import ArtifactMeta, NewArtifact
from runwire.native.direct import DirectExecutor
from runwire.native.errors import ModelFault
from runwire.native.executor import AgentLoop, Pacing
from runwire.native.loop.state import Assistant, Image, Text, Told, Usage, User
from runwire.native.models.model import Model
from runwire.native.tools.tool import ToolContext, ToolResult, Unavailable
from runwire.protocol.events.agent import AgentUnparsed
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantToolCallProposed
from runwire.protocol.events.cost import CostBudgetExceeded, CostBudgetWarning, CostTick
from runwire.protocol.events.error import ErrorModelCapabilityMissing, ErrorToolUnavailable, ErrorUpstream
from runwire.protocol.events.experimental import AssistantMedia, AssistantThinkingComplete
from runwire.protocol.events.policy import PolicyModelRewrote, PolicyToolBlocked
from runwire.protocol.events.tool import ToolCompleted, ToolFailed
from runwire.protocol.events.turn import TurnCompleted, TurnFailed, TurnStarted
from runwire.protocol.events.user import UserAttachment
from runwire.protocol.payload import Payload
from runwire.protocol.stream import is_delta
from runwire.testing.clock import ManualClock
from runwire.testing.host import FakeHost
from runwire.workspace.errors import WorkspaceInvalid
from tests.native.playing import Played, Player, Probe, ProbeInput, Script, Tools, with_facts
from tests.spec import spec

Kind = TypeVar("Kind", bound=Payload)

SAY = {"name": "echo", "input": {"word": "ho"}}


def told(played: Played, kind: type[Kind]) -> list[Kind]:
    return [payload for payload in played.host.payloads if isinstance(payload, kind)]


@spec("LIF-1", "LIF-2", "LIF-6")
async def test_a_plain_turn_is_told_in_order(player: Player) -> None:
    played = await player.play(Script({"text": "All is well, and this is long.", "usage": {"input": 10, "output": 5}}))

    assert played.ended == Finished("All is well, and this is long.")
    assert played.host.types == [
        "run.queued",
        "user.message",
        "run.started",
        "turn.started",
        "assistant.text_complete",
        "assistant.final_answer",
        "turn.completed",
        "cost.tick",
        "run.checkpoint_saved",
        "run.finished",
    ]
    assert played.breaches() == []


@spec("LIF-3")
async def test_a_turn_with_tools_goes_on_with_what_they_said(player: Player) -> None:
    played = await player.play(Script({"text": "Wait.", "tools": [SAY]}, {"text": "It said ho."}))

    assert played.ended == Finished("It said ho.")
    assert played.host.types[3:14] == [
        "turn.started",
        "assistant.text_complete",
        "assistant.tool_call_proposed",
        "turn.completed",
        "cost.tick",
        "run.checkpoint_saved",
        "tool.invoked",
        "tool.started",
        "tool.completed",
        "turn.started",
        "assistant.text_complete",
    ]
    (proposed,) = told(played, AssistantToolCallProposed)
    (completed,) = told(played, ToolCompleted)
    assert completed.output == "ho"
    assert Told(proposed.tool_call_id, (Text("ho"),)) in played.loop.state.messages
    assert [turn.stop_reason for turn in told(played, TurnCompleted)] == ["tool_use", "end_turn"]
    assert played.breaches() == []


async def test_a_long_result_is_told_out_of_its_artifact(player: Player) -> None:
    call = {"name": "echo", "input": {"word": "0123456789", "count": 5_000}}
    played = await player.play(Script({"tools": [call]}, {"text": "done"}))

    (completed,) = told(played, ToolCompleted)
    assert completed.output is not completed.result_artifact_id
    assert isinstance(completed.result_artifact_id, str)
    (message,) = [one for one in played.loop.state.messages if isinstance(one, Told)]
    (part,) = message.parts
    assert isinstance(part, Text)
    assert f"artifact_read {completed.result_artifact_id} shows them" in part.text
    assert len(part.text) < 25_000


async def test_a_picture_that_a_tool_made_is_shown_to_the_model(player: Player) -> None:
    async def look(_: ProbeInput, context: ToolContext) -> ToolResult:
        meta = ArtifactMeta(mime="image/png", summary="a picture")
        draft = await context.host.draft(NewArtifact("image", meta), b"\x89PNG\r\n\x1a\nrest")
        return ToolResult(summary="looked", output="here it is", images=[draft])

    played = await player.play(Script({"tools": [SAY]}, {"text": "nice"}), Probe(doing=look))

    (message,) = [one for one in played.loop.state.messages if isinstance(one, Told)]
    assert isinstance(message.parts[1], Image)
    assert message.parts[1].mime == "image/png"


async def test_calls_that_make_no_sense_are_told_as_errors(player: Player) -> None:
    played = await player.play(
        Script(
            {
                "tools": [
                    {"name": "nothing", "input": {}},
                    {"name": "echo", "input": {"wrod": "ho"}},
                    {"name": "echo", "arguments": "{not json"},
                    {"name": "web_search", "input": {}},
                ]
            },
            {"text": "sorry"},
        ),
        unavailable=[Unavailable(tool_name="web_search", reason="no_provider_configured", asked_for=False)],
    )

    assert [failed.code for failed in told(played, ToolFailed)] == [
        "unknown_tool",
        "invalid_input",
        "invalid_input",
        "tool_unavailable",
    ]
    assert "wrod" in told(played, ToolFailed)[1].message
    assert all(one.is_error for one in played.loop.state.messages if isinstance(one, Told))
    assert played.breaches() == []


async def test_a_tool_that_is_missing_is_told_when_a_model_asks_for_it(player: Player) -> None:
    search = {"name": "web_search", "input": {}}
    missing = [Unavailable(tool_name="web_search", reason="no_provider_configured", asked_for=False)]
    quiet = await player.play(Script({"text": "ok"}), unavailable=missing)
    loud = await player.play(Script({"tools": [search]}, {"tools": [search]}, {"text": "ok"}), unavailable=missing)

    assert told(quiet, ErrorToolUnavailable) == []
    assert [one.reason for one in told(loud, ErrorToolUnavailable)] == ["no_provider_configured"]
    assert loud.host.types.index("error.tool_unavailable") < loud.host.types.index("tool.invoked")
    assert loud.breaches() == []


async def test_a_server_that_the_task_named_and_nobody_reaches_is_told_at_the_start(player: Player) -> None:
    missing = [Unavailable(tool_name="mcp__files", reason="server_unreachable")]
    call = {"name": "mcp__files__read", "input": {}}
    played = await player.play(Script({"tools": [call]}, {"text": "ok"}), unavailable=missing)

    types = played.host.types
    assert types.index("error.tool_unavailable") < types.index("turn.started")
    assert types.count("error.tool_unavailable") == 1
    assert [one.code for one in told(played, ToolFailed)] == ["tool_unavailable"]


async def test_a_tool_that_breaks_does_not_break_the_run(player: Player) -> None:
    async def broken(_: ProbeInput, __: ToolContext) -> ToolResult:
        raise ZeroDivisionError

    played = await player.play(Script({"tools": [SAY]}, {"text": "so be it"}), Probe(doing=broken))

    assert played.ended == Finished("so be it")
    assert [failed.code for failed in told(played, ToolFailed)] == ["internal_error"]


async def test_every_failed_attempt_is_told_and_waited_out(player: Player) -> None:
    error = {"status": 529, "message": "overloaded", "times": 2}
    played = await player.play(Script({"text": "at last", "error": error}))

    assert played.ended == Finished("at last")
    assert [(one.attempt, one.status, one.max_attempts) for one in told(played, ErrorUpstream)] == [
        (1, 529, 3),
        (2, 529, 3),
    ]
    assert [one.will_retry for one in told(played, TurnFailed)] == [True, True]
    assert [one.turn_index for one in told(played, TurnStarted)] == [0, 0, 0]
    assert played.slept == [1.0, 2.0]
    assert played.breaches() == []


async def test_a_provider_says_how_long_to_wait(player: Player) -> None:
    error = {"status": 429, "message": "slow down", "times": 1, "retry_after_s": 7}
    played = await player.play(Script({"text": "ok", "error": error}))

    assert played.slept == [7.0]


async def test_a_model_that_never_answers_ends_the_run(player: Player) -> None:
    played = await player.play(Script({"error": {"status": 503, "message": "gone"}}))

    assert isinstance(played.ended, Failed)
    assert (played.ended.code, played.ended.retriable) == ("model_unreachable", True)
    assert [one.will_retry for one in told(played, TurnFailed)] == [True, True, False]
    assert played.breaches() == []


async def test_a_model_that_refuses_us_is_not_asked_again(player: Player) -> None:
    played = await player.play(Script({"error": {"status": 401, "message": "who are you"}}))

    assert isinstance(played.ended, Failed)
    assert (played.ended.code, played.ended.retriable) == ("auth_failed", False)
    assert len(told(played, ErrorUpstream)) == 1


@spec("LIF-6")
async def test_an_answer_that_breaks_off_is_streamed_anew(player: Player) -> None:
    error = {"status": 529, "message": "oops", "times": 1, "mid_stream": True}
    played = await player.play(Script({"text": "A sentence that is cut in its middle.", "error": error}))

    assert played.ended == Finished("A sentence that is cut in its middle.")
    assert played.breaches() == []


async def test_a_script_that_is_over_ends_the_run(player: Player) -> None:
    played = await player.play(Script({"tools": [SAY]}))

    assert isinstance(played.ended, Failed)
    assert played.ended.code == "script_exhausted"
    assert told(played, ErrorUpstream) == []
    assert [one.code for one in told(played, TurnFailed)] == ["script_exhausted"]


async def test_thinking_is_told_only_when_asked_for(player: Player) -> None:
    script = Script({"thinking": "hm, let me see", "text": "yes"})
    quiet = await player.play(script)
    names = frozenset({"assistant.thinking_delta", "assistant.thinking_complete"})
    loud = await player.play(script, facts=with_facts(player, experimental=names))

    assert told(quiet, AssistantThinkingComplete) == []
    assert [(one.text, one.signature) for one in told(loud, AssistantThinkingComplete)] == [
        ("hm, let me see", "scripted")
    ]
    assert loud.breaches() == []


async def test_tool_input_and_media_are_told_only_when_asked_for(player: Player) -> None:
    media = [{"mime": "image/png", "base64": "iVBORw0KGgo="}]
    script = Script({"tools": [SAY], "media": media}, {"text": "ok"})
    names = frozenset({"assistant.tool_input_delta", "assistant.media"})
    quiet = await player.play(script)
    loud = await player.play(script, facts=with_facts(player, experimental=names))

    assert not any(payload.type in names for payload in quiet.host.payloads)
    pieces = [payload for payload in loud.host.payloads if payload.type == "assistant.tool_input_delta"]
    assert pieces
    (shown,) = told(loud, AssistantMedia)
    assert shown.artifact_id in loud.host.artifacts
    assert loud.breaches() == []


async def test_a_model_without_tools_is_asked_for_json(player: Player) -> None:
    script = Script(
        {"text": '{"tool": "echo", "input": {"word": "ho"}}'},
        {"text": '{"tool": "echo", '},
        {"text": "It said ho."},
        capabilities={"tool_use": False},
    )
    played = await player.play(script)

    (lacking,) = told(played, ErrorModelCapabilityMissing)
    assert (lacking.missing_capability, lacking.fallback_strategy) == ("tool_use", "prompt_simulated_json")
    assert [one.output for one in told(played, ToolCompleted)] == ["ho"]
    (unparsed,) = told(played, AgentUnparsed)
    assert unparsed.raw == '{"tool": "echo", '
    assert played.ended == Finished("It said ho.")
    assert played.breaches() == []


async def test_a_model_is_replaced_where_a_rule_says_so(player: Player) -> None:
    rule = ModelRewrite(from_="scripted:*", to="scripted:cheap", reason="it costs less")
    played = await player.play(Script({"tools": [SAY]}, {"text": "ok"}), facts=with_facts(player, rewrites=(rule,)))

    (rewrote,) = told(played, PolicyModelRewrote)
    assert (rewrote.from_model, rewrote.to_model, rewrote.reason) == (
        "scripted:test",
        "scripted:cheap",
        "it costs less",
    )
    assert played.host.types.index("policy.model_rewrote") < played.host.types.index("turn.started")


async def test_spending_is_told_warned_of_and_halted_before_the_next_call(player: Player) -> None:
    script = Script(
        {"tools": [SAY], "cost_micros_usd": 400},
        {"tools": [SAY], "cost_micros_usd": 450},
        {"tools": [SAY], "cost_micros_usd": 200},
        {"text": "never said"},
    )
    played = await player.play(script, facts=with_facts(player, budget_micros_usd=1_000, spent_before_micros_usd=10))

    assert [one.cumulative_cost_micros_usd for one in told(played, CostTick)] == [400, 850, 1_050]
    assert [one.task_budget_remaining_micros_usd for one in told(played, CostTick)] == [590, 140, -60]
    assert [one.cumulative_cost_micros_usd for one in told(played, CostBudgetWarning)] == [860]
    (exceeded,) = told(played, CostBudgetExceeded)
    assert (exceeded.cumulative_cost_micros_usd, exceeded.action) == (1_060, "halted")
    assert [one.policy_id for one in told(played, PolicyToolBlocked)] == ["budget"]
    assert isinstance(played.ended, Failed)
    assert played.ended.code == "budget_exceeded"
    assert len(told(played, ToolCompleted)) == 2
    assert played.breaches() == []


async def test_a_run_whose_task_has_no_money_left_calls_no_model(player: Player) -> None:
    facts = with_facts(player, budget_micros_usd=100, spent_before_micros_usd=100)
    played = await player.play(Script({"text": "never"}), facts=facts)

    assert told(played, TurnStarted) == []
    assert isinstance(played.ended, Failed)
    assert played.ended.code == "budget_exceeded"


async def test_a_run_that_takes_too_many_turns_fails(player: Player) -> None:
    script = Script(*[{"tools": [SAY]} for _ in range(5)])
    played = await player.play(script, facts=with_facts(player, max_turns=3))

    assert isinstance(played.ended, Failed)
    assert played.ended.code == "max_turns"
    assert len(told(played, TurnStarted)) == 3


async def test_what_a_person_says_is_heard_before_the_next_turn(player: Player) -> None:
    host = FakeHost(facts=player.facts)

    async def interrupt(given: ProbeInput, _: ToolContext) -> ToolResult:
        host.waiting.append(Said("use the other file", "ann", "message"))
        return ToolResult(summary="said", output=given.word)

    played = await player.play(Script({"tools": [SAY]}, {"text": "ok"}), Probe(doing=interrupt), host=host)

    assert User((Text("use the other file"),)) in played.loop.state.messages
    types = played.host.types
    assert types[types.index("tool.completed") + 1 :][:2] == ["user.message", "turn.started"]


async def test_a_run_that_wants_to_finish_goes_on_when_somebody_speaks(player: Player) -> None:
    class Interrupting(FakeHost):
        """Somebody speaks up when the first turn is over."""

        async def checkpoint(self) -> str:
            if self.types.count("turn.completed") == 1:
                self.waiting.append(Said("one more thing", "ann", "message"))
            return await super().checkpoint()

    script = Script({"text": "I am done."}, {"text": "Now I really am."})
    played = await player.play(script, host=Interrupting(facts=player.facts))

    assert played.ended == Finished("Now I really am.")
    assert len(told(played, AssistantFinalAnswer)) == 2


async def test_a_full_window_is_compacted(player: Player) -> None:
    call = {"name": "echo", "input": {"word": "w" * 100, "count": 30}}
    turns = [{"tools": [call], "usage": {"input": tokens, "output": 10}} for tokens in (100, 900, 1_700, 2_500)]
    script = Script(*turns, {"text": "the story so far"}, {"text": "done"}, capabilities={"window_tokens": 4_000})
    played = await player.play(script)

    assert played.ended == Finished("done")
    assert [turn.stop_reason for turn in told(played, TurnCompleted)] == ["tool_use"] * 4 + ["compaction", "end_turn"]
    first = played.loop.state.messages[0]
    assert isinstance(first, User)
    assert first.parts[0] == Text("do it")
    assert isinstance(first.parts[1], Text)
    assert "the story so far" in first.parts[1].text
    assert sum(isinstance(one, Assistant) for one in played.loop.state.messages) == 3
    assert played.breaches() == []


async def test_an_overflowing_window_is_compacted_once(player: Player) -> None:
    overflow = {"status": 400, "message": "maximum context length exceeded"}
    script = Script({"tools": [SAY]}, {"error": overflow, "text": ""})
    played = await player.play(script)

    assert isinstance(played.ended, Failed)
    assert played.ended.code == "context_overflow"
    assert [one.code for one in told(played, TurnFailed)] == ["context_overflow", "context_overflow"]
    assert [one.will_retry for one in told(played, TurnFailed)] == [True, False]


async def test_attached_pictures_reach_a_model_that_can_see(player: Player) -> None:
    host = FakeHost(facts=player.facts)
    draft = await host.draft(NewArtifact("image", ArtifactMeta(mime="image/png")), b"\x89PNG\r\n")
    artifact_id = draft.artifact.artifact_id
    host.emit(UserAttachment(turn_index=0, kind="image", mime="image/png", artifact_id=artifact_id), kept=[draft])
    played = await player.play(Script({"text": "I see"}), host=host)

    assert played.loop.state.messages[0] == User((Text("do it"), Image(artifact_id, "image/png")))
    assert played.loop._hearing._images == {artifact_id: b"\x89PNG\r\n"}


async def test_a_model_that_cannot_see_is_said_to_be_blind(player: Player) -> None:
    host = FakeHost(facts=player.facts)
    host.emit(UserAttachment(turn_index=0, kind="image", mime="image/png", artifact_id="art_x"))
    played = await player.play(Script({"text": "?"}, capabilities={"images": False}), host=host)

    assert [one.missing_capability for one in told(played, ErrorModelCapabilityMissing)] == ["images"]


async def test_known_secrets_do_not_reach_the_model(player: Player) -> None:
    host = FakeHost(facts=player.facts)
    host.secrets = {"hunter2": "[redacted:password]"}
    call = {"name": "echo", "input": {"word": "hunter2"}}
    played = await player.play(Script({"tools": [call]}, {"text": "ok"}), host=host)

    (message,) = [one for one in played.loop.state.messages if isinstance(one, Told)]
    assert message.parts == (Text("[redacted:password]"),)


async def test_a_run_that_is_stopped_leaves_its_end_to_the_supervisor(player: Player) -> None:
    began = asyncio.Event()

    async def hang(_: ProbeInput, __: ToolContext) -> ToolResult:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    host = FakeHost(facts=player.facts)
    prepared = player.prepare(Script({"tools": [SAY, SAY]}), Probe(doing=hang), host=host)
    running = asyncio.create_task(prepared.loop.run())
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert host.types[-1] == "tool.started"


async def test_a_model_that_cannot_be_had_fails_the_run(player: Player) -> None:
    class NoModels:
        def model(self, name: str) -> Model:
            raise ModelFault("model_unknown", f"there is no {name}")

        def price(self, model: Model, usage: Usage) -> int | None:
            raise AssertionError((model, usage))

    executor = AgentLoop(
        models=NoModels(),
        toolbox=Tools(player.root),
        clock=ManualClock(),
        ids=Script().ids,
        pacing=Pacing(rng=lambda: 0.0),
    )

    assert await executor.run(FakeHost(facts=player.facts)) == Failed("model_unknown", "there is no scripted:test")


async def test_the_executor_plays_a_whole_run(player: Player) -> None:
    script = Script({"tools": [SAY]}, {"text": "ok"})
    executor = AgentLoop(
        models=script,
        toolbox=Tools(player.root),
        clock=ManualClock(),
        ids=script.ids,
        pacing=Pacing(rng=lambda: 0.0),
    )
    host = FakeHost(facts=player.facts)

    assert await executor.run(host) == Finished("ok")
    assert any(is_delta(payload) for payload in host.payloads)


async def test_a_workspace_that_is_gone_fails_the_run(player: Player) -> None:
    class Gone(Tools):
        def open(self, host: RunHost) -> NoReturn:
            raise WorkspaceInvalid(str(host.facts.workspace), "is gone")

    script = Script({"text": "never"})
    agent_loop = AgentLoop(
        models=script,
        toolbox=Gone(player.root),
        clock=ManualClock(),
        ids=script.ids,
        pacing=Pacing(rng=lambda: 0.0),
    )
    direct = DirectExecutor(toolbox=Gone(player.root), clock=ManualClock())

    for executor, kind in ((agent_loop, "agent_loop"), (direct, "shell")):
        ended = await executor.run(FakeHost(facts=with_facts(player, kind=kind)))
        assert isinstance(ended, Failed)
        assert ended.code == "workspace_invalid"
