"""The pane: what an agent is doing, and whether a person should look."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.protocol.events.agent import LATE, AgentState, AgentStateChanged, AgentUnparsed
from runwire.protocol.events.assistant import AssistantFinalAnswer, AssistantToolCallProposed
from runwire.protocol.events.cost import CostTick
from runwire.protocol.events.experimental import AssistantThinkingDelta
from runwire.protocol.events.gap import GapRunDisconnected
from runwire.protocol.events.run import RunCancelled, RunFailed
from runwire.protocol.events.shell import ShellCommand, ShellOutputChunk
from runwire.protocol.events.tool import ToolInvoked
from runwire.protocol.events.turn import TurnFailed
from runwire.protocol.events.user import UserMessage
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.state.pane import DOING_MAX, STALL_WINDOW_NS, Glance, PaneState, concerns, fold, glance, stalled
from tests.protocol.logs import (
    FINISHED,
    QUEUED,
    SECOND_NS,
    START_NS,
    STARTED,
    WHOLE_RUN,
    approved,
    asked,
    complete,
    delta,
    fold_pane,
    invoked,
    tool_completed,
    turn_completed,
    turn_started,
)
from tests.spec import spec

FAILED = RunFailed(code="model_unreachable", message="529 after 3 retries", turns=2)
STOPPED = TurnFailed(turn_index=0, code="model_timeout", message="no response in 60s")
LOST = GapRunDisconnected(since_sequence=3, since_at="t", reason="worker_lease_expired")
CALL = AssistantToolCallProposed(turn_index=0, tool_call_id="call_a", tool_name="grep", input={})
COMMAND = ShellCommand(tool_call_id="call_a", argv=["go", "test"], cwd="/", env_keys=[], sandbox_layer="none")
OUTPUT = ShellOutputChunk(tool_call_id="call_a", stream="stdout", data="ok", byte_offset=0)


def changed(to: AgentState, reason: str = "") -> AgentStateChanged:
    return AgentStateChanged(from_="working", to=to, reason=reason)


EVENTS: list[Payload | Opaque] = [
    QUEUED,
    STARTED,
    turn_started(),
    turn_completed(),
    STOPPED,
    delta("x"),
    complete("x"),
    invoked(),
    COMMAND,
    OUTPUT,
    tool_completed(),
    asked("appr_a"),
    asked("appr_b"),
    approved("appr_a"),
    approved("appr_b"),
    changed("idle"),
    changed("blocked", "a question"),
    LOST,
    FINISHED,
    FAILED,
    Opaque.of("quantum.entangled", b"{}"),
]


@spec("STA-3")
@pytest.mark.parametrize(
    ("payloads", "state", "doing"),
    [
        ([], "idle", ""),
        ([QUEUED], "idle", "waiting for a worker"),
        ([STARTED], "working", "starting"),
        ([STARTED, UserMessage(turn_index=0, text="go on")], "working", "reading a message"),
        ([turn_started()], "working", "waiting for claude-sonnet-4-5"),
        ([AssistantThinkingDelta(turn_index=0, block_index=0, delta="hm")], "working", "thinking"),
        ([turn_started(), delta("a")], "working", "writing"),
        ([turn_started(), CALL], "working", "wants grep"),
        ([invoked()], "working", "shell_exec"),
        ([invoked(), COMMAND, OUTPUT], "working", "$ go test"),
        ([invoked(), tool_completed()], "working", "shell_exec completed"),
        ([AssistantFinalAnswer(turn_index=1, summary="3 files\nchanged")], "working", "3 files changed"),
        ([turn_started(), turn_completed()], "working", "waiting for claude-sonnet-4-5"),
        ([STARTED, asked()], "blocked", "waiting for a decision"),
        ([STARTED, asked(), delta("a"), QUEUED, LOST], "blocked", "waiting for a decision"),
        ([STARTED, asked("appr_a"), asked("appr_b"), approved("appr_a")], "blocked", "waiting for a decision"),
        ([STARTED, asked(), approved()], "working", "going on"),
        ([turn_started(), STOPPED], "error", "stopped"),
        ([turn_started(), STOPPED, turn_started()], "working", "waiting for claude-sonnet-4-5"),
        ([turn_started(), TurnFailed(turn_index=0, code="c", message="m", will_retry=True)], "working", "trying again"),
        ([STARTED, LOST], "idle", "waiting for a worker"),
        ([STARTED, changed("blocked", "asks for a password")], "blocked", "asks for a password"),
        ([STARTED, asked(), changed("working")], "blocked", "waiting for a decision"),
        ([STARTED, FINISHED], "done", "finished"),
        ([STARTED, RunCancelled(by="operator")], "done", "cancelled by operator"),
        ([STARTED, FAILED], "error", "failed"),
        ([STARTED, FAILED, STARTED, FINISHED], "error", "failed"),
        (WHOLE_RUN, "done", "finished"),
    ],
)
def test_the_state_follows_the_events(payloads: list[Payload | Opaque], state: AgentState, doing: str) -> None:
    pane = fold_pane(payloads)
    assert (pane.state, pane.doing) == (state, doing)


@given(payloads=st.lists(st.sampled_from(EVENTS), max_size=20))
def test_a_question_is_never_hidden_and_the_end_is_final(payloads: list[Payload | Opaque]) -> None:
    pane = PaneState()
    for at, payload in enumerate(payloads):
        after = fold(pane, payload, START_NS + at)
        assert not after.pending or after.state in ("blocked", "error")
        assert not pane.over or after is pane
        assert after.state == pane.state or after.since_ns == START_NS + at
        pane = after
    assert msgspec.json.decode(msgspec.json.encode(pane), type=PaneState) == pane


def test_since_is_when_the_state_was_entered_not_when_the_work_changed() -> None:
    pane = fold_pane([QUEUED, STARTED, turn_started(), delta("a"), invoked()])
    assert pane.since_ns == START_NS + SECOND_NS


def test_more_text_leaves_the_very_same_pane() -> None:
    pane = fold_pane([STARTED, delta("a")])
    assert fold(pane, delta("b"), START_NS) is pane
    assert fold(pane, Opaque.of("external.note", b"{}"), START_NS) is pane
    assert concerns("assistant.text_delta")
    assert not concerns("cost.budget_warning")


def test_a_long_line_is_cut() -> None:
    pane = fold_pane([ShellCommand(tool_call_id="c", argv=["x" * 5_000], cwd="/", env_keys=[], sandbox_layer="none")])
    assert len(pane.doing) == DOING_MAX
    assert pane.doing.endswith("…")


def test_cost_adds_up() -> None:
    tick = CostTick(
        cumulative_input_tokens=1,
        cumulative_output_tokens=1,
        cumulative_cost_micros_usd=9_000,
        task_budget_micros_usd=None,
        task_budget_remaining_micros_usd=None,
    )
    assert fold_pane([turn_started(), turn_completed(), turn_completed()]).cost_micros_usd == 8_240
    assert fold_pane([turn_started(), turn_completed(), tick]).cost_micros_usd == 9_000


@spec("STA-4")
def test_silence_for_the_whole_window_is_a_stall_unless_the_run_is_over() -> None:
    live, over = fold_pane([STARTED]), fold_pane([STARTED, FINISHED])
    late = START_NS + STALL_WINDOW_NS
    assert not stalled(live, last_event_ns=START_NS, now_ns=late - 1)
    assert stalled(live, last_event_ns=START_NS, now_ns=late)
    assert stalled(live, last_event_ns=START_NS, now_ns=START_NS + SECOND_NS, window_ns=SECOND_NS)
    assert not stalled(over, last_event_ns=START_NS, now_ns=late)


@spec("STA-4")
def test_a_tool_within_its_own_timeout_is_not_a_stall() -> None:
    slow = ToolInvoked(tool_call_id="c", tool_name="t", kind="shell", turn_index=0, timeout_ms=8 * 3600 * 1000)
    deadline = START_NS + 8 * 3600 * SECOND_NS
    pane = fold_pane([slow])
    assert not stalled(pane, last_event_ns=START_NS, now_ns=deadline - 1)
    assert stalled(pane, last_event_ns=START_NS, now_ns=deadline)
    assert stalled(fold_pane([invoked()]), last_event_ns=START_NS, now_ns=deadline)
    ended = fold_pane([slow, tool_completed("c")])
    assert stalled(ended, last_event_ns=START_NS, now_ns=deadline - 1)


@spec("STA-5")
@pytest.mark.parametrize(
    ("payloads", "silence_s", "attention", "reason"),
    [
        ([STARTED], 10, False, ""),
        ([STARTED, FINISHED], 10**6, False, ""),
        ([STARTED, asked()], 10, True, "rm -rf node_modules"),
        ([STARTED, FAILED], 10, True, "529 after 3 retries"),
        ([turn_started(), STOPPED], 10, True, "no response in 60s"),
        ([STARTED], 4 * 3600, True, "no event for 14400 s"),
        ([STARTED, asked()], 4 * 3600, True, "rm -rf node_modules"),
    ],
)
def test_a_person_should_look_at_errors_questions_and_stalls(
    payloads: list[Payload | Opaque], silence_s: int, attention: bool, reason: str
) -> None:
    seen = glance(
        fold_pane(payloads),
        last_event_type="run.started",
        last_event_ns=START_NS,
        now_ns=START_NS + silence_s * SECOND_NS,
    )
    assert (seen.attention, seen.reason) == (attention, reason)


def test_a_glance_shows_everything_at_once() -> None:
    pane = fold_pane([STARTED, turn_started(), turn_completed(), invoked()])
    seen = glance(pane, last_event_type="tool.invoked", last_event_ns=START_NS + 3, now_ns=START_NS + 4)
    assert seen == Glance(
        state="working",
        stalled=False,
        attention=False,
        reason="",
        doing="shell_exec",
        since_ns=START_NS,
        last_event_type="tool.invoked",
        last_event_ns=START_NS + 3,
        cost_micros_usd=4_120,
        malformed=0,
    )


def test_lines_that_nothing_understood_are_counted_but_not_those_that_only_came_late() -> None:
    pane = PaneState()
    for error in ("not JSON", f"{LATE}the agent had ended already", "Invalid value 'x' - at `$.type`"):
        pane = fold(pane, AgentUnparsed(raw="?", error=error), 1)
    assert (pane.malformed, pane.state) == (2, "idle")
