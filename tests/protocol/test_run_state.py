"""The state of a run is a fold of its events."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.protocol.catalogue import CATALOGUE, TERMINAL
from runwire.protocol.events.approval import ApprovalTimedOut
from runwire.protocol.events.cost import CostBudgetExceeded, CostTick
from runwire.protocol.events.policy import PolicyModelRewrote
from runwire.protocol.events.run import RunCancelled, RunCheckpointSaved, RunFailed, RunResumedFromEvent
from runwire.protocol.events.tool import ToolFailed, ToolInvoked, ToolStarted
from runwire.protocol.events.turn import TurnFailed
from runwire.protocol.payload import Opaque, Payload
from runwire.protocol.state.run import (
    TERMINAL_STATUSES,
    TRANSITIONS,
    OpenTool,
    PendingApproval,
    RunState,
    Status,
    concerns,
    fold,
)
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
    fold_run,
    invoked,
    tool_completed,
    turn_completed,
    turn_started,
)
from tests.spec import spec

FAILED = RunFailed(code="model_unreachable", message="529", retriable=True, turns=2)
CANCELLED = RunCancelled(by="operator")

EVENTS: list[Payload | Opaque] = [
    QUEUED,
    STARTED,
    turn_started(),
    turn_completed(),
    delta("x"),
    complete("x"),
    invoked(),
    tool_completed(),
    asked("appr_a"),
    asked("appr_b"),
    approved("appr_a"),
    ApprovalTimedOut(approval_id="appr_b", after_seconds=300),
    FINISHED,
    FAILED,
    CANCELLED,
    Opaque.of("quantum.entangled", b"{}"),
]


def test_a_whole_run_adds_up() -> None:
    assert fold_run(WHOLE_RUN) == RunState(
        status="completed",
        kind="agent_loop",
        model="claude-sonnet-4-5",
        provider="anthropic",
        workspace_path="/srv/w",
        workspace_mode="clone",
        worker_id="worker-3",
        turns=1,
        input_tokens=4_201,
        output_tokens=312,
        cached_input_tokens=200,
        cost_micros_usd=4_120,
        queued_ns=START_NS,
        started_ns=START_NS + SECOND_NS,
        finished_ns=START_NS + 11 * SECOND_NS,
        duration_ms=9_000,
    )


@spec("STA-1")
@pytest.mark.parametrize(
    ("payloads", "status"),
    [
        ([], "queued"),
        ([QUEUED], "queued"),
        ([QUEUED, STARTED], "running"),
        ([turn_started()], "running"),
        ([invoked()], "running"),
        ([QUEUED, asked()], "awaiting_approval"),
        ([STARTED, asked()], "awaiting_approval"),
        ([STARTED, asked(), STARTED], "awaiting_approval"),
        ([STARTED, asked(), turn_started(), invoked()], "awaiting_approval"),
        ([STARTED, asked(), approved()], "running"),
        ([STARTED, asked(), approved("appr_other")], "awaiting_approval"),
        ([STARTED, asked("appr_a"), asked("appr_b"), approved("appr_a")], "awaiting_approval"),
        ([STARTED, asked("appr_a"), asked("appr_b"), approved("appr_b"), approved("appr_a")], "running"),
        ([STARTED, asked(), ApprovalTimedOut(approval_id="appr_a", after_seconds=300)], "running"),
        ([QUEUED, CANCELLED], "cancelled"),
        ([STARTED, asked(), CANCELLED], "cancelled"),
        ([STARTED, FAILED], "failed"),
        ([STARTED, FINISHED], "completed"),
    ],
)
def test_the_status_follows_the_events(payloads: list[Payload | Opaque], status: Status) -> None:
    assert fold_run(payloads).status == status


@spec("STA-2")
@given(before=st.lists(st.sampled_from(EVENTS), max_size=8), after=st.lists(st.sampled_from(EVENTS), max_size=8))
def test_nothing_changes_once_the_first_terminal_event_has_happened(
    before: list[Payload | Opaque], after: list[Payload | Opaque]
) -> None:
    first = next((payload for payload in before if payload.type in TERMINAL), FINISHED)
    ended = fold_run([*before, FINISHED])
    assert ended.finished
    assert ended.status == {FINISHED.type: "completed", FAILED.type: "failed", CANCELLED.type: "cancelled"}[first.type]
    assert fold_run(after, ended) is ended


@given(payloads=st.lists(st.sampled_from(EVENTS), max_size=20))
def test_every_step_is_a_transition_of_the_table(payloads: list[Payload | Opaque]) -> None:
    state = RunState()
    for payload in payloads:
        after = fold(state, payload, START_NS)
        allowed = {state.status, TRANSITIONS[state.status].get(payload.type)}
        assert after.status in allowed
        assert (after.status == "awaiting_approval") == (bool(after.pending_approvals) and not after.finished)
        state = after


@given(payloads=st.lists(st.sampled_from(EVENTS), max_size=12))
def test_a_state_survives_being_stored(payloads: list[Payload | Opaque]) -> None:
    state = fold_run(payloads)
    assert msgspec.json.decode(msgspec.json.encode(state), type=RunState) == state


def test_the_table_names_every_status_and_only_known_events() -> None:
    assert set(TRANSITIONS) == {"queued", "running", "awaiting_approval", *TERMINAL_STATUSES}
    for status, moves in TRANSITIONS.items():
        assert moves.keys() <= CATALOGUE.keys()
        assert bool(moves) != (status in TERMINAL_STATUSES)
        assert all(concerns(event_type) for event_type in moves)


def test_streamed_text_and_unknown_types_leave_the_very_same_state() -> None:
    state = fold_run([QUEUED, STARTED])
    for payload in (delta("x"), complete("x"), Opaque.of("quantum.entangled", b"{}"), Opaque.of("run.failed", b"{}")):
        assert fold(state, payload, START_NS) is state
    assert not concerns("assistant.text_delta")


@spec("EXT-3")
def test_an_external_event_changes_nothing_whatever_it_says() -> None:
    state = fold_run([QUEUED, STARTED])
    assert fold(state, Opaque.of("external.run.finished", b'{"final_status":"completed"}'), START_NS) is state


def test_what_is_pending_and_open_is_listed_until_it_ends() -> None:
    begun = ToolInvoked(tool_call_id="call_b", tool_name="grep", kind="search", turn_index=0, timeout_ms=5_000)
    state = fold_run([STARTED, invoked(), begun, asked()])
    assert state.open_tools == (
        OpenTool(tool_call_id="call_a", tool_name="shell_exec", since_ns=START_NS + SECOND_NS, deadline_ns=None),
        OpenTool(
            tool_call_id="call_b",
            tool_name="grep",
            since_ns=START_NS + 2 * SECOND_NS,
            deadline_ns=START_NS + 7 * SECOND_NS,
        ),
    )
    assert state.pending_approvals == (
        PendingApproval(
            approval_id="appr_a",
            tool_call_id="call_a",
            kind="shell_exec",
            summary="rm -rf node_modules",
            since_ns=START_NS + 3 * SECOND_NS,
        ),
    )
    failed = ToolFailed(tool_call_id="call_b", tool_name="grep", kind="search", duration_ms=1, code="c", message="m")
    state = fold_run([failed, tool_completed(), approved()], state)
    assert (state.open_tools, state.pending_approvals) == ((), ())


def test_a_tool_that_starts_keeps_its_timeout_or_gets_a_new_one() -> None:
    started = ToolStarted(tool_call_id="call_a", tool_name="shell_exec", kind="shell", timeout_ms=60_000)
    state = fold_run([STARTED, invoked(), started])
    assert [tool.deadline_ns for tool in state.open_tools] == [START_NS + 62 * SECOND_NS]
    again = ToolStarted(tool_call_id="call_a", tool_name="shell_exec", kind="shell")
    assert fold_run([again], state).open_tools[0].deadline_ns == START_NS + 62 * SECOND_NS
    assert fold_run([started]).open_tools == ()


def test_totals_come_from_turns_or_ticks_whichever_knows_more() -> None:
    tick = CostTick(
        cumulative_input_tokens=12_400,
        cumulative_output_tokens=10,
        cumulative_cost_micros_usd=14_320,
        task_budget_micros_usd=50_000,
        task_budget_remaining_micros_usd=35_680,
    )
    state = fold_run([turn_started(), turn_completed(), tick])
    assert (state.input_tokens, state.output_tokens, state.cost_micros_usd) == (12_400, 312, 14_320)
    assert (state.budget_micros_usd, state.budget_remaining_micros_usd) == (50_000, 35_680)
    exceeded = CostBudgetExceeded(cumulative_cost_micros_usd=50_240, task_budget_micros_usd=50_000, action="halted")
    # What it sums is the whole task, of which this run may be a part.
    assert fold_run([exceeded], state).cost_micros_usd == 14_320


def test_a_failed_turn_still_costs_what_it_cost() -> None:
    failed = TurnFailed(turn_index=0, code="c", message="m", will_retry=True, input_tokens=5, cost_micros_usd=7)
    state = fold_run([turn_started(), failed, turn_started(), turn_completed()])
    assert (state.turns, state.input_tokens, state.cost_micros_usd) == (2, 4_206, 4_127)


def test_a_resumed_run_remembers_where_it_came_from() -> None:
    resumed = RunResumedFromEvent(from_run_id="run_old", from_sequence=187, prior_cost_micros_usd=8_900)
    state = fold_run([resumed, QUEUED, RunCheckpointSaved(checkpoint_id="ckpt_a")])
    assert (state.prior_run_id, state.prior_cost_micros_usd, state.checkpoint_id) == ("run_old", 8_900, "ckpt_a")


def test_a_failure_keeps_its_code_and_reason_and_how_long_it_took() -> None:
    rewrote = PolicyModelRewrote(from_model="gpt-5", to_model="gpt-5-mini", reason="cost-cap")
    state = fold_run([QUEUED, rewrote, STARTED, FAILED])
    assert (state.error_code, state.error_message, state.retriable) == ("model_unreachable", "529", True)
    assert (state.turns, state.model, state.duration_ms) == (2, "gpt-5-mini", 1_000)
