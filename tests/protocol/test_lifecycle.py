"""The checker: a log that keeps every rule passes, and each rule broken once is caught by its id."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runwire.protocol.envelope import Envelope, decode_envelope
from runwire.protocol.events.approval import ApprovalResolved, ApprovalTimedOut
from runwire.protocol.events.artifact import ArtifactUpdated
from runwire.protocol.events.cost import CostBudgetWarning
from runwire.protocol.events.edit import EditApplied
from runwire.protocol.events.experimental import AssistantThinkingComplete, AssistantThinkingDelta
from runwire.protocol.events.gap import GapEventsPruned, GapRunDisconnected
from runwire.protocol.events.policy import PolicyToolBlocked
from runwire.protocol.events.run import RunCancelled, RunFailed, RunResumedFromEvent
from runwire.protocol.events.tool import ToolCancelled, ToolFailed, ToolTimedOut
from runwire.protocol.events.turn import TurnFailed
from runwire.protocol.lifecycle import Breach, Checker, check
from runwire.protocol.payload import Opaque, Payload
from tests.protocol.logs import (
    FINISHED,
    QUEUED,
    STARTED,
    WHOLE_RUN,
    approved,
    asked,
    complete,
    delta,
    invoked,
    log,
    prune,
    stored,
    tool_completed,
    turn_completed,
    turn_started,
)
from tests.spec import spec

CANCELLED = RunCancelled(by="operator")
BLOCKED = PolicyToolBlocked(tool_call_id="call_a", tool_name="shell_exec", reason="no_network")
DENIED = ApprovalResolved(approval_id="appr_a", decision="denied", by="operator")
RESUMED = RunResumedFromEvent(from_run_id="run_old", from_sequence=7, prior_cost_micros_usd=0)
THOUGHT = AssistantThinkingDelta(turn_index=0, block_index=0, delta="hm")


def ended(event_type: str) -> Payload:
    match event_type:
        case "tool.failed":
            return ToolFailed(
                tool_call_id="call_a", tool_name="t", kind="shell", duration_ms=1, code="nonzero_exit", message="2"
            )
        case "tool.cancelled":
            return ToolCancelled(tool_call_id="call_a", tool_name="t", kind="shell", duration_ms=1, by="operator")
        case "tool.timed_out":
            return ToolTimedOut(
                tool_call_id="call_a", tool_name="t", kind="shell", duration_ms=1, limit="wall_clock", message="60 s"
            )
        case _:
            return tool_completed()


def rules(payloads: list[Payload | Opaque], *, live: bool = False) -> list[tuple[int, str]]:
    return [(breach.sequence, breach.rule) for breach in check(log(payloads), live=live)]


@spec("LIF-1", "LIF-2", "LIF-3", "LIF-5", "LIF-6")
@pytest.mark.parametrize(
    "payloads",
    [
        WHOLE_RUN,
        [QUEUED, CANCELLED],
        [RESUMED, QUEUED, STARTED, FINISHED],
        [turn_started(), TurnFailed(turn_index=0, code="c", message="m"), RunFailed(code="c", message="m", turns=1)],
        *[[STARTED, invoked(), ended(end), FINISHED] for end in ("tool.failed", "tool.cancelled", "tool.timed_out")],
        [STARTED, invoked("call_a"), invoked("call_b"), tool_completed("call_b"), tool_completed("call_a"), FINISHED],
        [STARTED, BLOCKED, FINISHED],
        [STARTED, asked(), ApprovalTimedOut(approval_id="appr_a", after_seconds=300), CANCELLED],
        [STARTED, asked(), DENIED, CANCELLED],
        [turn_started(), complete("never streamed"), turn_completed(), FINISHED],
        [
            turn_started(),
            THOUGHT,
            AssistantThinkingComplete(turn_index=0, block_index=0, text="hm"),
            turn_completed(),
            FINISHED,
        ],
        [turn_started(), delta("cut sh"), turn_completed(), FINISHED],
        [STARTED, Opaque.of("quantum.entangled", b"{}"), Opaque.of("external.note", b"{}"), FINISHED],
    ],
)
def test_a_log_that_keeps_the_rules_passes(payloads: list[Payload | Opaque]) -> None:
    assert rules(payloads) == []


@spec("LIF-6")
def test_a_turn_that_is_tried_again_streams_its_blocks_anew() -> None:
    retried = TurnFailed(turn_index=0, code="c", message="m", will_retry=True)
    again: list[Payload | Opaque] = [turn_started(), delta("Hel"), complete("Hel"), retried]
    assert rules([*again, turn_started(), delta("Bye"), complete("Bye"), turn_completed(), FINISHED]) == []


BROKEN: list[tuple[str, list[Payload | Opaque], list[tuple[int, str]]]] = [
    ("no terminal event", [QUEUED, STARTED], [(1, "LIF-1")]),
    ("an empty log", [], [(0, "LIF-1")]),
    ("two terminal events", [STARTED, FINISHED, CANCELLED], [(2, "LIF-1")]),
    ("a turn without end", [turn_started(), FINISHED], [(1, "LIF-2")]),
    ("a turn started twice", [turn_started(), turn_started(), turn_completed(), FINISHED], [(1, "LIF-2")]),
    ("a call without end", [invoked(), FINISHED], [(1, "LIF-3")]),
    ("a call invoked twice", [invoked(), invoked(), tool_completed(), FINISHED], [(1, "LIF-3")]),
    ("a blocked call is invoked", [BLOCKED, invoked(), tool_completed(), FINISHED], [(1, "LIF-4")]),
    ("an invoked call is blocked", [invoked(), BLOCKED, tool_completed(), FINISHED], [(1, "LIF-4")]),
    ("an approval without answer", [asked(), FINISHED], [(1, "LIF-5")]),
    ("an approval requested twice", [asked(), asked(), approved(), FINISHED], [(1, "LIF-5")]),
    (
        "text that is not its deltas",
        [turn_started(), delta("a"), complete("b"), turn_completed(), FINISHED],
        [(2, "LIF-6")],
    ),
    (
        "text past its end",
        [turn_started(), delta("a"), complete("a"), delta("b"), turn_completed(), FINISHED],
        [(3, "LIF-6")],
    ),
    (
        "thinking that is not its deltas",
        [THOUGHT, AssistantThinkingComplete(turn_index=0, block_index=0, text="ha"), FINISHED],
        [(1, "LIF-6")],
    ),
    ("a denial after what it caused", [asked(), CANCELLED, DENIED], [(2, "LIF-7")]),
    (
        "a denial that stops, after the stop",
        [
            asked(),
            RunFailed(code="c", message="m", turns=0),
            ApprovalResolved(approval_id="appr_a", decision="denied", by="o", stop=True),
        ],
        [(2, "LIF-7")],
    ),
    ("output after the end", [FINISHED, delta("late")], [(1, "LIF-8")]),
    ("an external event after the end", [FINISHED, Opaque.of("external.note", b"{}")], [(1, "LIF-8")]),
    ("resumed in the middle", [QUEUED, RESUMED, FINISHED], [(1, "LIF-9")]),
    ("a turn that ends without beginning", [turn_completed(), FINISHED], [(0, "LIF-10")]),
    ("a call that ends without beginning", [tool_completed(), FINISHED], [(0, "LIF-10")]),
    ("a call that ends twice", [invoked(), tool_completed(), tool_completed(), FINISHED], [(2, "LIF-10")]),
    ("an answer without question", [approved(), FINISHED], [(0, "LIF-10")]),
    ("data of the wrong shape", [Opaque.of("run.started", b'{"worker_id":3}'), FINISHED], [(0, "TYP-2")]),
]


@spec("LIF-1", "LIF-2", "LIF-3", "LIF-4", "LIF-5", "LIF-6", "LIF-7", "LIF-8", "LIF-9", "LIF-10", "TYP-2")
@pytest.mark.parametrize(
    ("payloads", "expected"), [broken[1:] for broken in BROKEN], ids=[broken[0] for broken in BROKEN]
)
def test_a_broken_rule_is_caught_where_it_is_broken(
    payloads: list[Payload | Opaque], expected: list[tuple[int, str]]
) -> None:
    assert rules(payloads) == expected


@spec("LIF-8")
def test_patches_artifacts_approvals_and_gaps_may_settle_after_the_end() -> None:
    late: list[Payload | Opaque] = [
        EditApplied(tool_call_id="call_a", patch_artifact_id="art_a", applied_at="t"),
        ArtifactUpdated(artifact_id="art_a", field="status", old_value="proposed", new_value="applied"),
        ApprovalTimedOut(approval_id="appr_a", after_seconds=300),
        GapRunDisconnected(since_sequence=3, since_at="t", reason="worker_lease_expired"),
    ]
    assert rules([asked(), FINISHED, *late]) == []
    budget = CostBudgetWarning(threshold_pct=80, cumulative_cost_micros_usd=8, task_budget_micros_usd=10)
    assert rules([FINISHED, budget]) == [(1, "LIF-8")]


@given(cut=st.integers(0, len(WHOLE_RUN)))
def test_a_live_log_may_stop_anywhere(cut: int) -> None:
    assert rules(WHOLE_RUN[:cut], live=True) == []


def test_a_live_log_that_has_ended_must_have_ended_everything() -> None:
    assert rules([turn_started(), invoked(), FINISHED], live=True) == [(2, "LIF-2"), (2, "LIF-3")]


def replaced(envelope: bytes, old: bytes, new: bytes) -> bytes:
    assert old in envelope
    return envelope.replace(old, new, 1)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda events: events[1:], [(0, "SEQ-1")]),
        (lambda events: events[:3] + events[5:], [(3, "SEQ-2")]),
        (lambda events: [*events[:2], events[1], *events[2:]], [(1, "ENV-5"), (1, "SEQ-2")]),
        (
            lambda events: [
                events[0],
                replaced(events[1], b"evt_" + b"0" * 25 + b"1", b"evt_" + b"0" * 26),
                *events[2:],
            ],
            [(1, "ENV-5")],
        ),
        (lambda events: [*events[:-1], replaced(events[-1], b"run_0", b"run_9")], [(11, "ENV-8")]),
        (lambda events: [*events[:-1], replaced(events[-1], b"task_0", b"task_9")], [(11, "ENV-8")]),
        (lambda events: [replaced(events[0], b"run.queued", b"Run.queued"), *events[1:]], [(0, "TYP-1")]),
        (lambda events: [replaced(events[0], b'"1"', b'"2"'), *events[1:]], [(0, "ENV-4"), (0, "SEQ-1")]),
    ],
)
@spec("SEQ-1", "SEQ-2", "ENV-5", "ENV-8", "TYP-1")
def test_a_log_that_was_tampered_with_is_caught(
    change: Callable[[list[bytes]], list[bytes]], expected: list[tuple[int, str]]
) -> None:
    assert [(breach.sequence, breach.rule) for breach in check(change(log(WHOLE_RUN)))] == expected


@spec("GAP-1", "SEQ-2")
@given(data=st.data())
def test_a_pruned_log_passes_wherever_it_was_pruned(data: st.DataObject) -> None:
    events = log(WHOLE_RUN)
    protected = {6, 7, 11}
    through = data.draw(st.integers(0, 10).filter(lambda last: last not in protected))
    gone = {sequence for sequence in range(through + 1) if sequence not in protected}
    pruned = prune(events, gone)
    assert list(check(pruned)) == []
    if len(gone) > 1:
        assert any(breach.rule in ("SEQ-1", "SEQ-2") for breach in check(events[max(gone) + 1 :]))


@spec("GAP-1")
def test_deltas_alone_may_be_pruned_and_what_is_left_still_passes() -> None:
    pruned = prune(log(WHOLE_RUN), {3, 4})
    assert list(check(pruned)) == []
    assert len(pruned) == len(WHOLE_RUN) - 1


def test_a_log_that_was_pruned_twice_passes() -> None:
    once = prune(log(WHOLE_RUN), {3, 4})
    marker = GapEventsPruned(first_pruned_sequence=0, last_pruned_sequence=9, pruned_at="t", reason="operator")
    kept = [event for event in once if decode_envelope(event).sequence in (4, 6, 7, 10, 11)]
    twice = [*kept[:3], stored(9, marker, event_id="evt_second"), *kept[3:]]
    assert list(check(twice)) == []


@spec("GAP-1")
def test_a_marker_must_stand_where_it_says() -> None:
    events = log(WHOLE_RUN)
    marker = GapEventsPruned(first_pruned_sequence=0, last_pruned_sequence=3, pruned_at="t", reason="operator")
    assert [breach.rule for breach in check([stored(4, marker), *events[5:]])] == ["SEQ-1", "GAP-1"]
    short = GapEventsPruned(first_pruned_sequence=2, last_pruned_sequence=4, pruned_at="t", reason="operator")
    assert list(check([stored(4, short), *events[5:]])) == [
        Breach(0, "SEQ-1", "sequences 0 to 1 are missing and no gap marker says why")
    ]


@spec("SEQ-2")
def test_breaches_come_in_the_order_of_the_log_also_behind_a_hole() -> None:
    events = log([QUEUED, STARTED, turn_started(), turn_started(), turn_completed(), turn_started(), FINISHED])
    assert [(breach.sequence, breach.rule) for breach in check(events[:1] + events[2:])] == [
        (1, "SEQ-2"),
        (3, "LIF-2"),
        (6, "LIF-2"),
    ]


def test_a_checker_may_begin_behind_a_cursor() -> None:
    checker = Checker(live=True, after=8)
    envelopes: list[Envelope] = [decode_envelope(event) for event in log(WHOLE_RUN)[9:]]
    assert [breach for envelope in envelopes for breach in checker.feed(envelope)] == []
    assert checker.close() == []
    assert checker.expected == 12
